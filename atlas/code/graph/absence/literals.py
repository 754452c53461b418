"""Where a type is made by a literal, of which the graph has a use of the type: `execMsg{cmd: c}`, `Self { a, b }`.

A head, a result type and a pattern have the same shape and make nothing: what stands before the name and behind the
closing brace tells them apart. Reads the index only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from atlas.code.graph.relation import RelatedSymbol
from atlas.code.graph.targets import Targets
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Label, Node

BY_LITERAL = "literal"
"""Strategy of a symbol that makes a value of a type by writing it."""
CONFIDENCE = 0.9
MAX_EDGES = 2_000
MAX_FILES = 300
MAX_LINE = 1_000
MAX_BEFORE = 100
MAX_SPAN = 4_000
"""Characters within which the brace of a literal closes."""
_HAS_LITERALS = lazy_regex(r"\.(?:go|rs|exs?|c|h|cc|cpp|cxx|hh|hpp|zig)$")
_USES = (EdgeType.USES_TYPE, EdgeType.REFERENCES, EdgeType.CALLS)
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
_HEAD = lazy_regex(
    r"\s*(?:\w+(?:\([^()]*\))?\s+){0,4}?(?:func|fn|defp?|defmacrop?|class|struct|enum|impl|trait|interface|type|union"
    r"|namespace|case|extern)\b[^{]*$"
)
"""What stands before a name that a declaration or a branch has, not a literal."""
_BEFORE = lazy_regex(r"(?:->|\)|\bfor|\blet|\bextends|\bimplements|//|/\*|#|::)$|\bmatches!\([^()]{0,80}$")
"""The end of a signature, a head, a comment, a type or a test: no value is made behind them."""
_PATTERN = lazy_regex(r"(?:=>|->|<-|=(?!=)|\||if\b)")
"""What stands behind a pattern: what it is matched with, or what follows from it."""


async def made_by_literals(reader: Reader, targets: Targets, found: Sequence[RelatedSymbol]) -> list[RelatedSymbol]:
    """Return the symbols that make types by literals, without those found already. Raises store errors."""
    known = {each.node.row.uid for each in found}
    made: list[RelatedSymbol] = []
    for target in targets.targets:
        row = target.node.row
        if row.label != Label.CLASS or not _HAS_LITERALS.search(row.path):
            continue
        edges = await reader.store.edges(target.uids, Direction.IN, _USES, MAX_EDGES)
        users = [(edge.node, edge.row.lines) for edge in edges if edge.node.row.uid not in known]
        held = await reader.store.edges(target.uids, Direction.OUT, _HOLDS, MAX_EDGES)
        members = [edge.node for edge in held if edge.node.row.label == Label.METHOD]
        paths = list(dict.fromkeys(node.row.path for node in (*(user for user, _ in users), *members)))[:MAX_FILES]
        texts = await _texts(reader, target.node.project, paths)
        lines = {user.row.uid: _lines(texts.get(user.row.path, ()), row.name, at) for user, at in users}
        own = {node.row.uid: _lines(texts.get(node.row.path, ()), "Self", _body(node)) for node in members}
        nodes = {node.row.uid: node for node in (*(user for user, _ in users), *members)}
        for uid, node in nodes.items():
            if at := sorted({*lines.get(uid, ()), *own.get(uid, ())}):
                made.append(
                    RelatedSymbol(node, node.row.path, tuple(at), BY_LITERAL, CONFIDENCE, of=row.qualified_name)
                )
    return made


async def _texts(reader: Reader, project: str, paths: Sequence[str]) -> dict[str, list[str]]:
    contents = await reader.store.content(project, paths)
    return {path: content.decode("utf-8", "replace").split("\n") for path, content in contents.items()}


def _body(node: Node) -> range:
    return range(node.row.start_line, node.row.end_line + 1)


def _lines(text: Sequence[str], name: str, numbers: Collection[int]) -> Iterator[int]:
    """Yield the numbers (1-based) of the lines with a literal of a type."""
    literal = re.compile(
        rf"(?<![\w\"'])(?:[\w:.]{{1,80}}(?:\.|::))?{re.escape(name)}(?:\[[^\[\]]*\]|::<[^<>]*>)?\s?\{{"
    )
    made = re.compile(
        rf"\bnew\({re.escape(name)}\)|\bmake_(?:unique|shared)<{re.escape(name)}>"
        rf"|\b{re.escape(name)}\s+\w+(?:\[\w*\])?\s*=\s*\{{"
    )
    for number in numbers:
        line = text[number - 1][:MAX_LINE] if 0 < number <= len(text) else ""
        if made.search(line):
            yield number
            continue
        for match in literal.finditer(line):
            before = line[: match.start()]
            of_elements = before.endswith("]") and not line[match.end() :].lstrip().startswith("{")
            bare = before.rstrip(" \t&*%")[-MAX_BEFORE:]
            if of_elements or _HEAD.match(before) or _BEFORE.search(bare) or before.lstrip().startswith("@"):
                continue
            if not _PATTERN.match(_behind(text, number, match.end()).lstrip(" \t)]}")):
                yield number
                break


def _behind(text: Sequence[str], number: int, start: int) -> str:
    """Return what stands behind the brace that closes the one before a column; "" where it closes too far away."""
    rest = "\n".join((text[number - 1][start:], *text[number : number + 80]))[:MAX_SPAN]
    depth = 1
    for at, sign in enumerate(rest):
        depth += (sign == "{") - (sign == "}")
        if not depth:
            return rest[at + 1 : at + 20].partition("\n")[0]
    return ""
