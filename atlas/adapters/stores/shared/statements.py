"""Statements in files: SQL under `sqlite/sql/`, Cypher under `bolt/statements/`.

Each statement begins with a line `-- name: <name>` (SQL) or `// name: <name>` (Cypher).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from atlas.core.lazy_regex import lazy_regex

_STORES = Path(__file__).parents[1]
_HEADING = lazy_regex(r"^(?:--|//) name: (\w+)$", re.MULTILINE)


def schema() -> str:
    """Return the script that creates an empty store."""
    return _read("sqlite/sql/schema.sql")


@cache
def statements(file: str) -> Mapping[str, str]:
    """Return the statements of `sqlite/sql/<file>.sql` by name."""
    return _named(_read(f"sqlite/sql/{file}.sql"))


@cache
def cypher_statements(file: str) -> Mapping[str, str]:
    """Return the statements of `bolt/statements/<file>.cypher` by name; `%word%` is a placeholder for literal text."""
    return _named(_read(f"bolt/statements/{file}.cypher"))


def _named(text: str) -> Mapping[str, str]:
    parts = _HEADING.split(text)
    return MappingProxyType(dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True)))


def _read(file: str) -> str:
    return (_STORES / file).read_text("utf8")
