"""Small pictures: the neighbourhood of a symbol, and the imports between the entries of a folder.

A picture has at most `MAX_NODES` nodes; what is left out is counted. Nodes stand in layers from left to right: of a
symbol who uses it, itself, what it uses; of a folder who imports before what is imported. Each form escapes names as it
must.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from atlas.code.reader import Reader
from atlas.code.tools.mermaid import mermaid_label
from atlas.code.tools.symbol.symbol_answers import ContextAnswer
from atlas.core.errors import ConfigError, NotFound
from atlas.core.invisible import escaped
from atlas.core.wording import counted
from atlas.server.explorer.questions import Asker
from atlas.server.explorer.render import file_url, short_name, symbol_url

MAX_NODES = 60
EACH = 12
"""Neighbours of one kind."""
FORMATS = ("svg", "html", "dot", "mermaid")
BEFORE = (
    "callers", "tests", "used_by", "subclasses", "overridden_by", "handlers", "emitters", "clients",
    "imported_by", "docs",
)  # fmt: skip
"""Kinds of neighbours that lead to the symbol."""
AFTER = ("callees", "uses", "bases", "overrides", "routes", "events", "emits", "requests", "imports")
WIDTH, HEIGHT, GAP, BETWEEN = 230, 26, 10, 90
LETTERS = 32
"""Characters of a name in a box."""


@dataclass(frozen=True, slots=True)
class PictureNode:
    """A box: its name, where it leads to, and its place in layers."""

    key: str
    text: str
    href: str
    layer: int
    is_subject: bool = False
    order: int = 0


@dataclass(frozen=True, slots=True)
class PictureEdge:
    """An arrow between the keys of two nodes, and what is known of it."""

    source: str
    target: str
    label: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Nodes, arrows, and how much is left out."""

    title: str
    nodes: tuple[PictureNode, ...]
    edges: tuple[PictureEdge, ...]
    left: str
    """What is not drawn, in words; "" for nothing."""


async def picture_of(ask: Asker, reader: Reader, name: str) -> Picture:
    """Return the picture of a folder of the index, else of a symbol. Raises NotFound for a name that is neither."""
    folder = name.strip("/").removeprefix("./")
    paths = await reader.store.paths(reader.project)
    if folder in ("", ".") or any(path.startswith(f"{folder}/") for path in paths):
        return await _folder(reader, "" if folder == "." else folder)
    answer = await ask("get_context", name=name, token_budget=40_000)
    assert isinstance(answer, ContextAnswer)
    if answer.symbol is None:
        near = [one.uid for one in answer.lookup.candidates or answer.lookup.near]
        raise NotFound(f"{name} is not one symbol or folder", "Name one of these.", near)
    return _symbol(answer)


def _symbol(answer: ContextAnswer) -> Picture:
    symbol = answer.symbol
    assert symbol is not None
    nodes = {symbol.uid: PictureNode(symbol.uid, symbol.name, symbol_url(symbol.uid), 1, is_subject=True)}
    edges: list[PictureEdge] = []
    drawn = Counter[str]()
    sections = [one for one in answer.sections if one.kind in (*BEFORE, *AFTER)]
    for section in sections:
        is_before = section.kind in BEFORE
        for one in section.neighbours[:EACH]:
            if one.uid not in nodes and len(nodes) >= MAX_NODES:
                break
            nodes.setdefault(one.uid, PictureNode(one.uid, short_name(one), symbol_url(one.uid), 0 if is_before else 2))
            ends = (one.uid, symbol.uid) if is_before else (symbol.uid, one.uid)
            edges.append(PictureEdge(*ends, f"{one.type.lower()} {one.strategy} {one.confidence:.2f}"))
            drawn[section.kind] += 1
    left = [f"{one.total - drawn[one.kind]} {one.kind}" for one in sections if one.total > drawn[one.kind]]
    return Picture(symbol.qualified_name, tuple(nodes.values()), tuple(edges), ", ".join(left))


async def _folder(reader: Reader, folder: str) -> Picture:
    prefix = f"{folder}/" if folder else ""
    query = (
        "MATCH (a)-[:IMPORTS]->(b) WHERE a.path STARTS WITH $prefix AND b.path STARTS WITH $prefix "
        "AND a.path <> b.path RETURN a.path AS source, b.path AS target, count(*) AS n"
    )
    found = await reader.store.cypher(query, {"prefix": prefix}, 400_000, 20.0, reader.project)
    counts = Counter[tuple[str, str]]()
    for row in found.rows:
        ends = [f"{prefix}{str(path)[len(prefix) :].partition('/')[0]}" for path in row[:2]]
        if ends[0] != ends[1]:
            counts[ends[0], ends[1]] += int(str(row[2]))
    connected = Counter[str]()
    for (source, target), n in counts.items():
        connected[source] += n
        connected[target] += n
    kept = [name for name, _ in connected.most_common(MAX_NODES)]
    edges = [(pair, n) for pair, n in counts.items() if pair[0] in kept and pair[1] in kept]
    layers = layers_of(kept, [pair for pair, _ in edges])
    nodes = [PictureNode(name, name.removeprefix(prefix), file_url(name), layers[name]) for name in kept]
    arrows = [PictureEdge(*pair, counted(n, "import")) for pair, n in edges]
    left = counted(len(connected) - len(kept), "entry", "entries") if len(connected) > len(kept) else ""
    return Picture(folder or reader.project, tuple(nodes), tuple(arrows), left)


def layers_of(names: Sequence[str], pairs: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return the layer of each node: behind all that lead to it, without the edges that close a cycle."""
    after: dict[str, list[str]] = {name: [] for name in names}
    for source, target in sorted(pairs):
        after[source].append(target)
    done: list[str] = []
    state: dict[str, int] = {}
    forward: dict[str, list[str]] = {name: [] for name in names}
    for start in names:
        waiting = [(start, iter(after[start]))] if start not in state else []
        state.setdefault(start, 1)
        while waiting:
            name, targets = waiting[-1]
            target = next(targets, None)
            if target is None:
                state[name] = 2
                done.append(name)
                waiting.pop()
            elif state.get(target) != 1:  # 1: the edge leads back to what is being followed
                forward[name].append(target)
                if target not in state:
                    state[target] = 1
                    waiting.append((target, iter(after[target])))
    layers = dict.fromkeys(names, 0)
    for name in reversed(done):
        for target in forward[name]:
            layers[target] = max(layers[target], layers[name] + 1)
    return layers


def drawn_as(picture: Picture, form: str) -> str:
    """Return a picture in one of `FORMATS`. Raises ConfigError for another one."""
    if form == "dot":
        return _dot(picture)
    if form == "mermaid":
        return _mermaid(picture)
    if form == "svg":
        return str(svg(picture))
    if form == "html":
        head = Markup('<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{}</title></head>')
        body = Markup("<body><h1>{}</h1>{}<p>{}</p></body></html>\n")
        return str(
            head.format(escaped(picture.title)) + body.format(escaped(picture.title), svg(picture), _left(picture))
        )
    raise ConfigError(f"unknown format {form!r}", f"Formats: {', '.join(FORMATS)}.")


def _left(picture: Picture) -> str:
    return f"not drawn: {picture.left}" if picture.left else ""


def _dot(picture: Picture) -> str:
    def quoted(text: str) -> str:
        return '"' + escaped(text).replace("\\", "\\\\").replace('"', '\\"') + '"'

    lines = [
        "digraph {",
        "  rankdir=LR; node [shape=box];",
        f"  label={quoted(' '.join((picture.title, _left(picture))))};",
    ]
    lines += [f"  {quoted(node.key)} [label={quoted(node.text)}];" for node in picture.nodes]
    lines += [f"  {quoted(one.source)} -> {quoted(one.target)} [tooltip={quoted(one.label)}];" for one in picture.edges]
    return "\n".join([*lines, "}"])


def _mermaid(picture: Picture) -> str:
    ids = {node.key: f"n{number}" for number, node in enumerate(picture.nodes)}
    lines = ["flowchart LR"]
    lines += [f'  {ids[node.key]}["{mermaid_label(node.text)}"]' for node in picture.nodes]
    lines += [f"  {ids[one.source]} --> {ids[one.target]}" for one in picture.edges]
    return "\n".join([*lines, *([f'  more["{mermaid_label(_left(picture))}"]'] if picture.left else [])])


def svg(picture: Picture, *, linked: bool = False) -> Markup:
    """Return the drawing; `linked`: boxes lead to pages of the explorer."""
    nodes = _ordered(picture)
    places = {
        node.key: (10 + node.layer * (WIDTH + BETWEEN), 10 + node.order * (HEIGHT + GAP) + node.layer % 2 * HEIGHT // 2)
        for node in nodes
    }
    width = max((x for x, _ in places.values()), default=0) + WIDTH + 10
    height = max((y for _, y in places.values()), default=0) + HEIGHT + 10
    start = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" width="{}" height="{}" role="group" '
        'aria-label="{}">'
    )
    parts = [
        Markup(start).format(width, height, width, height, escaped(picture.title)),
        Markup('<rect x="0" y="0" width="{}" height="{}" fill="#ffffff"></rect>').format(width, height),
    ]
    parts += [_arrow(places, one) for one in picture.edges]
    for node in nodes:
        x, y = places[node.key]
        name = escaped(node.text)
        shown = name if len(name) <= LETTERS else f"…{name[1 - LETTERS :]}"
        box = Markup(
            '<title>{}</title><rect x="{}" y="{}" width="{}" height="{}" rx="4" fill="{}" stroke="#57606a"></rect>'
            '<text x="{}" y="{}" fill="#1b1f24" font-family="sans-serif" font-size="12">{}</text>'
        ).format(
            escaped(node.key), x, y, WIDTH, HEIGHT, "#fff1c2" if node.is_subject else "#f6f8fa", x + 8, y + 17, shown
        )
        parts.append(
            Markup('<a href="{}">{}</a>').format(node.href, box) if linked else Markup("<g>{}</g>").format(box)
        )
    return Markup("").join((*parts, Markup("</svg>")))


def _ordered(picture: Picture) -> list[PictureNode]:
    """Return the nodes with their order in their layer: near the mean of what leads to them."""
    layers: dict[int, list[PictureNode]] = {}
    for node in picture.nodes:
        layers.setdefault(node.layer, []).append(node)
    into: dict[str, list[str]] = {}
    for edge in picture.edges:
        into.setdefault(edge.target, []).append(edge.source)
    order: dict[str, float] = {}
    found: list[PictureNode] = []
    for _, own in sorted(layers.items()):
        sources = {node.key: [order[one] for one in into.get(node.key, ()) if one in order] for node in own}
        middle = {key: sum(one) / len(one) if one else float(len(own)) for key, one in sources.items()}
        for number, node in enumerate(sorted(own, key=lambda node: (middle[node.key], node.text))):
            order[node.key] = number
            found.append(replace(node, order=number))
    return found


def _arrow(places: Mapping[str, tuple[int, int]], edge: PictureEdge) -> Markup:
    (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
    x1, y1, y2 = x1 + WIDTH, y1 + HEIGHT // 2, y2 + HEIGHT // 2
    bend = BETWEEN // 2 if x2 > x1 else BETWEEN
    path = f"M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2 - 6} {y2}"
    head = f"{x2 - 7},{y2 - 4} {x2},{y2} {x2 - 7},{y2 + 4}"
    return Markup(
        '<g><title>{}</title><path d="{}" fill="none" stroke="#8c959f"></path>'
        '<polygon points="{}" fill="#8c959f"></polygon></g>'
    ).format(escaped(edge.label), path, head)
