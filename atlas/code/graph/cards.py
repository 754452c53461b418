"""Read the card of a subject: what the graph has about it, a line for each relation, with the number and first places.

A card answers a question whose subject is certain and whose relation is not. Relations of which the question has a word
come first and are listed longer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.code.graph.absence.members_beside import members_beside
from atlas.code.graph.absence.name_lines import NameLines, find_name_lines, with_symbols
from atlas.code.graph.absence.proof import FILE_LABELS, prove_none
from atlas.code.graph.absence.unresolved import unresolved_beside
from atlas.code.graph.subjects import Subject
from atlas.code.graph.targets import MAX_MEMBERS, Target, Targets, members_of
from atlas.code.lines.scan_texts import scan_patterns
from atlas.code.question.relation_kinds import Kind
from atlas.code.question.written_names import WrittenName
from atlas.code.reader import Reader
from atlas.code.retrieve.expand import KINDS, Neighbourhood, RelatedNodes, around_node
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, Edge, EdgeType, Filter, Label, Node

PLACES = 3
"""Edges of a relation that the question does not hint at."""
HINTED_PLACES = 16
"""Edges of one that it does."""
LIKELY_PLACES = 8
"""Callers of a function where the question asks for functions or places, in words that tell no relation."""
READ = 60
"""Edges that are read of each relation: code comes before tests."""
MOST_LINES = 24
"""Lines of text that are shown with the symbol around them."""
_CALLABLE = frozenset((Label.FUNCTION, Label.METHOD))
_SHOWN: tuple[str, ...] = (
    "callers", "used_by", "imported_by", "bases", "subclasses", "overrides", "overridden_by", "handlers", "emitters",
    "clients", "readers", "setters", "callees", "uses", "imports", "members", "tests", "routes", "events", "emits",
    "requests", "variables", "docs", "documents",
)  # fmt: skip
_SECTIONS: Mapping[Kind, tuple[str, ...]] = {
    Kind.CALLERS: ("callers", "clients", "readers"),
    Kind.CALLEES: ("callees",),
    Kind.USAGES: ("callers", "used_by", "imported_by", "clients", "readers"),
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


_INWARD = frozenset((Kind.CALLERS, Kind.USAGES, Kind.TESTS, Kind.SUBTYPES, Kind.IMPORTERS, Kind.OVERRIDES))
"""Relations of which a card says so if there are none."""
_DECLARES = lazy_regex(
    r"\b(?:class|struct|interface|object|trait|record|protocol|module|impl|extends|implements)\b|^[<:(]"
)
_ARGUMENTS = lazy_regex(r"<[^<>]{0,400}>")
MOST_NESTED = 4
_QUALIFIED = lazy_regex(r"[\w$]+(?:(?:\.|::|\\)[\w$]+)*")


@dataclass(frozen=True, slots=True)
class CardHints:
    """What the words of a question hint at."""

    kinds: tuple[Kind, ...] = ()
    sets: bool = False
    """Whether it asks where something gets its value, or what value that is."""
    asks_code: bool = False
    """Whether it asks which functions or places something is true of."""


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
    """What the index has about a name of a question."""

    name: str
    """As it is written."""
    subject: Subject | None = None
    """None for a name without a symbol."""
    sections: tuple[CardSection, ...] = ()
    """In the order in which they are shown; none where several symbols have the name."""
    notes: tuple[str, ...] = ()
    text: NameLines | None = None
    """Lines that have the name and are not among the edges, those that the question asks for first."""


async def read_card(reader: Reader, subject: Subject, asked: CardHints) -> SubjectCard:
    """Return the card of a subject. Raises store errors."""
    written = subject.written.text
    node = subject.targets[0].node
    project = node.project
    if subject.total != 1:
        rows = [each.node.row for each in subject.targets]
        if any(row.label != Label.VALUE for row in rows):
            return SubjectCard(written, subject)
        defined = {(row.path, row.line) for row in rows}
        return SubjectCard(
            written, subject, text=await _text(reader, rows[0].name, project, defined, asked, prose=False)
        )
    around = await around_node(reader, node, READ)
    if node.row.label in FILE_LABELS:
        around = await _with_importers(reader, node, around)
    first = dict.fromkeys(section for kind in asked.kinds for section in _SECTIONS.get(kind, ()))
    order = [*first, *(kind for kind in _SHOWN if kind not in first)]
    most = {**({"callers": LIKELY_PLACES} if asked.asks_code else {}), **dict.fromkeys(first, HINTED_PLACES)}
    sections = tuple(
        CardSection(kind, found.total, _code_first(found.edges)[: most.get(kind, PLACES)])
        for kind in order
        if (found := around.related.get(kind)) is not None
    )
    silent = node.row.label in _CALLABLE and "callers" not in around.related
    text = None
    if node.row.label == Label.VALUE or silent:
        row = node.row
        known = {(row.path, row.line), *_lines_of(around)}
        text = await _text(reader, written, project, known, asked, prose=False) if written != row.name else None
        if text is None or not text.lines:
            text = await _text(reader, row.name, project, known, asked, prose=False)
    lacking = [kind for kind in asked.kinds if kind in _INWARD and around.related.keys().isdisjoint(_SECTIONS[kind])]
    if silent and not lacking and (text is None or not text.lines):
        lacking = [Kind.CALLERS]
    notes = tuple([await _absence(reader, node, kind, around) for kind in lacking[:1]])
    if "callers" in around.related and node.row.label in _CALLABLE:
        notes = (*notes, *await unresolved_beside(reader, node, 1))  # the count of callers is no whole
    return SubjectCard(written, subject, sections, notes, text)


async def _absence(reader: Reader, node: Node, kind: Kind, around: Neighbourhood) -> str:
    """Return what is said of a relation without edges; a test may reach what others call without naming it."""
    absence = await prove_none(reader, [node], kind)
    if kind == Kind.TESTS and absence.is_proven and "callers" in around.related:
        return (
            "no test calls or names it: unknown whether one reaches it through its callers, which relation=tests lists"
        )
    return absence.sentence


async def _with_importers(reader: Reader, node: Node, around: Neighbourhood) -> Neighbourhood:
    """Add what imports a symbol of a file to what imports the file itself."""
    held = await members_of(reader, Targets(node.row.name, (Target(node, (node.row.uid,)),), 1))
    uids = {node.row.uid, *held}
    edges = await reader.store.edges(sorted(uids), Direction.IN, (EdgeType.IMPORTS,), MAX_MEMBERS)
    found = {edge.node.row.uid: edge for edge in reversed(edges) if edge.node.row.uid not in uids}
    if not found:
        return around
    return replace(
        around, related={**around.related, "imported_by": RelatedNodes(tuple(reversed(found.values())), len(found))}
    )


async def read_text_card(reader: Reader, written: WrittenName, project: str, asked: CardHints) -> SubjectCard:
    """Return the card of a name that the index has no symbol for: the lines that have it. Raises store errors."""
    name = written.text.strip("()")
    text = await _text(reader, name, project, (), asked, prose=True)
    if text.more and not text.lines and await _is_nowhere(reader, name, project):
        text = replace(text, more=False)
    below = await _declared_below(reader, name, text, project) if Kind.SUBTYPES in asked.kinds else ()
    places = "; ".join(f"{node.row.path}:{node.row.line} {node.row.qualified_name}" for node in below[:PLACES])
    more = f" +{len(below) - PLACES}" if len(below) > PLACES else ""
    based = (f"named as a base by {len(below)}: {places}{more}",) if below else ()
    return SubjectCard(written.text, notes=(*based, *await members_beside(reader, written.text, project)), text=text)


async def _is_nowhere(reader: Reader, name: str, project: str) -> bool:
    """Return whether no indexed text has a name, as a scan of all of them tells."""
    pattern = re.compile(re.escape(name))
    scan = (await scan_patterns(reader, Filter(project=project), [(pattern, [name.encode()])]))[0]
    return not scan.found and not scan.notes


async def _declared_below(reader: Reader, name: str, text: NameLines, project: str) -> tuple[Node, ...]:
    """Return the classes whose declaration names a base without a symbol, such as one of a standard library."""
    inside = await with_symbols(reader, [each for each in text.lines if _DECLARES.search(each.text)], project)
    found = {
        each.inside.row.uid: each.inside
        for each in inside
        if each.inside is not None
        and each.inside.row.label == Label.CLASS
        # not `class exception_like : other`
        and name in names_in(each.inside.row.signature.partition(each.inside.row.name)[2])
    }
    return tuple(found.values())


def names_in(bases: str) -> set[str]:
    """Return the names of what stands behind the name of a class, with their namespaces and without.

    Not those in the brackets of a type: `class Matcher : Base<std::exception>`.
    """
    for _ in range(MOST_NESTED):
        bases = _ARGUMENTS.sub("", bases)
    found = {each.strip(".:") for each in _QUALIFIED.findall(bases)}
    return found | {re.split(r"[.:\\\\]+", each)[-1] for each in found}


async def _text(
    reader: Reader, name: str, project: str, known: Collection[tuple[str, int]], asked: CardHints, *, prose: bool
) -> NameLines:
    found = await find_name_lines(reader, name, project, known, prose=prose)
    lines = sorted(found.lines, key=lambda each: not each.sets) if asked.sets else found.lines
    shown = await with_symbols(reader, lines[:MOST_LINES], project)
    return replace(found, lines=(*shown, *lines[MOST_LINES:]))


def _lines_of(around: Neighbourhood) -> Iterator[tuple[str, int]]:
    for kind, found in around.related.items():
        if KINDS[kind][0] == Direction.IN:
            yield from ((edge.node.row.path, line) for edge in found.edges for line in edge.row.lines)


def _code_first(edges: Sequence[Edge]) -> tuple[Edge, ...]:
    return tuple(sorted(edges, key=lambda edge: edge.node.row.is_test))
