"""Answer questions about the subtypes and bases of type aliases: names of other types, of unions and of shapes.

Others may extend an alias, which is an edge. Of a union (`type Shape = Circle | Square`) the alternatives are the
subtypes; the subtypes of another name for a type are those of that type.
"""

from __future__ import annotations

from collections.abc import Sequence

from atlas.code.graph.aliases.alias_text import is_alias, read_alias, type_name
from atlas.code.graph.relation import RelatedSymbol
from atlas.code.graph.targets import Targets
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.reader import Reader
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node

MOST_ALTERNATIVES = 40
MAX_EDGES = 20_000
MOST_SAID = 160
"""Characters of an alias that a note shows."""
_ALTERNATIVE = "alternative"
"""How the types of a union are related to it."""
_CONFIDENCE = 0.9
_OF_TYPES = (Kind.SUBTYPES, Kind.SUPERTYPES)


async def related_of_aliases(
    reader: Reader, intent: RelationIntent, targets: Targets
) -> tuple[list[RelatedSymbol], tuple[str, ...]]:
    """Return what is related to the aliases of a name besides their edges, and what they are. Raises store errors."""
    found: list[RelatedSymbol] = []
    notes: list[str] = []
    if intent.kind in _OF_TYPES:
        for target in targets.targets:
            if is_alias(target.node.row):
                related, note = await _related_of(reader, target.node, intent.kind)
                found += related
                notes += [note] if note else []
    return found, tuple(notes)


async def _related_of(reader: Reader, node: Node, kind: Kind) -> tuple[list[RelatedSymbol], str]:
    """Return what is related to an alias besides its edges, and a note that says what it is."""
    said = read_alias(node.row.signature)
    _, _, right = " ".join(node.row.signature.split()).partition("=")
    right = right.strip() if len(right) <= MOST_SAID else f"{right[:MOST_SAID].strip()}..."
    note = f"`{node.row.name}` is no class but an alias: {right}" if right else ""
    if kind == Kind.SUBTYPES and said.alternatives:
        found, others = await _types_of(reader, node, said.alternatives)
        rest = f"; without a symbol: {', '.join(others)}" if others else ""
        alternatives = [_related_by(each, _ALTERNATIVE) for each in found]
        return alternatives, f"`{node.row.name}` is a union: its alternatives stand for subtypes{rest}"
    parts, _ = await _types_of(reader, node, said.parts)
    if kind == Kind.SUPERTYPES:
        return [_related_by(each, "alias") for each in parts], note
    if kind == Kind.SUBTYPES and len(said.parts) == 1 and parts:
        edges = await reader.store.edges([parts[0].row.uid], Direction.IN, (EdgeType.INHERITS,), MAX_EDGES)
        through = parts[0].row.qualified_name
        return [_related_by(edge.node, edge.row.strategy, through) for edge in edges], note
    return [], note


def _related_by(node: Node, strategy: str, through: str = "") -> RelatedSymbol:
    return RelatedSymbol(node, node.row.path, (node.row.line,), strategy, _CONFIDENCE, 2 if through else 1, through)


async def _types_of(reader: Reader, node: Node, texts: Sequence[str]) -> tuple[list[Node], list[str]]:
    """Return the types of the project that texts name, those of the alias's file first, and the other texts."""
    found: dict[str, Node] = {}
    others: list[str] = []
    for text in texts[:MOST_ALTERNATIVES]:
        name = type_name(text)
        nodes = await reader.store.find(name, Match.SUFFIX, Filter(project=node.project), 50) if name else []
        types = [each for each in nodes if each.row.label == Label.CLASS or is_alias(each.row)]
        near = [each for each in types if each.row.path == node.row.path] or types
        if near and (len({each.row.path for each in near}) == 1):
            found.setdefault(near[0].row.uid, near[0])
        else:
            others.append(" ".join(text.split()))
    return list(found.values()), others
