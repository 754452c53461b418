"""Export a knowledge folder as JSON-LD, plain JSON or GraphML, note by note, in the order of their paths.

JSON and JSON-LD have one note a line and can be imported again: the folder is then the same. The context of JSON-LD is
part of the document, so that no reader needs the network. Files that are not notes are named in the report. Secrets are
masked as in the index; invisible characters are escapes of JSON and XML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import quote, unquote
from xml.sax.saxutils import escape, quoteattr

from atlas.code.notes.note import read_note
from atlas.core.invisible import json_text, xml_text
from atlas.knowledge.notes.documents import Document, to_document
from atlas.knowledge.notes.folder import KnowledgeFolder
from atlas.knowledge.notes.ids import is_id
from atlas.knowledge.notes.listing import EntryKind, FoundNote, files

ATLAS = "urn:code-atlas:"
NOTE = "note:"
"""Stands before the id of a note in an IRI."""

_IRI = {"@type": "@id"}
_TIME = {"@type": "xsd:dateTime"}
CONTEXT: Mapping[str, object] = {
    "@version": 1.1,
    "schema": "https://schema.org/",
    "prov": "http://www.w3.org/ns/prov#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "atlas": ATLAS,
    **{kind: f"{ATLAS}{kind}:" for kind in ("note", "symbol", "file", "package", "route")},
    **{name: f"atlas:{name}" for name in ("kind", "client", "agent", "signature", "body", "docstring", "line")},
    **{"commit": "atlas:commit", "path": "atlas:path", "type": "atlas:type", "source_text": "atlas:source_text"},
    **{"id": "schema:identifier", "name": "schema:name", "text": "schema:text", "aliases": "schema:alternateName"},
    **{"status": "schema:creativeWorkStatus", "source": "schema:citation", "reasoning": "schema:description"},
    "confidence": {"@id": "atlas:confidence", "@type": "xsd:double"},
    "created": {"@id": "prov:generatedAtTime", **_TIME},
    "updated": {"@id": "schema:dateModified", **_TIME},
    "author": "prov:wasAttributedTo",
    "about": "schema:about",
    "relations": "atlas:relation",
    "observations": "atlas:observation",
    "target": {"@id": "atlas:target", **_IRI},
    "to": {"@id": "atlas:to", **_IRI},
}
"""The terms of JSON-LD. The prefixes make IRIs of targets: `symbol:a.b` is `urn:code-atlas:symbol:a.b`."""
_CLASSES = {"claim": "schema:Claim", "decision": "schema:CreativeWork", "entity": "schema:Thing"}

_NODE_KEYS = {
    **dict.fromkeys(("kind", "name", "text", "status", "source", "created", "updated", "type"), "string"),
    "confidence": "double",
    **dict.fromkeys(("aliases", "client", "agent", "path"), "string"),
}
_EDGE_KEYS = {
    **dict.fromkeys(("type", "reasoning", "created", "signature", "body", "docstring", "path", "commit"), "string"),
    **{"confidence": "double", "line": "long"},
}


class NoteFormat(StrEnum):
    """Output format of `atlas notes export`."""

    JSONLD = "jsonld"
    JSON = "json"
    GRAPHML = "graphml"


@dataclass(slots=True)
class ExportReport:
    """What an export has written, and the files that it has left out or changed, with the reason."""

    notes: int = 0
    changed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Notes whose text is not exactly that of the file."""
    left_out: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def export_lines(folder: KnowledgeFolder, form: NoteFormat, report: ExportReport) -> Iterator[str]:
    """Yield the lines of an export, without line ends, and count in the report. Raises StoreError as `entries`."""
    if form is NoteFormat.GRAPHML:
        yield from _graphml(folder, report)
        return
    is_linked = form is NoteFormat.JSONLD
    yield f'{{"@context":{json_text(CONTEXT)},"@graph":[' if is_linked else '{"notes":['
    waiting = ""
    for found in _exported(folder, report):
        if waiting:
            yield f"{waiting},"
        document = to_document(found, folder.path)
        waiting = json_text(linked(document) if is_linked else document)
    if waiting:
        yield waiting
    yield "]}"


def linked(document: Document) -> Document:
    """Return a note as a node of JSON-LD."""
    node = {"@id": NOTE + document["id"], "@type": ["prov:Entity", _CLASSES[document["kind"]]], **document}
    if "file" in node:
        # `file` is the prefix of IRIs of files
        node["source_text"] = node.pop("file")
    for name, key in (("about", "target"), ("relations", "to")):
        if name in document:
            node[name] = [{**one, key: _iri(one[key])} for one in document[name]]
    return node


def unlinked(node: Mapping[str, object]) -> Document:
    """Return a node of JSON-LD as a note. Raises TypeError, KeyError and AttributeError for another form."""
    document: Document = {name: value for name, value in node.items() if not name.startswith("@")}
    if "source_text" in document:
        document["file"] = document.pop("source_text")
    for name, key in (("about", "target"), ("relations", "to")):
        if name in document:
            document[name] = [{**one, key: _target(one[key])} for one in document[name]]
    return document


def _iri(target: str) -> str:
    kind, colon, name = target.partition(":")
    return f"{kind}:{quote(name, safe='' if name.startswith('//') else '/')}" if colon else NOTE + target


def _target(iri: str) -> str:
    kind, _, name = iri.partition(":")
    return name if kind == "note" else f"{kind}:{unquote(name)}"


def _exported(folder: KnowledgeFolder, report: ExportReport) -> Iterator[FoundNote]:
    """Yield the notes, each id once, and add the other files to the report."""
    paths: dict[str, str] = {}
    for entry, data in files(folder):
        if entry.kind is EntryKind.DRAFT:
            continue
        if entry.kind not in (EntryKind.NOTE, EntryKind.README):
            report.left_out.append((entry.path, entry.kind.value))
            continue
        note = read_note(data)
        if not note.id or not note.kind:
            is_note = entry.kind is EntryKind.NOTE or note.front_end
            why = f"line {note.problems[0].line}: {note.problems[0].message}" if note.problems else "no note"
            report.left_out += [(entry.path, why)] if is_note else []
        elif note.id in paths:
            report.left_out.append((entry.path, f"has the id of {paths[note.id]}"))
        else:
            paths[note.id] = entry.path
            report.notes += 1
            if entry.is_masked:
                report.changed.append((entry.path, "a secret in it is masked"))
            if not _is_unicode(data):
                report.changed.append((entry.path, "bytes that are not UTF-8 are replaced"))
            yield FoundNote(entry.path, data, note)


def _is_unicode(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _graphml(folder: KnowledgeFolder, report: ExportReport) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for owner, keys in (("node", _NODE_KEYS), ("edge", _EDGE_KEYS)):
        for name, kind in keys.items():
            yield f'<key id="{owner[0]}_{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>'
    yield '<graph id="knowledge" edgedefault="directed">'
    declared: set[str] = set()
    missing: dict[str, None] = {}
    for found in _exported(folder, report):
        document = to_document(found, folder.path)
        yield _node(found.note.id, {**document, **document.get("author", {})})
        declared.add(found.note.id)
        for one in document.get("observations", ()):
            declared.add(one["id"])
            yield _node(one["id"], {**one, "kind": "observation"})
            yield _edge(found.note.id, one["id"], {"type": "has_observation"})
        for target, values in _links(document):
            missing.setdefault(target)
            yield _edge(found.note.id, target, values)
    for target in missing:
        if target not in declared:
            yield _node(target, {"kind": "missing" if is_id(target) else target.partition(":")[0], "name": target})
    yield "</graph></graphml>"


def _links(document: Document) -> Iterator[tuple[str, Document]]:
    for one in document.get("about", ()):
        yield one["target"], {**one, "type": "about"}
    for one in document.get("relations", ()):
        yield one["to"], one


def _node(name: str, values: Document) -> str:
    return f"<node id={_attribute(name)}>{_data('n', values, _NODE_KEYS)}</node>"


def _edge(source: str, target: str, values: Document) -> str:
    ends = f"source={_attribute(source)} target={_attribute(target)}"
    return f"<edge {ends}>{_data('e', values, _EDGE_KEYS)}</edge>"


def _data(prefix: str, values: Document, keys: Mapping[str, str]) -> str:
    given = ((name, values[name]) for name in keys if name in values)
    return "".join(f'<data key="{prefix}_{name}">{_xml(_plain(value))}</data>' for name, value in given)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json_text(value)


def _xml(text: str) -> str:
    return xml_text(escape(text))


def _attribute(text: str) -> str:
    return xml_text(quoteattr(text))
