"""Facts that a question asks for by name and kind: "What is the default of SESSION_COOKIE_AGE?"."""

from __future__ import annotations

from atlas.model import Filter, Label, Match
from atlas.parsing import stem_words
from atlas.search.packs.question import Question
from atlas.search.packs.texts import Passage, read_passages
from atlas.search.packs.values import PackReader

MAX_NAMES = 3
MAX_FACTS = 20
PASSAGES_EACH = 3
KINDS = {
    "default": frozenset(stem_words("default defaults initially").split()),
    "deprecated": frozenset(stem_words("deprecated deprecation obsolete").split()),
    "removed": frozenset(stem_words("removed removal gone dropped").split()),
    "added": frozenset(stem_words("since added new introduced available").split()),
    "changed": frozenset(stem_words("changed change").split()),
    "limit": frozenset(stem_words("limit maximum minimum most least largest smallest allowed").split()),
    "error": frozenset(stem_words("error errors raise raises exception exceptions fails").split()),
}
"""By kind of fact: stems of a question that ask for it."""


async def sections_with_facts(reader: PackReader, question: Question) -> tuple[frozenset[str], list[Passage]]:
    """Return the uids of the sections with the facts that are asked for, and their first passages."""
    kinds = {kind for kind, stems in KINDS.items() if stems.intersection(question.stems)}
    if not kinds or not question.names:
        return frozenset(), []
    where = Filter(project=reader.project, labels=(Label.FACT,))
    found: dict[str, None] = {}
    for name in question.names[:MAX_NAMES]:
        for node in await reader.store.find(f"{name} ", Match.PREFIX, where, MAX_FACTS):
            if node.row.kind in kinds:
                found[node.row.uid.rpartition("/fact:")[0]] = None
    uids = [f"{uid}/{number}" for uid in found for number in range(PASSAGES_EACH)]
    return frozenset(found), list((await read_passages(reader, uids)).values())
