"""Which nodes belong to which vector space. Pure."""

from __future__ import annotations

from atlas.model import CODE, PROSE, PROSE_LABELS

SPACES = (CODE, PROSE)
"""In the order of names."""

_LABELS = ", ".join(f"'{label}'" for label in sorted(PROSE_LABELS))


def space_of(label: str) -> str:
    """Return the space of the nodes of a label."""
    return PROSE if label in PROSE_LABELS else CODE


def sql_is_prose(column: str) -> str:
    """Return the SQL condition that a column holds a label of prose."""
    return f"{column} IN ({_LABELS})"
