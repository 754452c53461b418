"""How often words stand in documentation of software at large, from `background.txt`. Pure but for one read.

A pack that lacks a word which documentation of its size would have is about something else. Words that all
documentation has about as often ("first", "need") say little about the subject, so they count less. The table is made
by `tests/bench/pack_background.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from atlas.packs.questions.retrieval.vocabulary import MARK, Vocabulary

FILE = Path(__file__).with_name("background.txt")
TOPICAL = 8
"""How many times its mean share a stem has in the documentation that has it most, for it to count wholly."""
ADDED = 1.0
"""Passages that are added to both counts: a few passages more or less are chance."""


class Usual(NamedTuple):
    """What is usual for a stem."""

    share: float
    """Of passages, mean over documentations."""
    topical: float
    """0..1: how much the stem belongs to some documentations rather than to all."""


@cache
def background() -> Mapping[str, Usual]:
    """Return what is usual by stem."""
    found: dict[str, Usual] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        step, topical, *stems = line.split()
        usual = Usual(2 ** (-int(step) / 2), int(topical) / TOPICAL)
        found.update(dict.fromkeys((MARK + stem for stem in stems), usual))
    return found


def is_heard(stem: str) -> bool:
    """Return whether documentation at large has a stem."""
    return stem in background()


def foreignness(stem: str, vocabulary: Vocabulary) -> float:
    """Return how much less often a pack has a stem than documentation at large, in units of what it lacks on average.

    0 if it has the stem as often, or more.
    """
    usual = background().get(stem)
    lacks = _lacks_on_average(vocabulary)
    return _foreignness(stem, usual, vocabulary) / lacks if usual is not None and lacks > 0 else 0.0


@lru_cache(maxsize=16)
def _lacks_on_average(vocabulary: Vocabulary) -> float:
    """Return the mean over the words of documentation at large: a small or narrow pack lacks more of them."""
    usual = background()
    total = math.fsum(each.share for each in usual.values())
    return math.fsum(each.share * _foreignness(stem, each, vocabulary) for stem, each in usual.items()) / total


def _foreignness(stem: str, usual: Usual, vocabulary: Vocabulary) -> float:
    ratio = (usual.share * vocabulary.passages + ADDED) / (vocabulary.frequencies.get(stem, 0) + ADDED)
    return usual.topical * max(math.log(ratio), 0.0)
