"""The further properties of notes, packages, packs and their edges.

A JSON text in rows, properties of their own in queries. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

NODE_PROPERTIES: Mapping[str, str] = MappingProxyType(
    {
        "status": "str",
        "confidence": "float",
        "source": "str",
        "created": "str",
        "updated": "str",
        "client": "str",
        "agent": "str",
        "type": "str",
        "aliases": "json",
        "ecosystem": "str",
        "import_name": "str",
        "standard": "str",
        "url": "str",
        "format": "str",
        "licence": "str",
        "subject": "str",
        "value": "str",
        "since": "str",
        "deprecated": "str",
        "removed": "str",
        "origin": "str",
        "code": "str",
        "section": "str",
        "version": "str",
        "retrieved": "str",
        "anchor": "str",
        "level": "int",
        "index": "int",
        "word_count": "int",
        "section_count": "int",
        "article_count": "int",
        "expansion_state": "str",
    }
)
"""Of notes, external packages and packs: name -> kind of value (`json`: a list of texts).

Queries see these names only.
"""

EDGE_PROPERTIES: Mapping[str, str] = MappingProxyType(
    {
        "reasoning": "str",
        "created": "str",
        "type": "str",
        "types": "json",
        "signature": "str",
        "body": "str",
        "docstring": "str",
        "path": "str",
        "anchor_line": "int",
        "commit": "str",
        "kind": "str",
        "ecosystem": "str",
        "package": "str",
        "group": "str",
        "range": "str",
        "marker": "str",
        "locked": "str",
        "lock": "str",
        "also": "json",
        "depth": "int",
        "index": "int",
    }
)
"""Of relations, anchors, dependencies and tests, like `NODE_PROPERTIES`.

`line` of an anchor is `anchor_line`, since edges have a line; `depth` is the number of steps from a test to what it
reaches.
"""

_KEYS = {"anchor_line": "line"}


def json_key(name: str) -> str:
    """Return the key in the JSON object of a property that queries see."""
    return _KEYS.get(name, name)


def node_values(properties: str) -> dict[str, object]:
    """Return the properties of a note or package that queries see; {} for other nodes."""
    return _values(properties, NODE_PROPERTIES)


def edge_values(properties: str) -> dict[str, object]:
    """Return the properties of a relation, anchor or dependency that queries see; {} for other edges."""
    return _values(properties, EDGE_PROPERTIES)


def edge_properties(values: Mapping[str, object]) -> str:
    """Inverse of `edge_values`; other values are ignored."""
    known = {json_key(name): values[name] for name in EDGE_PROPERTIES if values.get(name) is not None}
    return json.dumps(known, ensure_ascii=False, sort_keys=True, separators=(",", ":")) if known else ""


def parsed(text: str) -> object:
    """Return the value of a JSON text; None for a text that is none, since a store's file may come from anywhere."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _values(properties: str, names: Mapping[str, str]) -> dict[str, object]:
    found = parsed(properties) if properties else None
    if not isinstance(found, dict):
        return {}
    found = cast("dict[str, object]", found)
    return {name: value for name in names if (value := found.get(json_key(name))) is not None}
