"""Fit an answer into a token budget: cut a list whose rendering can be measured at any length. Pure."""

from __future__ import annotations

from collections.abc import Callable

_GUESSES = 3
"""Interpolation steps before bisection. Items of a list are mostly similar in length, so interpolation is faster."""


def longest(measure: Callable[[int], int], upper: int, budget: int, lower: int = 0, at_lower: int = 0) -> int:
    """Return the largest n in lower..upper with `measure(n) <= budget`, or `lower` if there is none.

    `measure` must not decrease. The search tries `upper` first because most answers fit, then interpolates, then
    bisects: O(log upper) measurements. `at_lower` is an estimate of `measure(lower)`.
    """
    if upper <= lower or (at_upper := measure(upper)) <= budget:
        return max(upper, lower)
    low, high, tries = lower, upper, 0
    while high - low > 1:
        share = (budget - at_lower) / (at_upper - at_lower) if tries < _GUESSES and at_upper > at_lower else 0.5
        middle = min(max(low + int((high - low) * share), low + 1), high - 1)
        tokens, tries = measure(middle), tries + 1
        if tokens <= budget:
            low, at_lower = middle, tokens
        else:
            high, at_upper = middle, tokens
    return low
