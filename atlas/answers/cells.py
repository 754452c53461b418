"""Values of a table as short JSON and as text on one line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from atlas.core.invisible import escaped_text

CELL_CHARACTERS = 1_000
"""Longer table cells are truncated and state their full length."""


def cell(value: object) -> str:
    """Return one table cell on one line; see `cell_value`."""
    short = cell_value(value)
    if isinstance(value, Mapping) and isinstance(short, str):
        text = f"({short})"
    elif isinstance(short, str):
        text = short
    elif isinstance(short, dict | list):
        text = json.dumps(short, ensure_ascii=False, separators=(",", ":"))
    else:
        text = "null" if short is None else str(short).lower() if isinstance(short, bool) else str(short)
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("|", "\\|")


def cell_value(value: object) -> object:
    """Return a value of a table as short JSON: nodes as label, uid and place, edges as type and evidence.

    Long text is cut and states its length; properties without a value are omitted. Texts may be those of notes:
    characters that are not visible, other than line ends and tabs, are escaped.
    """
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        if "_label" in entries:
            place = f" {entries['path']}:{entries.get('line') or 1}" if entries.get("path") else ""
            return f"{entries['_label']} {entries['uid']}{place}"
        if "_type" in entries:
            return f"{entries['_type']} {entries.get('strategy', '')} {entries.get('confidence', '')}".rstrip()
        return {key: cell_value(item) for key, item in entries.items() if item not in (None, "", [], {})}
    if isinstance(value, list | tuple):
        return [cell_value(item) for item in cast("Sequence[object]", value)]
    if isinstance(value, str):
        return escaped_text(value if len(value) <= CELL_CHARACTERS else _shortened(value))
    return value


def _shortened(text: str) -> str:
    return f"{text[:CELL_CHARACTERS]}... ({len(text)} characters)"
