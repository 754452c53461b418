"""Find the lines of indexed text that have a name as a whole word, whether or not the graph has an edge for them.

What a reader with grep sees: each line with the symbol around it, and whether it sets the name. Reads the index only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from atlas.code.graph.absence.accesses import MOST_BEHIND, LineAccess, access_at
from atlas.code.graph.absence.occurrences import lines_with_name
from atlas.code.reader import Reader, batches
from atlas.code.retrieve.written_files import innermost
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match, Node

MAX_NODES = 400
"""Symbols that contain the word whose files are read."""
MAX_FILES = 60
MAX_LINES = 400
"""Lines of one name that are counted."""
MAX_LINE = 400
"""Characters of a line that are looked at; longer ones are data."""
_TESTS = lazy_regex(r"\s{0,200}(?:\}\s?)?(?:else\s)?(?:if|elif|elsif|unless|when|case)\b")
_CALLED = lazy_regex(r"\(\)?$")
"""What a call of it adds to a name: `$logger->info()`."""
_LOGS = lazy_regex(
    r"\s{0,200}(?:(?:this|self|@?_?\w{1,30})(?:\.|->|::))?(?P<call>_?(?:log(?:ger|ging)?|console|debug|print(?:f|ln)?)(?:\.\w{1,20})?)!?\s?\("
)
"""Opens a call that writes to a log: what stands in it is said, not used."""
LINES_ABOVE = 12
_PROSE = (Label.DOC_SECTION, Label.DOC_FILE, Label.ADR)


@dataclass(frozen=True, slots=True)
class NameLine:
    """A line that has the name."""

    path: str
    line: int
    text: str
    """Without the space around it."""
    sets: bool
    """Whether the line gives the name a value."""
    may_change: bool = False
    """Whether it may change what the name holds: by a call, through a member, by a reference to it."""
    inside: Node | None = None
    """The definition around it; None at the top of a file."""
    logged: str = ""
    """Of a value that a line hands to a log: the call, with its line."""
    behind: tuple[str, ...] = ()
    """Of a line that tests the name, such as `if self.redirect:`: what it does then, indented as in the file."""


@dataclass(frozen=True, slots=True)
class NameLines:
    """The lines that have a name: code before documents, code before tests, in order."""

    name: str
    lines: tuple[NameLine, ...] = ()
    more: bool = False
    """Whether there may be further ones: not all files could be read."""


async def find_name_lines(
    reader: Reader,
    name: str,
    project: str,
    known: Collection[tuple[str, int]] = (),
    *,
    prose: bool = True,
    near: Collection[str] = (),
) -> NameLines:
    """Return the lines that have a name, without the known ones (path, line). Raises store errors.

    The files of known lines come first, and those at the paths `near`.

    `name` is an identifier, or code such as `c->funcs->read`, as it is written.
    """
    name = _CALLED.sub("", name) or name
    words = reader.split_words(name)
    hits = await reader.store.search_text(
        words[:1] if name.isidentifier() else words, Filter(project=project), MAX_NODES
    )
    nodes = [node for node in await reader.store.symbols([hit.uid for hit in hits]) if node.row.path]
    if not prose:
        nodes = [node for node in nodes if node.row.label not in _PROSE]
    first = frozenset((*near, *(path for path, _ in known)))
    order = {node.row.path: _order(node, first) for node in reversed(nodes)}
    paths = sorted(order, key=lambda path: order[path])
    pattern, found = _pattern(name), list[NameLine]()
    for some in batches(paths[:MAX_FILES]):
        contents = await reader.store.content(project, some)
        for path in some:
            lines = _lines(path, contents.get(path, b""), name, pattern)
            found += (each for each in lines if (path, each.line) not in known)
        if len(found) >= MAX_LINES:
            break
    return NameLines(name, tuple(found[:MAX_LINES]), len(paths) > MAX_FILES or len(hits) >= MAX_NODES)


def _order(node: Node, near: frozenset[str]) -> tuple[bool, bool, bool, bool, str]:
    """Return the order of files: code before settings and documents, no tests, those of the symbol, by path."""
    row = node.row
    return (row.label in _PROSE, row.label == Label.CHUNK, row.is_test, row.path not in near, row.path)


async def with_symbols(reader: Reader, found: Sequence[NameLine], project: str) -> list[NameLine]:
    """Return lines with the definitions around them. Raises store errors."""
    inside: dict[str, list[Node]] = {}
    for path in dict.fromkeys(each.path for each in found):
        where = Filter(project=project, labels=(Label.FUNCTION, Label.METHOD, Label.CLASS))
        inside[path] = await reader.store.find(path, Match.PATH, where, 10_000)
    return [replace(each, inside=innermost(inside[each.path], each.line)) for each in found]


def _pattern(name: str) -> re.Pattern[str]:
    before = r"(?<![\w$])(?<![\w$]-)" if name[:1].isalnum() or name[:1] in "_$" else ""
    behind = r"(?![\w$]|-\w)" if name[-1:].isalnum() or name[-1:] in "_$" else ""
    return re.compile(before + re.escape(name) + behind)


def _lines(path: str, content: bytes, name: str, pattern: re.Pattern[str]) -> Iterator[NameLine]:
    if name.encode() not in content:
        return
    text = content.decode("utf-8", "replace")
    lines: list[str] = []
    for number, line in lines_with_name(text, name):
        if (match := pattern.search(line := line[:MAX_LINE])) is None:
            continue
        access = access_at(line, match.span(), partial(_block_of, text, number))
        sets, may_change = access == LineAccess.SETS, access == LineAccess.MAY_CHANGE
        if sets and (logs := _logging(lines := lines or text.splitlines(), number)):
            yield NameLine(path, number, line.strip(), sets=False, logged=logs)
            continue
        if sets or not _TESTS.match(line):
            yield NameLine(path, number, line.strip(), sets, may_change)
            continue
        lines = lines or text.splitlines()
        yield NameLine(path, number, line.strip(), sets, may_change, behind=tuple(_block(lines, number)))


def _logging(lines: Sequence[str], number: int) -> str:
    """Return the call that writes to a log around a line (from 1), with its line; "" for other lines."""
    own = _indent(lines[number - 1])
    for above in range(number - 1, max(0, number - 1 - LINES_ABOVE), -1):
        line = lines[above - 1]
        if line.strip() and _indent(line) < own:
            opened = _LOGS.match(line[:MAX_LINE]) if line.rstrip().endswith(("(", "{", "[", ",")) else None
            return f"{opened['call']} :{above}" if opened is not None else ""
    return ""


def _block_of(text: str, number: int) -> Iterator[str]:
    return _block(text.splitlines(), number)


def _block(lines: Sequence[str], number: int) -> Iterator[str]:
    """Yield the first lines of the block that a line (from 1) opens: those that are indented further."""
    own = _indent(lines[number - 1])
    for line in lines[number : number + MOST_BEHIND]:
        if line.strip() and _indent(line) <= own:
            return
        if line.strip():
            yield line[own:MAX_LINE].rstrip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
