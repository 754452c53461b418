"""Fit an answer into a token budget. Pure: costs come in, what may stay goes out; measuring is the caller's.

`longest` is for a list whose rendering can be measured at any length, `allot` for sections that share one budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence


def longest(measure: Callable[[int], int], upper: int, budget: int, lower: int = 0) -> int:
    """Return the largest n in lower..upper with `measure(n) <= budget`, or `lower` if none; `measure` must not fall.

    Tries `upper` first (most answers fit), then bisects: O(log upper) measurements.
    """
    if upper <= lower or measure(upper) <= budget:
        return max(upper, lower)
    low, high = lower, upper
    while high - low > 1:
        middle = (low + high) // 2
        if measure(middle) <= budget:
            low = middle
        else:
            high = middle
    return low


def allot(costs: Mapping[str, Sequence[int]], shares: Mapping[str, float], budget: int) -> dict[str, int]:
    """Return how many items of each section to keep, in order, so that the kept costs sum to at most `budget`.

    First every section takes items worth its share (of 1.0) of the budget, then one item if it has none yet, then
    what is left goes to the sections in the order of `shares`; sections without a share come last.
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
    """Keep further items of a section while the allowance lasts; return what they cost."""
    spent = 0
    for cost in costs.get(name, ())[kept.get(name, 0) :]:
        if spent + cost > allowance:
            break
        spent += cost
        kept[name] += 1
    return spent
