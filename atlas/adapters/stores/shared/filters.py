"""The two forms of a `Filter`: SQL over `node n` and `file f`, and a predicate over a node.

A path filter is a prefix, or a glob of the whole path if it contains `*` or `?`. Both wildcards match any character
including "/"; brackets are literal.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import apsw

from atlas.adapters.stores.sqlite.rows import fetch, kept, select, value
from atlas.core.errors import NotFound
from atlas.core.model import Filter, Node

_LAST = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Restriction:
    """A filter as SQL: `where` starts with " AND " or is empty, `join` adds `file f` where needed."""

    join: str
    where: str
    bindings: dict[str, str | int]


def project_id(connection: apsw.Connection, project: str) -> int:
    """Return the id of a project. Raises `NotFound` with the names of the existing projects."""
    return kept(connection, f"project {project}", lambda: _project_id(connection, project))


def _project_id(connection: apsw.Connection, project: str) -> int:
    found = fetch(connection, "SELECT id FROM project WHERE name = ?", (project,))
    if not found:
        names = [name for (name,) in select(connection, "SELECT name FROM project ORDER BY name")]
        raise unknown_project(project, names)
    return found[0][0]


def unknown_project(project: str, names: list[str]) -> NotFound:
    """Return the error for a project that is not in the store."""
    known = f"indexed: {', '.join(names[:10])}" if names else "run: atlas index"
    return NotFound(f"no project {project!r} in this index", known, names[:10])


def restriction(connection: apsw.Connection, where: Filter) -> Restriction:
    """Return the filter as SQL with its text as bound values. Raises `NotFound` for an unknown project."""
    on_node: list[str] = []
    on_file: list[str] = []
    bindings: dict[str, str | int] = {}
    if where.project:
        wanted = project_id(connection, where.project)
        if kept(connection, "project count", lambda: value(connection, "SELECT count(*) FROM project")) > 1:
            on_file.append("f.project = :project")
            bindings["project"] = wanted
    if is_glob(where.path):
        on_file.append("f.path GLOB :path")
        bindings["path"] = where.path.replace("[", "[[]")
    elif where.path:
        on_file.append("f.path >= :path AND f.path < :path_end")
        bindings["path"], bindings["path_end"] = where.path, where.path + _LAST
    if where.languages:
        on_file.append("f.language IN (SELECT value FROM json_each(:languages))")
        bindings["languages"] = json.dumps(where.languages)
    if where.labels:
        on_node.append("n.label IN (SELECT value FROM json_each(:labels))")
        bindings["labels"] = json.dumps(where.labels)
    if not where.include_tests:
        on_node.append("NOT n.is_test")
    if not where.include_generated:
        on_node.append("NOT n.is_generated")
    join = "CROSS JOIN file f ON f.id = n.file" if on_file else ""
    return Restriction(join, "".join(f" AND {part}" for part in (*on_node, *on_file)), bindings)


def is_glob(path: str) -> bool:
    """Return whether a path filter is a glob."""
    return "*" in path or "?" in path


def predicate(where: Filter) -> Callable[[Node], bool]:
    """Return the filter as a predicate over a node."""
    pattern = where.path.replace("[", "[[]")

    def matches(node: Node) -> bool:
        row = node.row
        in_path = fnmatchcase(row.path, pattern) if is_glob(where.path) else row.path.startswith(where.path)
        return (
            (not where.project or node.project == where.project)
            and in_path
            and (not where.labels or row.label in where.labels)
            and (not where.languages or row.language in where.languages)
            and (where.include_tests or not row.is_test)
            and (where.include_generated or not row.is_generated)
        )

    return matches
