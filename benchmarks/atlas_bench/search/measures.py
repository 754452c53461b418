"""Measures of a ranking against the gold of a question, and their means with bootstrap intervals. Pure.

NDCG with binary gains as in Jarvelin and Kekalainen (2002): the gain of a file at rank r is 1/log2(r + 1), divided by
that of the ideal ranking. Intervals: percentile bootstrap over questions (Efron and Tibshirani 1993).
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atlas_bench.search.questions import SearchQuestion

DEPTH = 10
RESAMPLES = 1000
MEASURES = ("ndcg10", "mrr10", "r10", "acc1", "acc5", "acc10")
"""`ndcg10`, `acc5` and `acc10` are those of files; `mrr10`, `r10` and `acc1` those of definitions, where there are."""

Place = tuple[str, int]
"""A path and the line of a name."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One hit of a ranking: its place, and those of the declarations that were merged into it."""

    path: str
    line: int
    also: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean, and the interval that contains 95 % of the resampled means."""

    value: float
    low: float
    high: float


def score(question: SearchQuestion, hits: Sequence[Hit]) -> dict[str, float]:
    """Return the measures of one ranking, each 0..1."""
    files = list(dict.fromkeys(hit.path for hit in hits if hit.path))
    gained = [path in question.files for path in files]
    places = question.places
    if places:
        found = _matches(hits, places)
    else:
        found = [path if right else None for path, right in zip(files, gained, strict=True)]
    first = next((rank for rank, match in enumerate(found[:DEPTH], 1) if match is not None), 0)
    return {
        "ndcg10": _ndcg(gained[:DEPTH], len(question.files)),
        "mrr10": 1 / first if first else 0.0,
        "r10": len({match for match in found[:DEPTH] if match is not None}) / len(places or question.files),
        "acc1": float(first == 1),
        "acc5": float(any(gained[:5])),
        "acc10": float(any(gained[:DEPTH])),
    }


def _matches(hits: Sequence[Hit], places: frozenset[Place]) -> list[Place | None]:
    """Return the place of the gold that each hit names, or None."""
    return [next((each for each in ((hit.path, hit.line), *hit.also) if each in places), None) for hit in hits]


def _ndcg(gained: Sequence[bool], relevant: int) -> float:
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(relevant, DEPTH) + 1))
    return sum(1 / math.log2(rank + 1) for rank, right in enumerate(gained, 1) if right) / ideal if ideal else 0.0


def means(scores: Mapping[str, Sequence[float]], seed: int) -> dict[str, Mean]:
    """Return mean and interval of each list of scores; lists of equal length share their resamples."""
    drawn: dict[int, list[list[int]]] = {}
    found: dict[str, Mean] = {}
    for name, values in scores.items():
        if not values:
            continue
        if len(values) not in drawn:
            chooser, indices = random.Random(seed), range(len(values))
            drawn[len(values)] = [chooser.choices(indices, k=len(values)) for _ in range(RESAMPLES)]
        resampled = sorted(sum(map(values.__getitem__, chosen)) / len(values) for chosen in drawn[len(values)])
        low, high = resampled[int(0.025 * RESAMPLES)], resampled[int(0.975 * RESAMPLES) - 1]
        found[name] = Mean(statistics.fmean(values), low, high)
    return found


def percentile(values: Sequence[float], share: int) -> float:
    """Return a percentile (1..99) of some values; 0 of none."""
    if len(values) < 2:
        return values[0] if values else 0.0
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1]
