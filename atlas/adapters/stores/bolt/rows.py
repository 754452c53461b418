"""Conversion of nodes, records and chunks to properties of a Bolt server and back. Pure.

A node is stored twice: as a `Symbol` node with the properties that queries see (without nulls), and as an `AtlasEntry`
without edges that carries digests, search words and the vector.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from atlas.adapters.stores.shared.properties import (
    EDGE_PROPERTIES,
    NODE_PROPERTIES,
    edge_properties,
    edge_values,
    node_values,
)
from atlas.core.edit_distance import fold
from atlas.core.errors import StoreError
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import PASSAGE, QUALITY, TEXT, Decision, EdgeRow, FileRecord, Label, Node, NodeRow, SearchText

WORDS = "words"
"""The searched property; lower case, because Memgraph lower-cases the names in a query."""
_TIMES = (8, 4, 2, 1, 2)
"""Number of repetitions of the words of each text of a `SearchText`: the column weights of the embedded store.

Both servers add up one score per property, so a short name would dominate. One property with repeated words is scored
as the embedded store scores its weighted columns.
"""

RECORD = ", ".join(
    f"u.{name}"
    for name in (
        *("path", "language", "digest", "size", "mtime_ns", "lines", "unit_digest", "unresolved", "resolved"),
        *("is_test", "is_generated", "problems", "stale"),
    )
)
"""Columns of a record, in the order of `FileRecord`."""

CANDIDATE = (
    "e.uid, coalesce(e.is_test, false), coalesce(e.name, e.folded, ''), coalesce(e.qualified_name, ''), "
    "coalesce(e.span, 0)"
)
"""Columns by which `find` orders nodes.

A reader may see a partly written node. The read is repeated then and must not fail before, so the columns have
defaults.
"""

PATH = "coalesce(e.path, substring(e.unit, size(split(e.unit, ':')[0]) + 1))"
"""The path of an entry, stored only where it differs from that of its unit."""


def places(names: Iterable[str]) -> str:
    """Return the properties of a CREATE from `row`, a list with the values in this order."""
    return ", ".join(f"{name}: row[{place}]" for place, name in enumerate(names))


SYMBOL = (
    *("uid", "label", "kind", "name", "qualified_name", "path", "language", "line", "start_line", "end_line"),
    *("signature", "docstring", "is_test", "is_generated", "exported", "modifiers", "project", "digest"),
)
"""Queries see these as properties of a node."""
SYMBOL_PLACES = places(SYMBOL)
"""For the values of `symbol_properties`."""
NOTE_PLACES = places((*SYMBOL, *NODE_PROPERTIES))
"""For the values of `note_properties`."""

NOTE_EDGE_PLACES = "".join(f", {name}: row[{place}]" for place, name in enumerate(EDGE_PROPERTIES, 6))
"""Of a relation or anchor of a note, after the places of every edge."""

ENTRY = (
    *("uid", "unit", "path", "label", "language", "is_test", "is_generated", "name", "folded", "qualified_name"),
    *("span", "digests", "chunk_digest", "chunk_name", "properties", WORDS, "is_passage", "is_text"),
)
"""Each property costs time on the server: values that are read together share one, derivable values have none."""
ENTRY_PLACES = places((*ENTRY, "decision"))
"""For the values of `entry_properties` and a decision."""

_DIGEST = 16
_SPAN = 32
"""Bits of the end offset in a span."""

_LITERAL = lazy_regex(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def unit_key(project: str, path: str) -> str:
    """Return the key of a unit; project names contain no colon."""
    return f"{project}:{path}"


def project_of(uid: str) -> str:
    """Return the project of a node."""
    return uid.partition(":")[0]


def vector_properties(space: str) -> tuple[str, str]:
    """Return the properties of an entry that name the model and the digest of its vector in a space.

    A node has one vector of its own space, and may have a second one of `QUALITY`.
    """
    return ("quality_model", "quality_digest") if space == QUALITY else ("vector_model", "vector_digest")


def with_properties(statement: str, space: str) -> str:
    """Return a stored statement for the vectors of a space."""
    model, digest = vector_properties(space)
    return statement.replace("%model%", model).replace("%digest%", digest)


def units_of(project: str) -> dict[str, object]:
    """Return the range of unit keys of a project: first key, end (exclusive)."""
    return {"unit": unit_key(project, ""), "end": f"{project}{chr(ord(':') + 1)}"}


def literal(name: str) -> str:
    """Return a label or relationship type for the text of a statement. Raises `StoreError` for any other name."""
    if not is_literal(name):
        raise StoreError(f"{name!r} cannot be a label or a relationship type")
    return name


@lru_cache(256)
def is_literal(name: str) -> bool:
    """Return whether a name can be a label or relationship type of the visible graph."""
    return bool(_LITERAL.fullmatch(name)) and not name.startswith("Atlas") and name != "Symbol"


def symbol_properties(project: str, row: NodeRow, file_digest: str) -> dict[str, object]:
    """Return the properties of a node that queries see."""
    values = (
        *(row.uid, row.label, row.kind, row.name, row.qualified_name, row.path or None, row.language or None),
        *(row.line or None, row.start_line or None, row.end_line or None, row.signature, row.docstring),
        *(row.is_test, row.is_generated, row.exported, row.modifiers.split(), project),
        *((file_digest or None) if row.path else None,),
    )
    return dict(zip(SYMBOL, values, strict=True))


def note_properties(properties: Mapping[str, object], row: NodeRow) -> dict[str, object]:
    """Return the properties of a note that queries see, given those of any node."""
    return {**properties, **dict.fromkeys(NODE_PROPERTIES), **node_values(row.properties)}


def edge_places(edge: EdgeRow) -> list[object]:
    """Return the values of an edge after the server ids of its ends, for `EDGE_PLACES` or `NOTE_EDGE_PLACES`."""
    values: list[object] = [edge.line or None, edge.strategy, edge.confidence, list(edge.lines) or None]
    if edge.properties:
        stated = edge_values(edge.properties)
        values += [stated.get(name) for name in EDGE_PROPERTIES]
    return values


def entry_properties(project: str, path: str, row: NodeRow, text: SearchText | None) -> dict[str, object]:
    """Return the internal properties of a node, except vector and decision, which survive its changes.

    Null stands for derivable values: the path of the unit, a name in lower case.
    """
    folded = fold(row.name)
    values = (
        *(row.uid, unit_key(project, path), None if row.path == path else row.path, row.label, row.language),
        *(row.is_test, row.is_generated, None if row.name == folded else row.name, folded, row.qualified_name),
        *(row.start_byte << _SPAN | row.end_byte, _digests(project, path, row, text), row.chunk_digest),
        *(row.chunk_name or None, row.properties or None, _repeated(text) if text is not None else None),
        *(True if row.label == Label.CHUNK and row.kind == kind else None for kind in (PASSAGE, TEXT)),
    )
    return dict(zip(ENTRY, values, strict=True))


def _digests(project: str, path: str, row: NodeRow, text: SearchText | None) -> str:
    """Return the digests of the row and its parts, 16 characters each, blanks where there is none."""
    parts = (row.signature_digest, row.body_digest, row.docstring_digest, row.text_digest)
    return row_digest(project, path, row, text) + "".join(f"{part:{_DIGEST}}" for part in parts)


def digests_of(text: str) -> list[str]:
    """Return the digests of signature, body, docstring and text in the `digests` of an entry."""
    return [text[start : start + _DIGEST].rstrip() for start in range(_DIGEST, 5 * _DIGEST, _DIGEST)]


def is_row(digests: str, digest: str) -> bool:
    """Return whether the `digests` of an entry belong to the row with this digest."""
    return digests.startswith(digest)


def span_of(span: int) -> tuple[int, int]:
    """Return start and end (exclusive) in bytes from the `span` of an entry."""
    return span >> _SPAN, span & (1 << _SPAN) - 1


def decision_text(decision: Decision | None) -> str | None:
    """Return a decision in the form that an entry stores."""
    return f"{decision.reason}{':through' if decision.through else ''}" if decision is not None else None


def decision_of(uid: str, text: str) -> Decision:
    """Inverse of `decision_text`."""
    reason, _, through = text.partition(":")
    return Decision(uid, bool(through), reason)


def _repeated(text: SearchText) -> str:
    return "".join([(words + " ") * times for words, times in zip(text[1:], _TIMES, strict=True) if words])[:-1]


def row_digest(project: str, path: str, row: NodeRow, text: SearchText | None) -> str:
    """Return 16 hex digits over all stored values of a node except the digest of its file."""
    said = repr((project, path, tuple(row), tuple(text) if text is not None else None))
    return hashlib.blake2b(said.encode("utf8", "surrogatepass"), digest_size=8).hexdigest()


def node_of(row: Sequence[Any]) -> Node:
    """Return the node for a row of the statement `nodes`."""
    *values, digests, chunk_digest, chunk_name, properties = row
    values[5] = values[5] or ""
    values[7:10] = [number or 0 for number in values[7:10]]
    values[10:11] = span_of(values[10])
    values[17] = " ".join(values[17] or ())
    embedded = (chunk_digest, chunk_name or "")
    row = NodeRow._make((*values, *digests_of(digests), *embedded, properties or ""))
    return Node(project_of(row.uid), row)


def edge_of(row: Sequence[Any]) -> EdgeRow:
    """Return the edge for a row of (source, target, type, line, strategy, confidence, lines, properties).

    Lines are all of them or null, properties those that queries see, a JSON text or null.
    """
    *values, lines, said = row
    properties = said or ""
    if not isinstance(properties, str):
        properties = edge_properties(cast("dict[str, object]", properties))
    return EdgeRow._make((*values, tuple(lines[1:]) if lines else (), properties))


def record_properties(project: str, record: FileRecord, content: bytes | None) -> dict[str, object]:
    """Return the properties of a unit; stored content stays if none is given."""
    properties: dict[str, object] = {
        "key": unit_key(project, record.path),
        "project": project,
        "path": record.path,
        "language": record.language,
        "digest": record.digest,
        "size": record.size,
        "mtime_ns": record.mtime_ns,
        "lines": record.lines,
        "unit_digest": record.unit_digest,
        "unresolved": record.unresolved,
        "resolved": record.resolved,
        "is_test": record.is_test,
        "is_generated": record.is_generated,
        "problems": "\n".join(record.problems),
        "stale": record.stale,
    }
    # Memgraph has no byte strings.
    return properties if content is None else {**properties, "content": packed(content)}


def record_of(row: Sequence[Any]) -> FileRecord:
    """Return the record for a row of the columns `RECORD`."""
    return FileRecord(*row[:11], problems=tuple(row[11].split("\n")) if row[11] else (), stale=row[12])


def packed(content: bytes) -> str:
    """Return bytes as text."""
    return base64.b64encode(zlib.compress(content)).decode("ascii")


def unpacked(text: str) -> bytes:
    """Inverse of `packed`."""
    return zlib.decompress(base64.b64decode(text))
