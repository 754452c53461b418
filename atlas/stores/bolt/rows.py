"""Nodes, records and chunks as the properties a Bolt server holds, and back. Pure.

A node is kept twice: as a `Symbol` node with what queries may see (nothing is shown as null), and as an `AtlasEntry`
without edges that carries the rest: digests, the words that are searched and the vector.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from atlas.errors import StoreError
from atlas.model import Decision, FileRecord, Node, NodeRow, SearchText
from atlas.stores.shared.names import fold

Row = tuple[Any, ...]

WORDS = "words"
"""The property that is searched; lower case, because Memgraph lower-cases the names in a query."""
_TIMES = (8, 4, 2, 1, 2)
"""How often the words of each text of a `SearchText` stand in it: the weights of the embedded store's columns.

Both servers would add up a score for each of several properties, and one short name would outweigh all else; one
property with repeated words is scored as the embedded store scores its weighted columns.
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
"""Columns of a node that `find` orders by. A reader may meet half a node: it reads again, and must not fail before."""

PATH = "coalesce(e.path, substring(e.unit, size(split(e.unit, ':')[0]) + 1))"
"""The path of an entry: it is kept where it is not that of its unit."""


def places(names: Iterable[str]) -> str:
    """Return the properties of a CREATE from `row`, a list with the values in this order."""
    return ", ".join(f"{name}: row[{place}]" for place, name in enumerate(names))


SYMBOL = (
    *("uid", "kind", "name", "qualified_name", "path", "language", "line", "start_line", "end_line", "signature"),
    *("docstring", "is_test", "is_generated", "exported", "modifiers", "project", "digest"),
)
SYMBOL_PLACES = places(SYMBOL)
"""For the values of `symbol_properties`."""

ENTRY = (
    *("uid", "unit", "path", "label", "language", "is_test", "is_generated", "name", "folded", "qualified_name"),
    *("span", "digests", "chunk_digest", "chunk_name", WORDS),
)
"""What a property costs the server counts: what is read together is one, and what follows from others is none."""
ENTRY_PLACES = places((*ENTRY, "decision"))
"""For the values of `entry_properties` and a decision."""

_DIGEST = 16
_SPAN = 32
"""Bits of the end in a span."""

_LITERAL = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def unit_key(project: str, path: str) -> str:
    """Return the key of a unit; a project's name holds no colon."""
    return f"{project}:{path}"


def project_of(uid: str) -> str:
    """Return the project of a node."""
    return uid.partition(":")[0]


def units_of(project: str) -> dict[str, object]:
    """Return the ends of the range of unit keys that are a project's: from `unit` on, before `end`."""
    return {"unit": unit_key(project, ""), "end": f"{project}{chr(ord(':') + 1)}"}


def literal(name: str) -> str:
    """Return a label or relationship type that becomes part of a statement's text. Raises `StoreError` for others."""
    if not is_literal(name):
        raise StoreError(f"{name!r} cannot be a label or a relationship type")
    return name


@lru_cache(256)
def is_literal(name: str) -> bool:
    """Tell whether a name can be a label or relationship type of the graph that queries see."""
    return bool(_LITERAL.fullmatch(name)) and not name.startswith("Atlas") and name != "Symbol"


def symbol_properties(project: str, row: NodeRow, file_digest: str) -> dict[str, object]:
    """Return what queries see of a node."""
    values = (
        *(row.uid, row.kind, row.name, row.qualified_name, row.path or None, row.language or None, row.line or None),
        *(row.start_line or None, row.end_line or None, row.signature, row.docstring, row.is_test, row.is_generated),
        *(row.exported, row.modifiers.split(), project, (file_digest or None) if row.path else None),
    )
    return dict(zip(SYMBOL, values, strict=True))


def entry_properties(project: str, path: str, row: NodeRow, text: SearchText | None) -> dict[str, object]:
    """Return what the store alone sees of a node, without vector and decision, which outlive its changes.

    Null is for what follows from others: the path of the unit, a name in lower case.
    """
    folded = fold(row.name)
    values = (
        *(row.uid, unit_key(project, path), None if row.path == path else row.path, row.label, row.language),
        *(row.is_test, row.is_generated, None if row.name == folded else row.name, folded, row.qualified_name),
        *(row.start_byte << _SPAN | row.end_byte, _digests(project, path, row, text), row.chunk_digest),
        *(row.chunk_name or None, _repeated(text) if text is not None else None),
    )
    return dict(zip(ENTRY, values, strict=True))


def _digests(project: str, path: str, row: NodeRow, text: SearchText | None) -> str:
    """Return the row's digest and those of its parts, 16 characters each: blanks where there is none."""
    parts = (row.signature_digest, row.body_digest, row.docstring_digest, row.text_digest)
    return row_digest(project, path, row, text) + "".join(f"{part:{_DIGEST}}" for part in parts)


def digests_of(text: str) -> list[str]:
    """Return the digests of signature, body, docstring and text that `digests` of an entry holds."""
    return [text[start : start + _DIGEST].rstrip() for start in range(_DIGEST, 5 * _DIGEST, _DIGEST)]


def is_row(digests: str, digest: str) -> bool:
    """Tell whether the `digests` of an entry are those of the row with this digest."""
    return digests.startswith(digest)


def span_of(span: int) -> tuple[int, int]:
    """Return the first byte and the one behind the last that `span` of an entry holds."""
    return span >> _SPAN, span & (1 << _SPAN) - 1


def decision_text(decision: Decision | None) -> str | None:
    """Return a decision as an entry holds it."""
    return f"{decision.reason}{':through' if decision.through else ''}" if decision is not None else None


def decision_of(uid: str, text: str) -> Decision:
    """Return the decision of `decision_text`."""
    reason, _, through = text.partition(":")
    return Decision(uid, bool(through), reason)


def _repeated(text: SearchText) -> str:
    return "".join([(words + " ") * times for words, times in zip(text[1:], _TIMES, strict=True) if words])[:-1]


def row_digest(project: str, path: str, row: NodeRow, text: SearchText | None) -> str:
    """Return 16 hex digits over all that is written of a node but the digest of its file."""
    said = repr((project, path, tuple(row), tuple(text) if text is not None else None))
    return hashlib.blake2b(said.encode("utf8", "surrogatepass"), digest_size=8).hexdigest()


def node_of(row: Sequence[Any]) -> Node:
    """Return the node of a row of the statement `nodes`."""
    *values, digests, chunk_digest, chunk_name = row
    values[5] = values[5] or ""
    values[7:10] = [number or 0 for number in values[7:10]]
    values[10:11] = span_of(values[10])
    values[17] = " ".join(values[17] or ())
    return Node(project_of(values[0]), NodeRow._make((*values, *digests_of(digests), chunk_digest, chunk_name or "")))


def record_properties(project: str, record: FileRecord, content: bytes | None) -> dict[str, object]:
    """Return the properties of a unit; without content, those that are stored stay."""
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
    # Memgraph has no byte strings
    return properties if content is None else {**properties, "content": packed(content)}


def record_of(row: Sequence[Any]) -> FileRecord:
    """Return the record of a row of the columns `RECORD`."""
    return FileRecord(*row[:11], problems=tuple(row[11].split("\n")) if row[11] else (), stale=row[12])


def packed(content: bytes) -> str:
    """Return bytes as text."""
    return base64.b64encode(zlib.compress(content)).decode("ascii")


def unpacked(text: str) -> bytes:
    """Return the bytes of `packed`."""
    return zlib.decompress(base64.b64decode(text))
