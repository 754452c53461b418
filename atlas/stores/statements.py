"""SQL statements kept as files under `sql/`: each begins with a line `-- name: <name>`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

_HEADING = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def schema() -> str:
    """Return the script that makes an empty store."""
    return _read("schema")


@cache
def statements(file: str) -> Mapping[str, str]:
    """Return the statements of `sql/<file>.sql` by name."""
    parts = _HEADING.split(_read(file))
    return MappingProxyType(dict(zip(parts[1::2], (text.strip() for text in parts[2::2]), strict=True)))


def _read(file: str) -> str:
    return (resources.files("atlas.stores") / "sql" / f"{file}.sql").read_text("utf8")
