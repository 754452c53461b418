"""Read the card of a subject: what the graph has about it, a line for each relation, with the number and first places.

A card answers a question whose subject is certain and whose relation is not. Relations of which the question has a word
come first and are listed longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atlas.code.graph.not_found import why_no_callers
from atlas.code.graph.subjects import Subject
from atlas.code.question.relation_kinds import Kind
from atlas.code.reader import Reader
from atlas.code.retrieve.expand import KINDS, around_node
from atlas.core.model import Direction, Edge, Label, Node

PLACES = 3
"""Edges of a relation that the question does not hint at."""
HINTED_PLACES = 16
"""Edges of one that it does."""
_CALLABLE = frozenset((Label.FUNCTION, Label.METHOD))
_SHOWN: tuple[str, ...] = (
    "callers", "used_by", "imported_by", "bases", "subclasses", "overrides", "overridden_by", "handlers", "emitters",
    "callees", "uses", "imports", "members", "tests", "routes", "events", "emits", "docs", "documents",
)  # fmt: skip
_SECTIONS: Mapping[Kind, tuple[str, ...]] = {
    Kind.CALLERS: ("callers",),
    Kind.CALLEES: ("callees",),
    Kind.USAGES: ("callers", "used_by", "imported_by"),
    Kind.USES: ("callees", "uses"),
    Kind.INSTANTIATIONS: ("callers",),
    Kind.TESTS: ("tests",),
    Kind.SUBTYPES: ("subclasses", "overridden_by"),
    Kind.SUPERTYPES: ("bases", "overrides"),
    Kind.HIERARCHY: ("bases", "subclasses"),
    Kind.OVERRIDES: ("overridden_by",),
    Kind.OVERRIDDEN: ("overrides",),
    Kind.IMPORTERS: ("imported_by",),
    Kind.IMPORTS: ("imports",),
    Kind.DEPENDENTS: ("callers", "used_by", "imported_by"),
    Kind.DEPENDENCIES: ("callees", "uses", "imports"),
    Kind.DOCS: ("docs",),
    Kind.MEMBERS: ("members",),
    Kind.ROUTES: ("routes",),
    Kind.IMPACT: ("callers", "used_by", "imported_by", "subclasses"),
}
"""Sections of a card by the relation that a question hints at."""


@dataclass(frozen=True, slots=True)
class CardSection:
    """One relation of a subject: its number of edges, and the first of them."""

    kind: str
    """A key of `expand.KINDS`."""
    total: int
    edges: tuple[Edge, ...]

    @property
    def is_inward(self) -> bool:
        """Whether the lines of its edges lie in the files of the other ends."""
        return KINDS[self.kind][0] == Direction.IN


@dataclass(frozen=True, slots=True)
class SubjectCard:
    """What the graph has about a subject."""

    subject: Subject
    sections: tuple[CardSection, ...] = ()
    """In the order in which they are shown; none where several symbols have the name."""
    notes: tuple[str, ...] = ()

    @property
    def node(self) -> Node:
        """The definition, or that of the first symbol."""
        return self.subject.targets[0].node


async def read_card(reader: Reader, subject: Subject, hinted: Sequence[Kind]) -> SubjectCard:
    """Return the card of a subject. Raises store errors."""
    if subject.total != 1:
        return SubjectCard(subject)
    node = subject.targets[0].node
    around = await around_node(reader, node, HINTED_PLACES)
    first = dict.fromkeys(section for kind in hinted for section in _SECTIONS.get(kind, ()))
    order = [*first, *(kind for kind in _SHOWN if kind not in first)]
    sections = [
        CardSection(kind, found.total, _code_first(found.edges)[: HINTED_PLACES if kind in first else PLACES])
        for kind in order
        if (found := around.related.get(kind)) is not None
    ]
    silent = node.row.label in _CALLABLE and "callers" not in around.related
    notes = (await why_no_callers(reader, node),) if silent else ()
    return SubjectCard(subject, tuple(sections), notes)


def _code_first(edges: Sequence[Edge]) -> tuple[Edge, ...]:
    return tuple(sorted(edges, key=lambda edge: edge.node.row.is_test))
