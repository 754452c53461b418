"""Fit an answer into a token budget: cut a list whose rendering can be measured at any length. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from atlas.answers.answer import Answer, structure_text
from atlas.core.contracts import TokenCounter

INLINE_TOKENS = 8_000
"""Budgets up to this are fitted within milliseconds; larger ones in a thread, to keep the event loop responsive."""

AnswerT = TypeVar("AnswerT", bound=Answer)

_GUESSES = 3
"""Interpolation steps before bisection. Items of a list are mostly similar in length, so interpolation is faster."""


def longest(measure: Callable[[int], int], upper: int, budget: int, lower: int = 0) -> int:
    """Return the largest n in lower..upper with `measure(n) <= budget`, or `lower` if there is none.

    `measure` must not decrease. The search tries `upper` first because most answers fit, then interpolates, then
    bisects: O(log upper) measurements.
    """
    if upper <= lower or (at_upper := measure(upper)) <= budget:
        return max(upper, lower)
    low, at_low, high, tries = lower, 0, upper, 0
    while high - low > 1:
        share = (budget - at_low) / (at_upper - at_low) if tries < _GUESSES and at_upper > at_low else 0.5
        middle = min(max(low + int((high - low) * share), low + 1), high - 1)
        tokens, tries = measure(middle), tries + 1
        if tokens <= budget:
            low, at_low = middle, tokens
        else:
            high, at_upper = middle, tokens
    return low


def tokens_of(counter: TokenCounter, answer: Answer) -> int:
    """Return the token cost of an answer: its text or its structured content, whichever is larger."""
    return max(counter.count(answer.render()), counter.count(structure_text(answer)))


def tokens_until(counter: TokenCounter, answer: Answer, budget: int) -> int:
    """Return `tokens_of`, or any number above the budget if the answer exceeds it.

    The structured content is usually the larger form, so it is counted first.
    """
    tokens = counter.count(structure_text(answer))
    return tokens if tokens > budget else max(tokens, counter.count(answer.render()))


def fit_counted(
    counter: TokenCounter, budget: int, build: Callable[[int], AnswerT], upper: int, lower: int = 0
) -> AnswerT:
    """Return `build(n)` for the largest n in lower..upper that fits the budget, with its exact token count.

    If even `build(lower)` is too long, return the floor: one evidence line and one line with the required number of
    tokens, which may itself exceed the budget (about 60 tokens).
    """
    fitting = fit_counted_or_none(counter, budget, build, upper, lower)
    if fitting is not None:
        return fitting
    answer = build(lower)
    answer = floor(answer, tokens_of(counter, answer))
    return replace(answer, evidence=replace(answer.evidence, tokens=tokens_of(counter, answer)))


def fit_counted_or_none(
    counter: TokenCounter, budget: int, build: Callable[[int], AnswerT], upper: int, lower: int = 0
) -> AnswerT | None:
    """Return the result of `fit_counted`, or None instead of the floor, which costs two more measurements."""
    tried: dict[int, tuple[AnswerT, int]] = {}

    def measure(size: int) -> int:
        answer = build(size)
        tried[size] = (answer, tokens_until(counter, answer, budget))
        return tried[size][1]

    size = longest(measure, upper, budget, lower)
    if size not in tried:
        measure(size)
    answer, tokens = tried[size]
    return None if tokens > budget else replace(answer, evidence=replace(answer.evidence, tokens=tokens))


def floor(answer: AnswerT, needed: int) -> AnswerT:
    """Return an answer reduced to its floor: the evidence and the number of tokens required."""
    line = f"token_budget {answer.evidence.token_budget} is too small: this answer needs at least {needed} tokens"
    evidence = replace(answer.evidence, notes=(), stale=(), withheld=(line,), cursor="", below_floor=True)
    return replace(answer.emptied(), evidence=evidence)
