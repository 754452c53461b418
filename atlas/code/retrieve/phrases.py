"""The search channel of quoted texts and error messages: words that stand next to each other in the source.

A message in use holds values that its source does not (`undefined receiver "team-x" used in route`), so the constant
parts between the values are looked up as well. What reports an error comes from code: documents only repeat it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from atlas.code.question.parse_question import ErrorText, Query
from atlas.code.rank.likelihood import QUOTED
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import POOL, Ranking
from atlas.core.model import Filter, Label, Scored

PHRASE_SHARES = (1.0, 0.75, 0.5, 0.34)
MIN_PHRASE = 3
"""Minimum number of words of a phrase; fewer occur next to each other by chance."""
MIN_CONSTANTS = 4
"""The same for all constant parts of a message together, which one symbol must have."""
FEW_HITS = 5
"""A part of a phrase that so few symbols contain is as good as the whole."""
_CODE = (Label.CLASS, Label.FUNCTION, Label.METHOD, Label.VALUE, Label.MODULE)


async def by_phrase(reader: Reader, query: Query, where: Filter) -> Ranking:
    """Find quoted texts and error messages: the whole text, or else its longest parts that the index contains.

    Tests quote messages: the code that a part of it comes from goes before the test that repeats it, and each message
    of a line of a log is looked up. Hits score by the share of the phrase that they contain, unless there are few.
    """
    sides = (replace(where, include_tests=False), where) if where.include_tests else (where,)
    if query.verbatim and not query.phrases and (found := await _as_written(reader, query.verbatim, sides)):
        return _ranking([Scored(hit.uid, 1.0) for hit in found])
    if query.errors and (reported := await _reporting(reader, query.errors, sides[0])):
        return _ranking(reported)
    for side in sides if query.phrases else ():
        for share in PHRASE_SHARES:
            found = await _of_share(reader, query.phrases, share, side)
            if found:
                return _ranking(found)
    return Ranking("phrase")


async def _as_written(reader: Reader, text: str, sides: Sequence[Filter]) -> list[Scored]:
    """Return what has a text as it is written, on the first of the sides that has any."""
    # most questions stand nowhere: one search of the widest side, which the question's store keeps, finds that out
    if " " in text and not await reader.store.search_text([text], sides[-1], FEW_HITS):
        return []
    for side in sides:
        if found := await reader.store.search_text([text], side, FEW_HITS):
            return found
    return []


def _ranking(hits: Sequence[Scored]) -> Ranking:
    return Ranking("phrase", tuple(hits), reasons=tuple((hit.uid, QUOTED) for hit in hits))


async def _of_share(reader: Reader, phrases: Sequence[str], share: float, side: Filter) -> list[Scored]:
    parts = _parts(phrases, share)
    found = await reader.store.search_text(parts, side, POOL) if parts else []
    return [Scored(hit.uid, 1.0 if len(found) <= FEW_HITS else share) for hit in found]


def _parts(phrases: Sequence[str], share: float) -> tuple[str, ...]:
    """Return the parts of phrases of a share of their words, none of them below `MIN_PHRASE` words."""
    parts: list[str] = []
    for phrase in phrases:
        words = phrase.split(" ")
        size = round(len(words) * share)
        if share == 1 or size >= MIN_PHRASE:
            parts += (" ".join(words[at : at + size]) for at in range(len(words) - size + 1))
    return tuple(dict.fromkeys(parts))


async def _reporting(reader: Reader, errors: Sequence[ErrorText], where: Filter) -> list[Scored]:
    """Return the code that has any of the messages, best first."""
    labels = tuple(label for label in _CODE if not where.labels or label in where.labels)
    if not labels:
        return []
    best: dict[str, float] = {}
    for error in errors:
        for hit in await _of_error(reader, error, replace(where, labels=labels)):
            best[hit.uid] = max(best.get(hit.uid, 0.0), hit.score)
    return sorted((Scored(uid, score) for uid, score in best.items()), key=lambda hit: (-hit.score, hit.uid))


async def _of_error(reader: Reader, error: ErrorText, code: Filter) -> list[Scored]:
    """Return the code that has a message as a whole, or else its constant parts, or else half of its words."""
    if found := await _of_share(reader, [error.words], 1.0, code):
        return found
    parts = [await reader.store.search_text([part], code, POOL) for part in error.constants]
    if len(parts) > 1 and sum(len(part.split(" ")) for part in error.constants) >= MIN_CONSTANTS:
        others = [{hit.uid for hit in hits} for hits in parts[1:]]
        if in_all := [hit.uid for hit in parts[0] if all(hit.uid in uids for uids in others)]:
            return [Scored(uid, 1.0) for uid in in_all]
    for part, hits in sorted(zip(error.constants, parts, strict=True), key=lambda each: -len(each[0])):
        if len(part.split(" ")) >= MIN_PHRASE and 0 < len(hits) <= FEW_HITS:
            return [Scored(hit.uid, 1.0) for hit in hits]
    for share in PHRASE_SHARES[1:3]:
        if found := await _of_share(reader, [error.words], share, code):
            return found
    return []
