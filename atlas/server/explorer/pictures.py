"""Small pictures: the neighbourhood of a symbol, and the imports between the entries of a folder.

A picture has at most `MAX_NODES` nodes; what is left out is counted. Nodes stand in layers from left to right: of a
symbol who uses it, itself, what it uses; of a folder who imports before what is imported. `drawing` draws it; each form
escapes names as it must.
"""

from __future__ import annotations

from collections import Counter

from markupsafe import Markup

from atlas.code.reader import Reader
from atlas.code.tools.mermaid import mermaid_label
from atlas.code.tools.symbol.symbol_answers import ContextAnswer
from atlas.core.errors import ConfigError, NotFound
from atlas.core.invisible import escaped
from atlas.core.wording import counted
from atlas.server.explorer.drawing import MAX_NODES, Picture, PictureEdge, PictureNode, layers_of, svg
from atlas.server.explorer.imports import read_imports
from atlas.server.explorer.questions import Asker
from atlas.server.explorer.render import file_url, short_name, symbol_url

EACH = 12
"""Neighbours of one kind."""
FORMATS = ("svg", "html", "dot", "mermaid")
BEFORE = (
    "callers", "tests", "used_by", "subclasses", "overridden_by", "handlers", "emitters", "clients",
    "imported_by", "docs",
)  # fmt: skip
"""Kinds of neighbours that lead to the symbol."""
AFTER = ("callees", "uses", "bases", "overrides", "routes", "events", "emits", "requests", "imports")


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
        hint = "Name one of these." if near else "Find its name: atlas search."
        raise NotFound(f"{name} is not one symbol or folder", hint, near)
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
    found = await read_imports(reader, folder)
    counts = Counter[tuple[str, str]]()
    for source, target, n in found.edges:
        # a file of a package that is imported as a whole stands for the package
        own = found.folders.get(source, source)
        ends = (_entry(own if own == f"{folder}/" else source, prefix), _entry(target, prefix))
        if ends[0] != ends[1]:
            counts[ends] += n
    connected = Counter[str]()
    for (source, target), n in counts.items():
        connected[source] += n
        connected[target] += n
    kept = [name for name, _ in connected.most_common(MAX_NODES)]
    edges = [(pair, n) for pair, n in counts.items() if pair[0] in kept and pair[1] in kept]
    layers = layers_of(kept, [pair for pair, _ in edges])
    nodes = [_box(name, prefix, layers[name]) for name in kept]
    arrows = [PictureEdge(*pair, counted(n, "import")) for pair, n in edges]
    left = counted(len(connected) - len(kept), "entry") if len(connected) > len(kept) else ""
    return Picture(folder or reader.project, tuple(nodes), tuple(arrows), left)


def _entry(path: str, prefix: str) -> str:
    """Return the entry of a folder that a path lies in; "." for the package of the folder itself."""
    return f"{prefix}{path.removeprefix(prefix).removeprefix('/').partition('/')[0] or '.'}"


def _box(name: str, prefix: str, layer: int) -> PictureNode:
    text = name.removeprefix(prefix)
    is_own = text == "."
    href = file_url(prefix.rstrip("/")) if is_own else file_url(name)
    return PictureNode(name, "this folder" if is_own else text, href, layer, is_own)


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
