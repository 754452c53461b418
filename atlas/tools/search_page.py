"""Which hits a page of a search shows: groups of one file, as many as are near the first. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from atlas.search import RankingOptions
from atlas.search.find import Mode, SearchResult
from atlas.search.grouping import Group, group_by_file
from atlas.search.relevance import RELEVANT

FIRST_PAGE = 15
"""Hits of a first page without a limit."""
FAR_BEHIND = 0.3
"""A first page ends at this share of the first score."""
FAR_BEHIND_NAME = 0.5
"""The same where the question is only a name: the symbols of that name score alike, words of it score less."""
BESIDE_NAME = 3
"""Hits of a first page where exactly one symbol has the name that was asked for."""
NEAREST = 3
"""Hits of a first page of an index that has nothing about the question."""


def groups_of(found: SearchResult, mode: Mode, options: RankingOptions, *, is_brief: bool = False) -> list[Group]:
    """Return the hits, those of one file together; those of a single channel, and of one line each, stay single."""
    if mode != Mode.HYBRID or is_brief or "grouping" in options.off:
        return [Group(each) for each in found.ranked]
    return group_by_file(found.ranked, found.query)


def first_page(found: SearchResult, groups: Sequence[Group]) -> int:
    """Return how many hits answer the question: those near the first, or the symbol of the name and what is like it."""
    if not groups:
        return 0
    best = groups[0].first.score
    is_name = found.query.focus == 1.0
    share = FAR_BEHIND_NAME if is_name else FAR_BEHIND
    near = sum(each.first.score >= best * share for each in groups[:FIRST_PAGE])
    named = [each for each in found.ranked if {"name", "exact name"} & set(each.reasons)]
    is_one = is_name and len(named) == 1 and named[0] is found.ranked[0]
    most = BESIDE_NAME if is_one else NEAREST if found.relevance < RELEVANT else FIRST_PAGE
    return max(1, min(near, most))


def weaker(found: SearchResult, groups: Sequence[Group], shown: int) -> int:
    """Return the number of candidates behind the first `shown` groups."""
    return found.total - sum(1 + len(each.beside) for each in groups[:shown])
