"""Find why a class may be made without a line that names it: a decorator or a base class may hand it to others.

A decorator registers a class, a base class keeps a list of its subclasses, a framework makes what extends its classes.
Reads the index only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from atlas.code.graph.absence.occurrences import find_occurrences, is_comment, single_word
from atlas.code.reader import Reader
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node

MAX_BASES = 20
MAX_DEPTH = 5
_LINES_BEFORE = 8
"""Lines before a class in which its decorators are looked for."""
_MARK = lazy_regex(r"\s*(?:@(?!interface\b)|\[)(\w[\w.]*)")
"""A decorator, an annotation or an attribute at the start of a line, or in front of a class: its name."""
_DESCRIBES = frozenset(
    """
    dataclass dataclasses.dataclass final typing.final total_ordering functools.total_ordering unique enum.unique
    runtime_checkable typing.runtime_checkable deprecated obsolete suppresswarnings functionalinterface override
    safevarargs debuggerdisplay debuggerstepthrough serializable flags jvminline suppress internal doc moduledoc
    """.split()  # noqa: SIM905
)
"""Decorators that describe a class and hand it to nobody, in lower case."""
_LISTS_SUBCLASSES = lazy_regex(
    r"__subclasses__|__init_subclass__|\b(?:def (?:self\.)?inherited|subclasses|descendants|getSubTypesOf|ServiceLoader"
    r"|IsSubclassOf|IsAssignableFrom|IsAssignableTo|isAssignableFrom|is_subclass_of|get_declared_classes)\b"
)
"""What keeps or finds the subclasses of a class."""
_BASES = lazy_regex(r"(?::\s*|\bextends\s+|\s<\s+)[A-Z]")
"""What stands before a base of a class, behind its parameters."""
_BRACKETS = lazy_regex(r"\([^()]*\)|<[^<>]*>|\[[^\[\]]*\]")
_METACLASS = re_METACLASS = lazy_regex(r"\bmetaclass\s*=\s*(\w[\w.]*)")


async def made_otherwise(reader: Reader, nodes: Sequence[Node]) -> list[str]:
    """Return why classes may be made by what no line with their name says. Raises store errors."""
    reasons: list[str] = []
    for node in nodes:
        if node.row.label == Label.CLASS:
            reasons += await _by_decorator(reader, node)
            reasons += await _by_base(reader, node)
    return list(dict.fromkeys(reasons))


async def _by_decorator(reader: Reader, node: Node) -> list[str]:
    row = node.row
    contents = await reader.store.content(node.project, [row.path])
    lines = contents.get(row.path, b"").decode("utf-8", "replace").split("\n")
    found = (name for name in _marks(lines, row.start_line, row.line) if name.lower() not in _DESCRIBES)
    return [f"whoever reads its `{name}` may make it ({row.path}:{row.line})" for name in list(found)[:1]]


def _marks(lines: Sequence[str], start: int, line: int) -> Iterator[str]:
    """Yield the names of the decorators of a class, whose node may begin at them or behind them."""
    first = start
    while first > max(1, start - _LINES_BEFORE) and first <= len(lines) and _MARK.match(lines[first - 2]):
        first -= 1
    for text in lines[first - 1 : line]:
        if (mark := _MARK.match(text)) is not None:
            yield mark[1]


async def _by_base(reader: Reader, node: Node) -> list[str]:
    """Return why a base class, or what reads its subclasses, may make a class."""
    open_, seen = [node], {node.row.uid}
    for _ in range(MAX_DEPTH):
        if any((meta := _METACLASS.search(each.row.signature)) and meta[1] not in ("ABCMeta", "abc.ABCMeta")
               for each in open_):  # fmt: skip
            return ["its metaclass may keep it"]
        edges = await reader.store.edges(
            [each.row.uid for each in open_], Direction.OUT, (EdgeType.INHERITS,), MAX_BASES
        )
        known = {edge.row.source for edge in edges}
        if lost := next((each for each in open_ if each.row.uid not in known and _names_bases(each)), None):
            return [f"the bases of `{lost.row.name}` are not resolved, and may make it"]
        open_ = [edge.node for edge in edges if edge.node.row.uid not in seen][:MAX_BASES]
        seen.update(each.row.uid for each in open_)
        for base in open_:
            if base.row.label in EXTERNAL_LABELS:
                if not await _is_standard(reader, base):
                    return [f"its base `{base.row.name}` is of another package, which may make it"]
            elif at := await _lists_subclasses(reader, base):
                return [f"its base `{base.row.name}` may list it ({at})"]
    return []


async def _is_standard(reader: Reader, base: Node) -> bool:
    """Return whether a class of another package is of a standard library."""
    name = re.split(r"[./]", base.row.qualified_name.partition(":")[2], maxsplit=1)[0]
    found = await reader.store.find(f"ext:{name}", Match.EXACT, Filter(project=base.project), 1)
    return any('"standard"' in each.row.properties for each in found)


async def _lists_subclasses(reader: Reader, base: Node) -> str:
    """Return where the subclasses of a class are kept or looked for; "" for nowhere."""
    row = base.row
    contents = await reader.store.content(base.project, [row.path])
    lines = contents.get(row.path, b"").decode("utf-8", "replace").split("\n")
    for number, text in enumerate(lines[row.start_line - 1 : row.end_line], row.start_line):
        if _LISTS_SUBCLASSES.search(text) and not is_comment(text):
            return f"{row.path}:{number}"
    places = (await find_occurrences(reader, single_word(row.name), base.project)).places
    return next((each.at for each in places if _LISTS_SUBCLASSES.search(each.text) and not is_comment(each.text)), "")


def _names_bases(node: Node) -> bool:
    row = node.row
    if row.label != Label.CLASS:
        return False
    behind = row.signature.partition(row.name)[2].partition("{")[0].partition(" where ")[0]
    listed = behind.rpartition("(")[2].partition(")")[0].partition(",")[0].strip()
    if behind.rstrip(" :").endswith(")") and listed.replace(".", "").isidentifier():
        return True  # `(Base)` rather than `(value: Type)` or `(Type value)`
    return _BASES.search(_BRACKETS.sub("", behind)) is not None
