"""Find lines that mention a name without an edge in the graph to it. Reads the index only.

They are unresolved references, prose, and uses of a type through its members: `Mail.send(x)` uses `Mail`, though its
edge leads to `send`.

A relation without edges is unknown rather than none while such lines exist. They are listed where the name can hardly
mean anything else: it has several words (`send_body`, not `close`), and one symbol of the project has it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from atlas.code.graph.absence.name_lines import NameLine
from atlas.code.graph.absence.occurrences import MAX_LINE, is_comment, lines_of_blocks, lines_with_name
from atlas.code.graph.relation import RelatedSymbol
from atlas.code.graph.targets import Targets
from atlas.code.question.names import is_code_shaped
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.reader import Reader
from atlas.core.labels import EXTERNAL_LABELS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, Edge, EdgeType, Filter, Label, Match, Node

MAX_NODES = 100
"""Symbols whose text is read for one name."""
MAX_FILES = 30
MAX_MEMBER_EDGES = 2_000
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)
_USING = (EdgeType.CALLS, EdgeType.REFERENCES)
MAX_LISTED = 20
"""Maximum number of symbols listed; a name with more mentions is likely to be shared with another package."""
BY_TEXT = "text"
"""Strategy of a line that mentions the name and has no edge."""
TEXT_CONFIDENCE = 0.4
_PROSE = (Label.DOC_SECTION, Label.DOC_FILE, Label.ADR)
_CODE = (Label.FUNCTION, Label.METHOD, Label.CLASS, Label.MODULE, Label.PACKAGE, Label.VALUE, Label.FILE)

_CALL = lazy_regex(r"(?<![\w$'\"`])([A-Za-z_$][\w$]*)(?:::)?(?:<[^<>()]*>)?[!?]?\(")
_DEFINITION = lazy_regex(
    r"\s*(?:(?:export|public|private|protected|static|async|final|override|pub(?:\([^)]*\))?|default|inline|virtual)\s+)*"
    r"(?:def|func|fn|function|fun|sub|macro_rules!|class|interface|trait|struct)\s"
)


@dataclass(frozen=True, slots=True)
class NameMention:
    """A symbol or section whose own text mentions a name, with the lines."""

    node: Node
    lines: tuple[int, ...]


async def find_related_by_text(
    reader: Reader, intent: RelationIntent, targets: Targets, found: Sequence[RelatedSymbol]
) -> list[RelatedSymbol]:
    """Return symbols that mention the target in their text without an edge in the graph, and prose that names it.

    For a question about callees these are the distinctive symbols that the target calls by name. Raises store errors.
    """
    row = targets.targets[0].node.row
    if intent.kind == Kind.CALLEES and intent.direct is not False:
        names = {row.name, *(each.node.row.name for each in found)}
        called = [each for target in targets.targets for each in await find_calls(reader, target.node, names)]
        return [RelatedSymbol(each, each.row.path, (), BY_TEXT, TEXT_CONFIDENCE) for each in called]
    known = {*targets.uids, *(each.node.row.uid for each in found)}
    where, calls = Filter(project=targets.targets[0].node.project), False
    match intent.kind:
        case Kind.DOCS if is_code_shaped(row.name) or "`" in intent.name:
            where = replace(where, labels=_PROSE)
        case Kind.TESTS if not found:
            where = replace(where, labels=_CODE)
        case Kind.CALLERS if row.label in (Label.FUNCTION, Label.METHOD):
            where, calls = replace(where, labels=_CODE), True
        case Kind.USAGES if not found:
            where = replace(where, labels=_CODE)
        case _:
            return []
    if intent.kind != Kind.DOCS and not await is_distinctive(reader, row.name, where.project):
        return []
    mentions = await find_mentions(reader, row.name, where, known, calls=calls)
    return [
        RelatedSymbol(each.node, each.node.row.path, each.lines, BY_TEXT, TEXT_CONFIDENCE)
        for each in mentions
        if each.node.row.is_test or intent.kind != Kind.TESTS
    ]


async def is_distinctive(reader: Reader, name: str, project: str) -> bool:
    """Return whether a name of several words belongs to one symbol of the project and to no other package."""
    if len(set(reader.split_words(name))) < 3:  # the whole and at least two parts
        return False
    nodes = await reader.store.find(name, Match.SUFFIX, Filter(project=project), 20)
    # a module has the name of what it exports, and tests bind the names that they import
    symbols = {re.sub(r"#\d+$", "", node.row.qualified_name) for node in nodes if _defines(node)}
    return len(symbols) == 1 and not any(node.row.label in EXTERNAL_LABELS for node in nodes)


def _defines(node: Node) -> bool:
    return node.row.label in (Label.CLASS, Label.FUNCTION, Label.METHOD) and not node.row.is_test


async def find_mentions(
    reader: Reader, name: str, where: Filter, known: Collection[str], *, calls: bool, tests: bool = True
) -> list[NameMention]:
    """Return the symbols that mention a name, except those with known uids; with `calls` only those that call it.

    Tests are among them unless `tests` is false.

    Returns none if there are more than `MAX_LISTED`: such a name is too common to identify the symbol.
    """
    words = reader.split_words(name)[:1]
    hits = await reader.store.search_text(words, where, MAX_NODES) if words else []
    nodes = [node for node in await reader.store.symbols([hit.uid for hit in hits]) if node.row.path]
    nodes = [node for node in nodes if tests or not node.row.is_test]
    unknown = [node for node in nodes if node.row.uid not in known]
    paths = list(dict.fromkeys(node.row.path for node in unknown))
    if not paths or len(paths) > MAX_FILES:
        return []
    contents = await reader.store.content(where.project, paths)
    pattern = _pattern(name, calls=calls)
    found: list[NameMention] = []
    for path in paths:
        text = contents.get(path, b"").decode("utf-8", "replace")
        inside = [node for node in nodes if node.row.path == path]
        found += _in_file(text, name, pattern, inside, known, calls=calls)
    return found if len(found) <= MAX_LISTED else []


async def find_calls(reader: Reader, caller: Node, known: Collection[str]) -> list[Node]:
    """Return distinctive symbols that the text of a function calls by name, without the names that are known."""
    row = caller.row
    contents = await reader.store.content(caller.project, [row.path])
    text = contents.get(row.path, b"")[row.start_byte : row.end_byte].decode("utf-8", "replace")
    lines = (line for line in text.splitlines()[1:] if len(line) <= MAX_LINE and not is_comment(line))
    names = {name for line in lines if not _DEFINITION.match(line) for name in _CALL.findall(line)}
    unknown = sorted(name for name in names.difference(known) if len(set(reader.split_words(name))) >= 3)
    found: list[Node] = []
    for name in unknown[:MAX_LISTED]:
        if await is_distinctive(reader, name, caller.project):
            nodes = await reader.store.find(name, Match.SUFFIX, Filter(project=caller.project), 1)
            found += (node for node in nodes if node.row.label in (Label.FUNCTION, Label.METHOD))
    return found


def _pattern(name: str, *, calls: bool) -> re.Pattern[str]:
    if calls:
        return re.compile(rf"(?<![\w$'\"`]){re.escape(name)}(?:::)?(?:<[^<>()]*>)?[!?]?\(")
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def _in_file(
    text: str, name: str, pattern: re.Pattern[str], nodes: Sequence[Node], known: Collection[str], *, calls: bool
) -> Iterable[NameMention]:
    lines: dict[str, list[int]] = {}
    said = [
        (number, line)
        for number, line in lines_with_name(text, name)
        if len(line) <= MAX_LINE and pattern.search(_without_comments(line) if calls else line)
    ]
    blocks = lines_of_blocks(text) if said and calls else ()
    for number, line in said:
        if calls and (number in blocks or is_comment(line) or _DEFINITION.match(line)):
            continue
        around = [node for node in nodes if node.row.start_line <= number <= node.row.end_line]
        if around:
            inner = min(around, key=lambda node: node.row.end_byte - node.row.start_byte)
            lines.setdefault(inner.row.uid, []).append(number)
    by_uid = {node.row.uid: node for node in nodes}
    return [NameMention(by_uid[uid], tuple(at)) for uid, at in lines.items() if uid not in known]


def _without_comments(line: str) -> str:
    """Return a line without what stands between `/*` and `*/`."""
    first, *rest = line.split("/*")
    return " ".join((first, *(part.partition("*/")[2] for part in rest)))


async def used_through_members(reader: Reader, node: Node, lines: Sequence[NameLine]) -> list[RelatedSymbol]:
    """Return what uses members of a type in lines that name the type, each with these lines. Raises store errors."""
    held = await reader.store.edges([node.row.uid], Direction.OUT, _HOLDS, MAX_MEMBER_EDGES)
    inside = {edge.row.target for edge in held}
    edges = await reader.store.edges(sorted(inside), Direction.IN, _USING, MAX_MEMBER_EDGES) if inside else []
    named = {(each.path, each.line) for each in lines}
    found: dict[str, tuple[Edge, set[int]]] = {}
    for edge in edges:
        at = {line for line in edge.row.lines if (edge.node.row.path, line) in named}
        if at and edge.node.row.uid not in inside:
            found.setdefault(edge.node.row.uid, (edge, set()))[1].update(at)
    return [
        RelatedSymbol(edge.node, edge.node.row.path, tuple(sorted(at)), edge.row.strategy, edge.row.confidence)
        for edge, at in found.values()
    ]
