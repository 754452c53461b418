"""The learned ranking: a weight for each feature, fitted by `tests/bench/train_ranker.py` and shipped as numbers. Pure.

A linear model: its score is the sum of features times weights. Nothing is learned at run time.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from math import exp
from pathlib import Path
from types import MappingProxyType

SCALE = 3.0
"""Difference of two scores at which one counts exp(1) times the other: half of all questions have their tenth hit 3
below the first."""
FIXED: Mapping[str, float] = MappingProxyType(
    {
        "phrase": 6.0,
        "written": 4.0,
        "name": 6.0,
        "graph": 0.5,
        "document_wanted": 1.0,
        "reason_wanted": 1.0,
        "decision_wanted": 1.0,
        "configuration_wanted": 1.5,
        "component": 1.0,
        "test_wanted": 1.0,
        "language_wanted": 1.0,
        "external": -3.0,
        "generated": -2.0,
        "translation": -2.0,
    }
)
"""Weights of what the generated questions do not ask for; set by hand, and not fitted."""


@cache
def weights() -> Mapping[str, float]:
    """Return the weight of each feature; read once."""
    text = Path(__file__).with_name("ranking_weights.toml").read_text(encoding="utf-8")
    fitted = {name: float(weight) for name, weight in tomllib.loads(text)["weights"].items()}
    return MappingProxyType({**fitted, **FIXED})


def score(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the sum of features times weights; any number."""
    return sum(weight * features.get(name, 0.0) for name, weight in weights.items())


def shares(scores: list[float]) -> list[float]:
    """Return scores as 0..1, 1 for the best, so that a difference in score is a ratio."""
    best = max(scores, default=0.0)
    return [exp((each - best) / SCALE) for each in scores]
