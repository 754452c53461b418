"""Export the graph of a project as JSON Lines or GraphML, file by file, in a fixed order.

Memory use is bounded by the largest file of the project. With `canonical`, equal graphs give equal bytes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from enum import StrEnum
from typing import cast, get_type_hints
from xml.sax.saxutils import escape, quoteattr

from atlas.code.atlas import Atlas
from atlas.core.errors import NotFound
from atlas.core.invisible import json_text, xml_text
from atlas.core.model import Direction, EdgeRow, Filter, Match, NodeRow
from atlas.core.project_state import ProjectState

EVERYTHING = 100_000_000
"""Row limit above the number of rows of any file."""

_XML_OWN = ("uid", "source", "target")
"""Fields that are attributes of the element itself."""
_XML_TYPES = {bool: "boolean", int: "long", float: "double", str: "string"}


class ExportFormat(StrEnum):
    """Output format of `atlas export`."""

    JSONL = "jsonl"
    GRAPHML = "graphml"


async def export_lines(atlas: Atlas, form: ExportFormat, *, canonical: bool = False) -> AsyncIterator[str]:
    """Yield the lines of a project's graph, without line ends.

    Files are sorted by path, nodes by uid, and edges, which follow the nodes of their file, by all fields. In JSON
    Lines a node has a `label`, an edge a `type`; unless `canonical`, the output starts with the project's root,
    generation and time. Raises NotFound if the project is not indexed.
    """
    project = atlas.reader.project
    state = next((state for state in await atlas.reader.store.projects() if state.project == project), None)
    if state is None:
        raise NotFound(f"project `{project}` is not indexed", "run `atlas index` in its folder")
    for line in _head(form, state, canonical=canonical):
        yield line
    for path in sorted(await atlas.reader.store.manifest(project)):
        nodes, edges = await _unit(atlas, project, path)
        for node in nodes:
            yield _node(form, node)
        for edge in edges:
            yield _edge(form, edge)
    if form is ExportFormat.GRAPHML:
        yield "</graph></graphml>"


async def _unit(atlas: Atlas, project: str, path: str) -> tuple[list[NodeRow], list[EdgeRow]]:
    store = atlas.reader.store
    found = await store.find(path, Match.PATH, Filter(project=project), EVERYTHING)
    nodes = sorted((node.row for node in found), key=lambda row: row.uid)
    uids = [row.uid for row in nodes]
    edges = await store.edges(uids, Direction.OUT, limit=EVERYTHING) if uids else []
    return nodes, sorted(edge.row for edge in edges)


def _head(form: ExportFormat, state: ProjectState, *, canonical: bool) -> list[str]:
    about: dict[str, object] = {"project": state.project}
    if not canonical:
        about |= {"root": state.root, "generation": state.generation, "indexed_at": state.indexed_at}
    if form is ExportFormat.JSONL:
        return [] if canonical else [json_text(about)]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    for owner, row in (("node", NodeRow), ("edge", EdgeRow)):
        for name, kind in _xml_types(row).items():
            lines.append(f'<key id="{owner[0]}_{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>')
    lines.append(f'<graph id={quoteattr(state.project)} edgedefault="directed">')
    if not canonical:
        lines.append(f"<desc>{_xml(json_text(about))}</desc>")
    return lines


def _xml_types(row: type[NodeRow] | type[EdgeRow]) -> Mapping[str, str]:
    """Return the GraphML type of every field that is not an attribute of the element itself."""
    hints = get_type_hints(row)
    types = {name: _XML_TYPES[kind] for name, kind in hints.items() if kind in _XML_TYPES and name not in _XML_OWN}
    return types if row is NodeRow else {**types, "lines": "string"}


def _node(form: ExportFormat, row: NodeRow) -> str:
    if form is ExportFormat.JSONL:
        return json_text(row._asdict())
    return f"<node id={_attribute(row.uid)}>{_data('n', row._asdict(), ('uid',))}</node>"


def _edge(form: ExportFormat, row: EdgeRow) -> str:
    values: dict[str, object] = {**row._asdict(), "lines": row.lines}
    del values["further_lines"]
    if form is ExportFormat.JSONL:
        return json_text(values)
    ends = f"source={_attribute(row.source)} target={_attribute(row.target)}"
    return f"<edge {ends}>{_data('e', values, ('source', 'target'))}</edge>"


def _data(prefix: str, values: Mapping[str, object], without: Sequence[str]) -> str:
    """Return the data elements of a row; empty strings and lists are omitted."""
    return "".join(
        f'<data key="{prefix}_{name}">{_xml(_plain(value))}</data>'
        for name, value in values.items()
        if name not in without and value not in ("", ())
    )


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, cast("tuple[object, ...]", value)))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _xml(text: str) -> str:
    """Escape text, invisible characters as references, and remove those that XML 1.0 does not allow."""
    return xml_text(escape(text))


def _attribute(text: str) -> str:
    return xml_text(quoteattr(text))
