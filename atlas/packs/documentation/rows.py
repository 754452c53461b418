"""Rows of a pack's nodes. Pure.

Their `properties`: see `PROPERTIES`. The uid
of a passage or fact is that of its section, "/" and its number or digest; it has no qualified name, which would be the
same text again, twice with the index of names.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from atlas.core.ids import make_uid
from atlas.core.model import EdgeType, Label, NodeRow

PROSE_LANGUAGE = "prose"
MAX_NAME = 200
COMMON = frozenset((
    "uid", "project", "label", "kind", "name", "qualified_name", "path", "language", "line", "start_line", "end_line",
    "signature", "docstring", "digest",
))  # fmt: skip
"""Properties that every node may have."""
PROPERTIES: Mapping[str, frozenset[str]] = {
    Label.PROJECT: frozenset(),
    Label.ARTICLE: frozenset((
        "url", "format", "licence", "source", "version", "retrieved", "word_count", "section_count", "expansion_state",
        "content",
    )),
    Label.SECTION: frozenset(("anchor", "level", "index", "url", "word_count", "content")),
    Label.CHUNK: frozenset(("index", "subject", "word_count", "content")),
    Label.CATEGORY: frozenset(("article_count",)),
    Label.ENTITY: frozenset(("aliases", "section", "code", "since", "deprecated", "removed", "origin")),
    Label.FACT: frozenset(("subject", "value", "origin", "since", "deprecated", "removed")),
}  # fmt: skip
"""Further properties by label; each entity of `entity_rows` has those that are known of it."""
EDGE_PROPERTIES: Mapping[str, frozenset[str]] = {
    EdgeType.HAS_SECTION: frozenset(("index",)),
    EdgeType.HAS_CHUNK: frozenset(("index",)),
    EdgeType.HAS_ENTITY: frozenset(),
    EdgeType.HAS_FACT: frozenset(),
    EdgeType.ENTITY_RELATION: frozenset(("type",)),
    EdgeType.IN_CATEGORY: frozenset(),
    EdgeType.LINKS_TO: frozenset(),
}
"""By type, besides line, lines, strategy and confidence, which all edges have."""
OF_EDGES = frozenset(("line", "lines", "strategy", "confidence"))
_WITHOUT_NAME = frozenset((Label.CHUNK, Label.FACT))


def digest(*parts: object) -> str:
    """Return 16 hex digits over some values."""
    return hashlib.blake2b(repr(parts).encode("utf8", "surrogatepass"), digest_size=8).hexdigest()


def properties_text(values: Mapping[str, object]) -> str:
    """Return properties as JSON with sorted keys, without empty values; "" if none is left."""
    known = {name: value for name, value in values.items() if value not in ("", None, (), [])}
    return json.dumps(known, ensure_ascii=False, sort_keys=True, separators=(",", ":")) if known else ""


def node_row(
    pack: str,
    label: str,
    kind: str,
    name: str,
    qualified_name: str,
    path: str,
    *,
    line: int = 0,
    span: tuple[int, int] = (0, 0),
    signature: str = "",
    docstring: str = "",
    chunk: tuple[str, str] = ("", ""),
    properties: Mapping[str, object] | None = None,
) -> NodeRow:
    """Return the row of a node; `chunk` has digest and name of the text that is embedded."""
    name = name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
    said = properties_text(properties or {})
    return NodeRow(
        uid=make_uid(pack, qualified_name),
        label=label,
        kind=kind,
        name=name,
        qualified_name="" if label in _WITHOUT_NAME else qualified_name,
        path=path,
        language=PROSE_LANGUAGE if path else "",
        line=line,
        start_line=line,
        end_line=line,
        start_byte=span[0],
        end_byte=span[1],
        signature=signature,
        docstring=docstring,
        chunk_digest=chunk[0],
        chunk_name=chunk[1],
        properties=said,
    )
