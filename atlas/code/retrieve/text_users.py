"""Find who uses the constants and exceptions that hold a text: where a message comes from is where it is raised."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from atlas.code.reader import Reader
from atlas.code.retrieve.channels import ExactLine
from atlas.code.retrieve.written_files import innermost
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Label, Node
from atlas.parsing import read_path
from atlas.parsing.lines import MAX_FILE_BYTES

MOST_HOLDERS = 2
"""Constants and classes with the text whose users are looked for."""
MOST_USERS = 3
MAX_EDGES = 60
_HOLDERS = (Label.VALUE, Label.CLASS)
_USING = (EdgeType.CALLS, EdgeType.REFERENCES)
_COMMENT = lazy_regex(r"\s*(?:#|//|\*|/\*|--|;|\"\"\"|import\b|from\b|export\s*[{*])")


async def users_of_holders(
    reader: Reader, holders: Sequence[Node], inside: Mapping[str, Sequence[Node]]
) -> dict[str, list[ExactLine]]:
    """Return the lines that use what holds a text, by its uid: by edges, and by name in the same file.

    `inside`: the definitions of files that are known. Raises store errors.
    """
    found: dict[str, list[ExactLine]] = {}
    for node in [each for each in holders if each.row.label in _HOLDERS][:MOST_HOLDERS]:
        row = node.row
        edges = await reader.store.edges([row.uid], Direction.IN, _USING, MAX_EDGES)
        users = [edge for edge in edges if not edge.node.row.is_test and edge.node.row.label not in _HOLDERS]
        places = {(edge.node.row.path, line): edge.node for edge in users for line in edge.row.lines}
        texts = {path: _lines(reader, path) for path in {row.path, *(path for path, _ in places)}}
        word = re.compile(rf"(?<![\w$'\"]){re.escape(row.name)}(?![\w$])")
        for number, line in enumerate(texts[row.path], 1):
            is_inside = row.start_line <= number <= row.end_line or _COMMENT.match(line)
            around = innermost(inside.get(row.path, ()), number) if not is_inside and word.search(line) else None
            if around is not None and around.row.label not in (*_HOLDERS, Label.MODULE, Label.FILE):
                places.setdefault((row.path, number), around)
        ordered = sorted(places.items(), key=lambda each: (each[0][0] != row.path, each[0]))
        found[row.uid] = [
            ExactLine(path, number, f"{texts[path][number - 1].strip()}  <- {_where(user, path, row.path)}")
            for (path, number), user in ordered[:MOST_USERS]
            if number <= len(texts[path])
        ]
    return found


def _where(user: Node, path: str, own: str) -> str:
    return f"in {user.row.name}" if path == own else f"in {user.row.name} of {path}"


def _lines(reader: Reader, path: str) -> list[str]:
    content = read_path(str(reader.root), path, MAX_FILE_BYTES)
    return content.decode("utf-8", "replace").split("\n") if content is not None else []
