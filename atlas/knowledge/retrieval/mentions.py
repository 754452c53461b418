"""The entities that a question names, and those one relation away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from atlas.code.notes.facts import read_properties
from atlas.code.reader import Reader
from atlas.core.model import Direction, Filter, Label, Node
from atlas.knowledge.retrieval.hits import properties_of
from atlas.parsing import name_words

WHOLE, PART = 1.0, 0.7
"""How well a question names an entity: by a whole name or alias, or by one word of its name ("Maria")."""
RELATED = 0.4
"""Share of the name of an entity that a related one gets."""
HIERARCHY = frozenset(("PART_OF", "IS_A"))
BELOW = 0.8
"""Share of the name of an entity that each level of its parts gets: what is said of a part is said of the whole."""
MAX_LEVELS = 4
MAX_NAMED = 20
MAX_RELATED = 30
MAX_SHARING = 3
"""A word that is part of the names of more entities names none of them."""
MIN_PART = 3


@dataclass(frozen=True, slots=True)
class Mentions:
    """The entities of a question: how well each is named, by the path of its file, and the same for related ones."""

    named: Mapping[str, float] = field(default_factory=dict[str, float])
    related: Mapping[str, float] = field(default_factory=dict[str, float])
    words: frozenset[str] = frozenset()
    """The words of the question that are names."""
    parts: tuple[str, ...] = ()
    """Paths of entities that are part of named ones, or of their kind, the nearest first."""


async def mentions(reader: Reader, query: str) -> Mentions:
    """Find the entities of the project that a question names."""
    asked = reader.split_words(query)
    if not asked:
        return Mentions()
    hits = await reader.store.search_text(name_words(query), Filter(project=reader.project), MAX_NAMED)
    nodes = await reader.store.symbols([hit.uid for hit in hits])
    found = _named(reader, asked, nodes)
    if not found:
        return Mentions()
    paths = {node.row.path: found[node.row.uid][0] for node in nodes if node.row.uid in found}
    words = frozenset(word for _, words in found.values() for word in words)
    named = {uid: each[0] for uid, each in found.items()}
    related, parts = await _related(reader, named, paths), list[str]()
    for uid, share in named.items():
        for node, level in await hierarchy(reader, uid):
            if node.row.path not in paths:
                parts.append(node.row.path)
                related[node.row.path] = max(related.get(node.row.path, 0.0), share * BELOW**level)
        for node, level in await hierarchy(reader, uid, above=True):
            if node.row.path not in paths:
                related[node.row.path] = max(related.get(node.row.path, 0.0), RELATED * share * BELOW**level)
    return Mentions(paths, related, words, tuple(dict.fromkeys(parts)))


async def hierarchy(reader: Reader, uid: str, *, above: bool = False) -> list[tuple[Node, int]]:
    """Return the entities that are part of one, or of its kind, with their distance; `above`: what it is part of."""
    found: list[tuple[Node, int]] = []
    seen, frontier = {uid}, [uid]
    for level in range(1, MAX_LEVELS + 1):
        direction = Direction.OUT if above else Direction.IN
        edges = await reader.store.edges(frontier, direction, ("RELATES",), each=MAX_RELATED) if frontier else []
        frontier = list[str]()
        for edge in edges:
            kind = str(read_properties(edge.row.properties).get("type", "")).upper()
            if kind in HIERARCHY and edge.node.row.label == Label.ENTITY and edge.node.row.uid not in seen:
                seen.add(edge.node.row.uid)
                frontier.append(edge.node.row.uid)
                found.append((edge.node, level))
    return found


def _named(reader: Reader, asked: Sequence[str], nodes: Iterable[Node]) -> dict[str, tuple[float, tuple[str, ...]]]:
    """Return how well each entity is named and by which words; by a part of a name only if few entities share it."""
    found: dict[str, tuple[float, tuple[str, ...]]] = {}
    parts: dict[str, list[str]] = {}
    for node in nodes:
        names = [node.row.name, *properties_of(node).get("aliases", ())]
        split = [words for name in names if (words := reader.split_words(name))]
        whole = max((words for words in split if contains(asked, words)), key=len, default=None)
        if whole is not None:
            found[node.row.uid] = (WHOLE, tuple(whole))
            continue
        for word in {word for words in split for word in words if len(word) >= MIN_PART and word in asked}:
            parts.setdefault(word, []).append(node.row.uid)
    for word, uids in sorted(parts.items()):
        if len(uids) <= MAX_SHARING:
            found.update({uid: (PART, (word,)) for uid in uids if uid not in found})
    return found


def contains(words: Sequence[str], part: Sequence[str]) -> bool:
    """Return whether `part` stands in `words` as it is."""
    size = len(part)
    return bool(size) and any(list(words[at : at + size]) == list(part) for at in range(len(words) - size + 1))


async def _related(reader: Reader, named: Mapping[str, float], paths: Mapping[str, float]) -> dict[str, float]:
    """Return the paths of entities one relation away from named ones."""
    found: dict[str, float] = {}
    for direction in (Direction.OUT, Direction.IN):
        for edge in await reader.store.edges(list(named), direction, ("RELATES",), each=MAX_RELATED):
            row = edge.node.row
            own = edge.row.source if direction is Direction.OUT else edge.row.target
            if row.label == Label.ENTITY and row.path not in paths:
                found[row.path] = max(found.get(row.path, 0.0), RELATED * named[own] * edge.row.confidence)
    return found
