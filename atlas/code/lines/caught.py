"""What a handler of exceptions catches: the named class, its subclasses, and where each of them is raised."""

from __future__ import annotations

import re
from collections.abc import Sequence

from atlas.code.lines.line_report import LineReport, TextLine, several
from atlas.code.lines.scan_texts import is_aside, is_document, scan_texts
from atlas.code.question.names import dotted
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

_HANDLER = lazy_regex(
    r"\b(?:except|catch|catches|catching|rescue|rescues|rescuing"
    r"|on)\b[\s`(:]{1,4}(?:final )?(?:\\|::)?(?P<name>[A-Z][\w.:\\]*)",
)
_ASKS = lazy_regex(
    r"\b(?:catch(?:es)?|caught|cover(?:s|ed)?|handle[sd]?|swallow(?:s|ed)?|rescues?|errors?|exceptions?|includes?|trap(?:s|ped)?)\b",
    re.IGNORECASE,
)
_QUESTION = lazy_regex(r"\b(?:what|which|does|do|would|will|all|list|is|are)\b", re.IGNORECASE)
MAX_DEPTH = 8
MAX_CLASSES = 500
_CLASSES = (Label.CLASS, Label.EXTERNAL_SYMBOL)


async def answer_caught(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer what `except X`, `catch (X e)` or `rescue X` catches; None for other questions. Raises store errors."""
    match = _HANDLER.search(query.text)
    if match is None or query.reports or len(query.text.split()) > 25:
        return None
    rest = query.text[: match.start()] + query.text[match.end("name") :]
    if not _ASKS.search(rest) or not _QUESTION.search(rest):
        return None
    name = dotted(match["name"].strip("`.:\\"))
    found = await reader.store.find(name, Match.SUFFIX, Filter(project=where.project), 20)
    classes = [node for node in found if node.row.label in _CLASSES or node.row.kind in ("class", "type_alias")]
    own = [node for node in classes if node.row.path and not is_aside(node.row.path)] or classes
    if not own:
        return None
    inside = await _with_subclasses(reader, own)
    raised = await _raises(reader, [node.row.name for node, _ in inside], where)
    lines = [TextLine("catches", _place(node), _said(node, depth, raised)) for node, depth in inside]
    count = sum(len(places) for places in raised.values())
    classes = f"{len(inside)} {'class' if len(inside) == 1 else 'classes'}"
    title = f"`{match['name']}` and its subclasses: {classes}, raised in {counted(count, 'place')} of code"
    return LineReport("caught", title, tuple(lines), ("what other packages raise below it is not seen",))


async def _with_subclasses(reader: Reader, own: Sequence[Node]) -> list[tuple[Node, int]]:
    found = {node.row.uid: (node, 0) for node in own}
    level: list[str] = [node.row.uid for node in own]
    for depth in range(1, MAX_DEPTH):
        edges = await reader.store.edges(level, Direction.IN, (EdgeType.INHERITS,), MAX_CLASSES)
        level = []
        for edge in edges:
            if edge.node.row.uid not in found and len(found) < MAX_CLASSES:
                found[edge.node.row.uid] = (edge.node, depth)
                level.append(edge.node.row.uid)
        if not level:
            break
    return sorted(found.values(), key=lambda each: (each[1], each[0].row.is_test, each[0].row.path, each[0].row.line))


async def _raises(reader: Reader, names: Sequence[str], where: Filter) -> dict[str, list[tuple[str, int]]]:
    """Return where product code raises the classes, by name."""
    either = "|".join(sorted({re.escape(name) for name in names}, key=len, reverse=True))
    pattern = re.compile(rf"\b(?:raise|throw)\b[ (]+(?:new\s+)?[\w.:\\]*?\b(?P<name>{either})\b")
    scan = await scan_texts(reader, where, pattern, (b"raise", b"throw"), lambda path: not is_document(path))
    found: dict[str, list[tuple[str, int]]] = {}
    for each in scan.found:
        if not each.file.is_test and not is_aside(each.file.path):
            found.setdefault(each.match["name"], []).append((each.file.path, each.line))
    return found


def _place(node: Node) -> str:
    return f"{node.row.path}:{node.row.line}" if node.row.path else "external"


def _said(node: Node, depth: int, raised: dict[str, list[tuple[str, int]]]) -> str:
    places = raised.get(node.row.name, [])
    kind = " (test)" if node.row.is_test else ""
    level = f" (subclass, level {depth})" if depth else ""
    return f"{node.row.qualified_name}{level}{kind}" + (f"; raised {several(places, 3)}" if places else "")
