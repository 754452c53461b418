"""Fit an answer into a token budget. Pure functions: the caller measures the costs.

`longest` cuts a list whose rendering can be measured at any length; `allot` divides a budget among several sections.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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


def allot(costs: Mapping[str, Sequence[int]], shares: Mapping[str, float], budget: int) -> dict[str, int]:
    """Return how many leading items of each section to keep so that their costs sum to at most `budget`.

    Every section first takes the items that fit its share (0.0 to 1.0) of the budget; a section that is still empty
    then takes one item, if it fits. The remainder goes to the sections in the order of `shares`; sections without a
    share come last.
    """
    kept = dict.fromkeys(costs, 0)
    left = budget
    names = (*shares, *(name for name in costs if name not in shares))
    for name in names:
        left -= _take(kept, costs, name, min(left, int(budget * shares.get(name, 0.0))))
    for name in names:
        if not kept.get(name) and costs.get(name):
            left -= _take(kept, costs, name, min(left, costs[name][0]))
    for name in names:
        left -= _take(kept, costs, name, left)
    return kept


def _take(kept: dict[str, int], costs: Mapping[str, Sequence[int]], name: str, allowance: int) -> int:
    """Keep further items of a section while they fit the allowance; return their total cost."""
    spent = 0
    for cost in costs.get(name, ())[kept.get(name, 0) :]:
        if spent + cost > allowance:
            break
        spent += cost
        kept[name] += 1
    return spent
