"""Which hits a page of a search can show: groups of one file, and how many of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from atlas.code.find import Mode, SearchResult
from atlas.code.question.parse_question import asks_for_page, is_bare_name
from atlas.code.rank.grouping import Group, group_by_file, group_by_symbol
from atlas.code.rank.judgement import MISSING
from atlas.code.rank.likelihood import NAME, SURE_RANKS, certainty_of, likelihoods
from atlas.code.rank.rank import Candidate
from atlas.code.rank.relevance import RELEVANT
from atlas.code.reader import RankingOptions
from atlas.core.model import Label

FIRST_PAGE = 15
"""Hits of a further page without a limit, and the most of a first page whose hits are not valued."""
MAX_VALUED = 5
"""Hits of a first page that nothing limits, valued against each other. Further hits decide 10 of 178 questions and cost
half of the tokens; the cursor has them."""
MAX_BEHAVIOUR = 10
"""Hits of a first page of a question for behaviour, up to the last function; those behind the first `MAX_VALUED` have
their best lines alone: the function that decides is the sixth to the tenth in an eighth of such questions
(docs/measurements/search.md)."""
WITH_MORE = 3
"""Of these, the first ones name further definitions of their files."""
BESIDE_VALUES = 2
"""Hits of a first page beside values that may be meant."""
BESIDE_CARD = 3
"""Hits of a first page beside the card of a subject."""
FAR_BEHIND = 0.3
"""A first page that is not valued ends at this share of the first score."""
FAR_BEHIND_NAME = 0.5
"""The same where the question is only a name: the symbols of that name score alike, words of it score less."""
BESIDE_NAME = 3
"""Hits of a first page where exactly one symbol has the name that was asked for."""
_PAGES = frozenset((Label.DOC_SECTION, Label.DOC_FILE, Label.ADR))
SECTIONS = 7
"""Sections that are listed where a page is asked for: titles are short, and say which one is meant."""
NEAREST = 3
"""Hits of a first page of an index that has nothing about the question, or not the text that it quotes."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How many hits a page lists at most, and how many of them whatever they are worth."""

    most: int
    required: int


def groups_of(found: SearchResult, mode: Mode, options: RankingOptions, *, is_brief: bool = False) -> list[Group]:
    """Return the hits, those of one file together; those of a single channel, and of one line each, stay single."""
    if mode != Mode.HYBRID or is_brief or "grouping" in options.off:
        return [Group(each) for each in found.ranked]
    if found.windows:
        return group_by_symbol(found.ranked)
    if asks_for_page(found.query.text):
        pages = [each for each in found.ranked if each.node.row.label in _PAGES]
        # of one long page, the section is the answer
        return by_likelihood(group_by_symbol(pages or found.ranked), found)
    return by_likelihood(group_by_file(found.ranked, found.query), found)


def by_likelihood(groups: Sequence[Group], found: SearchResult) -> list[Group]:
    """Return groups with those behind the first ones by likelihood, and the further hits of each file in that order.

    How far an answer goes down the list depends on it, and score and rank alone order weak hits less well.
    """
    chances = likelihoods(found.ranked, found.query)
    likely = {each.node.row.uid: own for each, own in zip(found.ranked, chances, strict=True)}

    def is_less_likely(each: Candidate) -> float:
        return -likely[each.node.row.uid]

    ordered = [
        replace(each, same_file=tuple(sorted(each.same_file, key=is_less_likely))) if len(each.same_file) > 1 else each
        for each in groups
    ]
    return [*ordered[:SURE_RANKS], *sorted(ordered[SURE_RANKS:], key=lambda group: is_less_likely(group.first))]


def page_extent(found: SearchResult, groups: Sequence[Group], mode: Mode, *, limit: int, is_brief: bool) -> Extent:
    """Return the extent of a page; `limit` is 0 for a first page that nothing limits.

    The hits of a sentence, title or quoted text are valued. Those of a name, of a single channel and in one line each
    end where scores fall far behind.
    """
    if limit:
        return Extent(limit, limit)
    if not groups:
        return Extent(0, 0)
    is_name = certainty_of(groups[0].first, found.query) is NAME
    most = BESIDE_VALUES if found.values else BESIDE_CARD if found.cards else MAX_VALUED
    if found.nowhere and not found.lines and not is_name:
        return Extent(NEAREST, 1)
    if found.relevance == MISSING.relevance:
        return Extent(min(NEAREST, len(groups)), 1)
    if found.windows:
        read = [
            number for number, each in enumerate(groups[:MAX_BEHAVIOUR], 1) if each.first.node.row.uid in found.windows
        ]
        most = min(MAX_VALUED, len(groups))
        most = max((most, *read[-1:])) if found.relevance >= RELEVANT else most
        return Extent(most, most)
    if mode == Mode.HYBRID and asks_for_page(found.query.text):
        return Extent(min(SECTIONS, len(groups)), min(SECTIONS, len(groups)))
    if mode == Mode.HYBRID and not is_name and not is_brief and found.relevance >= RELEVANT:
        return Extent(most, 1)
    first = min(first_page(found, groups), most) if mode == Mode.HYBRID else first_page(found, groups)
    return Extent(first, first)


def first_page(found: SearchResult, groups: Sequence[Group]) -> int:
    """Return how many hits answer the question: those near the first, or the symbol of the name and what is like it."""
    best = groups[0].first.score
    is_name = found.query.focus == 1.0
    share = FAR_BEHIND_NAME if is_name else FAR_BEHIND
    near = sum(each.first.score >= best * share for each in groups[:FIRST_PAGE])
    named = [each for each in found.ranked if {"name", "exact name"} & set(each.reasons)]
    is_one = is_name and len(named) == 1 and named[0] is found.ranked[0]
    most = BESIDE_NAME if is_one else NEAREST if found.relevance < RELEVANT else FIRST_PAGE
    return max(1, min(near, most))


def shows_bodies(found: SearchResult) -> bool:
    """Return whether bodies help: a name alone asks where its symbol is."""
    return not is_bare_name(found.query)
