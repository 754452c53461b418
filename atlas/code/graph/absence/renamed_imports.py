"""A name that only imports give -> the symbol behind it: `import AjvCore from "./core"`, `from x import y as z`.

A definition never has such a name, so a lookup by name does not find it. Reads the index only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from atlas.code.reader import Reader
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node

MAX_NODES = 50
"""Symbols that mention the name, of which the files are read."""
MAX_FILES = 10
MAX_IMPORTS = 1_000
"""Import edges read of these files."""
_IMPORTING = (Label.MODULE, Label.FILE, Label.PACKAGE)


async def find_renamed(reader: Reader, name: str, where: Filter) -> list[Node]:
    """Return the symbols that files of the project import under this name, each once."""
    words = reader.split_words(name)[:1]
    hits = await reader.store.search_text(words, where, MAX_NODES) if words else []
    nodes = await reader.store.symbols([hit.uid for hit in hits])
    paths = list(dict.fromkeys(node.row.path for node in nodes if node.row.path))[:MAX_FILES]
    contents = await reader.store.content(where.project, paths)
    found: dict[str, Node] = {}
    for path in paths:
        lines = contents.get(path, b"").decode("utf-8", "replace").splitlines()
        renaming = {
            number: line for number, line in enumerate(lines, 1) if name in line and _original(line, name) is not None
        }
        if not renaming:
            continue
        importers = await reader.store.find(
            path, Match.PATH, Filter(project=where.project, labels=_IMPORTING), MAX_NODES
        )
        uids = [node.row.uid for node in importers]
        for edge in await reader.store.edges(uids, Direction.OUT, (EdgeType.IMPORTS,), MAX_IMPORTS):
            row = edge.node.row
            if any(_imports(renaming[line], name, row.name) for line in edge.row.lines if line in renaming):
                found.setdefault(row.uid, edge.node)
    return list(found.values())


def _original(line: str, name: str) -> str | None:
    """Return the name that a line imports under another one, "" for a default export; None if it renames nothing."""
    quoted = re.escape(name)
    if renamed := re.search(rf"(?<![\w$])([\w$]+)\s+as\s+{quoted}(?![\w$])", line):
        return "" if renamed[1] == "default" else renamed[1]
    return "" if re.search(rf"\bimport\s++(?:type\s++)?{quoted}\s*+(?:,|\bfrom\b)", line) else None


def _imports(line: str, name: str, target: str) -> bool:
    """Return whether a line imports `target` under `name`; of a default export, whose name the line does not hold."""
    original = _original(line, name)
    return target == original or (original == "" and target not in _words(line))


def _words(line: str) -> Iterable[str]:
    return re.findall(r"[\w$]+", line)
