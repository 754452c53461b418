"""Find the files that written paths mean: as the index has them, or with fewer or more folders in front."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace

from atlas.code.reader import Reader
from atlas.core.model import Filter, Label, Match, Node

MAX_SEGMENTS = 16
MAX_NODES = 10_000
TOPS = (Label.MODULE, Label.PACKAGE, Label.FILE, Label.DOC_FILE, Label.ADR)
_TIES = 20


def relative(reader: Reader, path: str) -> str:
    """Return a path in the form of the index: "/"-separated and relative to the project's root.

    Other text is unchanged.
    """
    path = path.replace("\\", "/")
    root = reader.root.as_posix().rstrip("/") + "/"
    return path.removeprefix(root).removeprefix("./")


def innermost(nodes: Iterable[Node], line: int, last: int = 0) -> Node | None:
    """Return the smallest node of a file that spans a line, or all lines up to `last`."""
    spanning = (node for node in nodes if node.row.start_line <= line and max(line, last) <= node.row.end_line)
    return min(spanning, key=lambda node: node.row.end_byte - node.row.start_byte, default=None)


async def find_files(reader: Reader, written: str, where: Filter) -> list[list[Node]]:
    """Return the nodes of each file that a written path means: equal, else longer, else shorter than it is written."""
    parts = [part for part in relative(reader, written).split("/") if part not in ("", ".", "..")][-MAX_SEGMENTS:]
    path = "/".join(parts)
    paths = [path] if not path or await reader.store.find(path, Match.PATH, where, 1) else []
    paths = paths or await _ending(reader, path, where) or [each async for each in _shorter(reader, parts, where)][:1]
    found = await asyncio.gather(*(reader.store.find(each, Match.PATH, where, MAX_NODES) for each in paths if each))
    return [nodes for nodes in found if nodes]


async def _ending(reader: Reader, path: str, where: Filter) -> list[str]:
    """Return the paths of the index that end with a written one: those of tests last, shorter ones first."""
    folder, _, name = path.rpartition("/")
    names = (name, name.rpartition(".")[0], name.partition(".")[0], folder.rpartition("/")[2])
    is_plain = not where.path and not any(sign in name for sign in "*?[")
    tops = replace(where, labels=TOPS, path=f"*{name}" if is_plain else where.path)
    found = await asyncio.gather(
        *(reader.store.find(each, Match.SUFFIX, tops, _TIES) for each in dict.fromkeys(names) if each)
    )
    rows = [node.row for nodes in found for node in nodes if f"/{node.row.path}".endswith(f"/{path}")]
    rows.sort(key=lambda row: (row.is_test, row.path.count("/"), row.path))
    return list(dict.fromkeys(row.path for row in rows))


async def _shorter(reader: Reader, parts: Sequence[str], where: Filter) -> AsyncIterator[str]:
    """Yield the paths of the index that a written one ends with, the longest first.

    A file at the root is meant only below the name of the project: `other/setup.py` is not `setup.py`.
    """
    for at in range(1, len(parts)):
        if at == len(parts) - 1 and parts[at - 1] not in (where.project, reader.root.name):
            return
        path = "/".join(parts[at:])
        if await reader.store.find(path, Match.PATH, where, 1):
            yield path
