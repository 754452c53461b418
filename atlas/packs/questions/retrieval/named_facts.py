"""Facts that a question asks for by name and kind: "What is the default of SESSION_COOKIE_AGE?"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atlas.core.model import Filter, Label, Match, NodeRow
from atlas.packs.questions.question import Question
from atlas.packs.questions.texts import Passage, read_passages
from atlas.packs.questions.values import PackReader
from atlas.packs.questions.versions import (
    VERSION_FACTS,
    Version,
    asks_for_changes,
    heading_version,
    stated_in,
    states_other,
    version_of,
)
from atlas.parsing import stem_words

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


def is_wanted(
    question: Question, row: NodeRow, said: Mapping[str, object], heading: str, versions: Sequence[Version]
) -> bool:
    """Return whether a fact may open the answer: what a version did only if that is asked for, or its symbol is named.

    `versions` are those of the question; facts of other ones are not wanted. `heading` is that of the fact's section.
    """
    of_note = stated_in(row.docstring)
    if row.kind not in VERSION_FACTS and not of_note:
        return True
    is_named = _names(question, str(said.get("subject") or ""))
    if not versions:
        return is_named or asks_for_changes(question.text)
    stated = of_note or version_of(str(said.get("value") or "")) or heading_version(heading)
    return not states_other(versions, stated) if stated else is_named


def _names(question: Question, subject: str) -> bool:
    """Return whether a question names a symbol by its last part."""
    last = subject.rpartition(".")[2].casefold()
    return bool(last) and any(name.rpartition(".")[2].casefold() == last for name in question.names)
