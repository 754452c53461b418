"""Values of the retrieval of notes: which notes are searched, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from atlas.code.notes.facts import read_properties
from atlas.core.model import PROSE_LABELS, Filter, Label, Node

NOTE_LABELS = (Label.CLAIM, Label.OBSERVATION, Label.ENTITY, Label.DECISION)
HIDDEN_STATUSES = frozenset({"retracted", "superseded"})
"""Notes of these statuses are found only if the filter names the status."""


@dataclass(frozen=True, slots=True)
class NoteFilter:
    """Restrictions of a search of notes; empty values do not restrict."""

    labels: tuple[str, ...] = NOTE_LABELS
    min_confidence: float = 0.0
    statuses: tuple[str, ...] = ()
    """Allowed statuses; if empty, all but retracted and superseded."""
    since: str = ""
    """RFC 3339 in UTC: only notes that were created or updated at this time or later."""
    entity: str = ""
    """The uid of an entity: only its observations."""
    client: str = ""
    """Only notes of clients whose name starts with this text."""

    @property
    def is_narrow(self) -> bool:
        """Whether it rejects notes that the store finds."""
        return bool(self.min_confidence > 0 or self.statuses or self.since or self.client)

    def keeps(self, node: Node, properties: Mapping[str, Any]) -> bool:
        """Return whether a note of the right label passes; `properties` are those of the node."""
        status = properties.get("status", "accepted")
        times = (properties.get("created", ""), properties.get("updated", ""))
        return (
            node.row.label in self.labels
            and (status in self.statuses if self.statuses else status not in HIDDEN_STATUSES)
            and properties.get("confidence", 1.0) >= self.min_confidence
            and (not self.since or max(times) >= self.since)
            and properties.get("client", "").startswith(self.client)
        )

    def of_store(self, project: str, path: str = "") -> Filter:
        """Return the part of the filter that the store applies to notes. `path`: the file of the entity.

        Nothing but notes has stems and vectors of prose, so that all their labels together need no check.
        """
        labels = (Label.OBSERVATION,) if self.entity else self.labels
        return Filter(project=project, path=path, labels=() if set(labels) >= PROSE_LABELS else tuple(labels))


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A note that was found."""

    node: Node
    score: float
    """0 and up; comparable within one answer only, unless the function that returns it says otherwise."""
    why: tuple[str, ...] = ()
    """`name` (its entity is named) or `related` (to one that is), `words`, `meaning 0.71`, `conversation`."""

    meaning: float = 0.0
    """Its cosine with the question, 0 if unknown."""

    @property
    def properties(self) -> dict[str, Any]:
        """The properties of the note: status, confidence, source, created and so on, as far as they are known."""
        return properties_of(self.node)


def properties_of(node: Node) -> dict[str, Any]:
    """Return the properties of a node as a mapping."""
    return read_properties(node.row.properties)
