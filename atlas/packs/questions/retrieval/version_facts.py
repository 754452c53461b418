"""Facts about versions: all of a version that is asked for, and those of what a section is part of.

"What is new in 2.4?" has no section where notes of versions stand with what they are about. "Since when are retries
available?" is answered by the note of the chapter where the section has none of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from atlas.core.model import Direction, EdgeType, Label, NodeRow
from atlas.packs.questions.question import Question
from atlas.packs.questions.retrieval.named_facts import KINDS
from atlas.packs.questions.texts import properties_of
from atlas.packs.questions.values import PackReader
from atlas.packs.questions.versions import VERSION_FACTS, asks_for_changes, changed_versions, spellings, versions_in

MAX_LEVELS = 4
"""Sections above one that are asked."""
FACTS_EACH = 30
MAX_FACTS = 60
SECONDS = 2.0
_OF_VERSION = "MATCH (f:Fact) WHERE f.kind IN $kinds AND f.value IN $values RETURN f.uid ORDER BY f.uid"


@dataclass(frozen=True, slots=True)
class InheritedFact:
    """A fact of a section that contains another one."""

    row: NodeRow
    heading: str
    """Of the section that has the fact."""


def wanted_kinds(question: Question) -> frozenset[str]:
    """Return the kinds of facts about versions that a question asks for; all if it names none."""
    stems = question.stems
    return frozenset(kind for kind in VERSION_FACTS if KINDS[kind].intersection(stems)) or VERSION_FACTS


async def facts_of_versions(reader: PackReader, question: Question) -> dict[str, str]:
    """Return the uids of the facts of the versions of which the changes are asked for, each with its section's."""
    values = [text for version in changed_versions(question.text, reader.name) for text in spellings(version)]
    if not values:
        return {}
    given = {"kinds": sorted(wanted_kinds(question)), "values": values}
    rows = (await reader.store.cypher(_OF_VERSION, given, MAX_FACTS, SECONDS, reader.project)).rows
    return {str(uid): str(uid).rpartition("/fact:")[0] for (uid,) in rows}


async def facts_of_parents(reader: PackReader, question: Question, section: str) -> list[InheritedFact]:
    """Return what versions did to the nearest section above one that says so, if the question asks for a version.

    For a member it is its owner that says so. Nothing if section or symbol say it themselves, or if the question names
    versions.
    """
    if not asks_for_changes(question.text) or versions_in(question.text, reader.name):
        return []
    kinds = wanted_kinds(question)
    named = {name.rpartition(".")[2] for name in question.names}
    owners = {name.rpartition(".")[0].rpartition(".")[2] for name in question.names} - {""}
    at, heading = section, ""
    for _ in range(MAX_LEVELS):
        edges = await reader.store.edges([at], Direction.OUT, (EdgeType.HAS_FACT,), FACTS_EACH)
        found: dict[str, list[NodeRow]] = {}
        for edge in edges:
            if edge.node.row.kind in kinds:
                subject = str(properties_of(edge.node.row).get("subject") or "")
                found.setdefault(subject.rpartition(".")[2], []).append(edge.node.row)
        if not named.isdisjoint(found):
            return []
        if owner := next((name for name in found if name in owners), ""):
            return [InheritedFact(row, owner) for row in found[owner]]
        if "" in found:
            return [InheritedFact(row, heading) for row in found[""]] if at != section and not owners else []
        above = await reader.store.edges([at], Direction.IN, (EdgeType.HAS_SECTION,), 1)
        if not above or above[0].node.row.label != Label.SECTION:
            return []
        at, heading = above[0].node.row.uid, above[0].node.row.name
    return []
