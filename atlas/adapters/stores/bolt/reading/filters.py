"""A `Filter` as a condition on `e`, an `AtlasEntry`: its text is always a parameter, never part of the statement."""

from __future__ import annotations

from atlas.adapters.stores.bolt.connection import Transaction
from atlas.adapters.stores.bolt.reading.read import check_project
from atlas.adapters.stores.bolt.rows import PATH, unit_key
from atlas.adapters.stores.shared.filters import is_glob
from atlas.core.model import Filter

_SPECIAL = frozenset("\\.^$|()[]{}+*?/")


async def check_filter(transaction: Transaction, where: Filter) -> None:
    """Raise `NotFound` for an unknown project. Needed only for empty results: a hit proves that the project exists."""
    if where.project:
        await check_project(transaction, where.project)


def condition(where: Filter) -> tuple[str, dict[str, object]]:
    """Return the condition (each part begins with " AND ", "" when everything passes) and its parameters."""
    parts: list[str] = []
    parameters: dict[str, object] = {}
    if where.project:
        parts.append("e.unit STARTS WITH $filter_project")
        parameters["filter_project"] = unit_key(where.project, "")
    if is_glob(where.path):
        parts.append(f"{PATH} =~ $filter_path")
        parameters["filter_path"] = _expression(where.path)
    elif where.path:
        parts.append(f"{PATH} STARTS WITH $filter_path")
        parameters["filter_path"] = where.path
    if where.labels:
        parts.append("e.label IN $filter_labels")
        parameters["filter_labels"] = list(where.labels)
    if where.languages:
        parts.append("e.language IN $filter_languages")
        parameters["filter_languages"] = list(where.languages)
    if not where.include_tests:
        parts.append("NOT e.is_test")
    if not where.include_generated:
        parts.append("NOT e.is_generated")
    return "".join(f" AND {part}" for part in parts), parameters


def _expression(glob: str) -> str:
    """Return the glob as a regular expression that Java and ECMAScript read alike."""
    wild = {"*": "[\\s\\S]*", "?": "[\\s\\S]"}
    return "".join(wild.get(char) or (f"\\{char}" if char in _SPECIAL else char) for char in glob)
