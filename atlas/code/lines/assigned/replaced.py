"""Which code replaces a function by assignment: `proto.save = function`, `Cart.prototype.save = ...`, `api.log = ...`.

Every line that assigns the name is listed, and every function that the graph knows as a member of an object without a
class, such as one of `Object.assign(proto, {...})`. Whose prototype it is, is said as far as the file tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atlas.code.graph.absence.occurrences import is_comment
from atlas.code.lines.line_report import LineReport, TextLine, shown
from atlas.code.lines.scan_texts import IndexedText, TextMatch, is_aside, is_document, read_texts, scan_texts
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

_PATCHES = r"monkey[- ]?patch(?:es|ed|ing)?"
VERB = (
    rf"(?:{_PATCHES}|overrid(?:es?|den|ing)|overwrit(?:es?|ten|ing)|replac(?:es?|ed|ing)|re-?assign(?:s|ed|ing)?"
    r"|redefin(?:es?|ed|ing)|re-?implement(?:s|ed|ing)?|wrap(?:s|ped|ping)?|patch(?:es|ed|ing)?|shadow(?:s|ed|ing)?"
    r"|assign(?:s|ed)? to)"
)
_BEHIND = lazy_regex(
    rf"\b{VERB} (?:(?:the|its|their|a|of|existing|original|core|built-in|method|function) )*[`'\"]?"
    r"(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|#|::)[\w$]+)*)",
    re.IGNORECASE,
)
_BEFORE = lazy_regex(
    r"(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|#|::)[\w$]+)*)[`'\"]?(?:\(\))?"
    rf" (?:(?:method|function|ever) )?(?:(?:is|are|gets?|being|ever|been) )+{VERB}\b",
    re.IGNORECASE,
)
_BETWEEN = lazy_regex(
    r"\b(?:is|are) (?:the )?[`'\"]?(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|#|::)[\w$]+)*)[`'\"]?(?:\(\))?"
    rf" (?:(?:method|function|ever) )*{VERB}\b",
    re.IGNORECASE,
)
_ASKS = lazy_regex(
    r"\b(?:which|what|who|where|list|show|give|find|all|any|every|does|do|is|are|name|enumerate)\b", re.IGNORECASE
)
_OF_HISTORY = lazy_regex(
    r"\b(?:when|since|commits?|versions?|releases?|changelog|history|used to|formerly|did|was|were|why|how|if)\b"
    r"|^what replac",
    re.IGNORECASE,
)
_IS_PATCHED = lazy_regex(rf"\b{_PATCHES}\b|\bprototypes?\b|\bproto\b", re.IGNORECASE)
"""Words of a question that only assignments answer."""
_PROTOTYPE = lazy_regex(r"(?:^|\.)(?:prototype|__proto__)$")
_WITH_PROTOTYPES = ("prototype",)
_NAMED_SO = frozenset(("proto", "prototype", "__proto__"))
_IS_FUNCTION = lazy_regex(r"async\b|function\b|\([^()]{0,80}\)\s?=>|[\w$]{1,80}\s?=>")
_IS_NAMED = lazy_regex(r"[A-Za-z_$][\w$.]{0,80}\s{0,9}(?:\(|;|,|$)")
"""A value that is a name or a call, which may be a function."""
_GIVES = lazy_regex(r"\b(?:assign|extend|mixin|merge|defineProperties)\(\s{0,20}(?P<owner>[\w$.]{1,80})\s{0,9},")
LINES_ABOVE = 400
MOST_QUOTED, MOST_LINES = 16, 60
"""Places up to which each line is quoted, and places of the first page."""
MAX_NODES = 200
_HOLDS = (EdgeType.DEFINES, EdgeType.DEFINES_METHOD)


@dataclass(frozen=True, slots=True)
class Assigned:
    """A place that gives a member of an object a function."""

    member: str
    path: str
    line: int
    text: str
    owner: str
    """The object: `Cart.prototype`, `api`; "" where it is not known."""
    is_parameter: bool
    """Whether a function around the place receives the object, or the class of the prototype."""
    is_function: bool
    """Whether what is given is written as a function."""
    is_test: bool

    @property
    def is_on_prototype(self) -> bool:
        """Whether instances of some class have the function."""
        return _PROTOTYPE.search(self.owner) is not None or self.owner in _NAMED_SO

    @property
    def of(self) -> str:
        """The class of a prototype, as the file names it; "" for other objects."""
        return _PROTOTYPE.sub("", self.owner) if self.is_on_prototype else ""


async def answer_replaced(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer which code replaces a function by assignment; None for other questions. Raises store errors."""
    text = query.text
    if query.states or query.reports or not _ASKS.search(text) or _OF_HISTORY.search(text):
        return None
    is_patched = _IS_PATCHED.search(text) is not None
    for name in dict.fromkeys(_names(text)):
        owner, _, member = re.sub(r"#|::", ".", name).rpartition(".")
        overriding = [] if is_patched else await _overriding(reader, member, where)
        assigned, notes = await find_assigned(reader, member, where, _WITH_PROTOTYPES if overriding else ())
        classes = await classes_with(reader, member, where)
        said = _PROTOTYPE.sub("", owner)
        kept = _of_owner(assigned, said, classes)
        by_object = owner and not overriding
        is_meant = is_patched or any(each.is_on_prototype or (by_object and each.is_function) for each in kept)
        if kept and is_meant:
            return _report(member, said, kept, classes, overriding, notes)
    return None


def _names(text: str) -> Iterator[str]:
    for pattern in (_BETWEEN, _BEFORE, _BEHIND):
        for match in pattern.finditer(text):
            yield match["name"]


async def find_assigned(
    reader: Reader, name: str, where: Filter, having: Sequence[str] = (), path: str = ""
) -> tuple[list[Assigned], tuple[str, ...]]:
    """Return the places that give a member of a name a function, product code first; only in texts `having` a word.

    With a `path` those of every name in one file. Raises store errors.
    """
    own = re.escape(name) if name else r"[A-Za-z_$][\w$]{0,80}"
    pattern = re.compile(
        rf"(?<![\w$.])(?P<owner>[A-Za-z_$][\w$.]{{0,80}}?)(?:\.(?P<name>{own})|\[['\"](?P<key>{own})['\"]\])"
        r"\s{0,9}=(?![=>])(?P<value>.{0,200})"
    )
    wanted = path.__eq__ if path else _may_be_code
    scan = await scan_texts(reader, where, pattern, (name.encode() or b"=",), wanted, having=having)
    found = {(each.file.path, each.line): _assigned(each) for each in scan.found if _is_code(each)}
    nodes = [node for node in await _attached(reader, name, where, path)]
    nodes = [node for node in nodes if (node.row.path, node.row.line) not in found]
    paths = {node.row.path for node in nodes}
    texts = {each.path: each for each in await read_texts(reader, where, lambda path: path in paths)} if paths else {}
    for node in nodes:
        if (file := texts.get(node.row.path)) is not None:
            found[node.row.path, node.row.line] = _of_node(node, file)
    ordered = sorted(found.values(), key=lambda each: (each.is_test, is_aside(each.path), each.path, each.line))
    return ordered, scan.notes


def _may_be_code(path: str) -> bool:
    return not is_document(path)


def _is_code(each: TextMatch) -> bool:
    value = each.match["value"].lstrip()
    return not is_comment(each.text) and (_IS_FUNCTION.match(value) or _IS_NAMED.match(value)) is not None


def _assigned(each: TextMatch) -> Assigned:
    is_function = _IS_FUNCTION.match(each.match["value"].lstrip()) is not None
    owner = _denoted(each.file, each.line, each.match["owner"])
    return _placed(each.match["name"] or each.match["key"], each.file, each.line, owner, is_function=is_function)


def _of_node(node: Node, file: IndexedText) -> Assigned:
    line = node.row.line or node.row.start_line
    owner = ""
    for number in range(line - 1, max(0, line - LINES_ABOVE), -1):
        if (given := _GIVES.search(file.lines[number - 1])) is not None:
            owner = _denoted(file, number, given["owner"])
            break
    return _placed(node.row.name, file, line, owner, is_function=True)


def _placed(member: str, file: IndexedText, line: int, owner: str, *, is_function: bool) -> Assigned:
    first = owner.partition(".")[0]
    text = shown(file.lines[line - 1])
    return Assigned(member, file.path, line, text, owner, _is_parameter(file, line, first), is_function, file.is_test)


def _is_parameter(file: IndexedText, line: int, name: str) -> bool:
    """Return whether a function that begins above a line has a parameter of a name."""
    if not name.isidentifier() and "$" not in name:
        return False
    given = re.compile(
        rf"(?:\([^()]{{0,120}}?)?(?<![\w$.]){re.escape(name)}(?:\s?[,=:][^()]{{0,120}})?\)?\s?(?:=>|\{{\s*$)"
    )
    above = file.lines[max(0, line - LINES_ABOVE) : line]
    return any(("=>" in each or "function" in each) and given.search(each) is not None for each in above)


def _denoted(file: IndexedText, line: int, owner: str) -> str:
    """Return the object that a variable denotes, where a line above gives it one: `Cart.prototype` for `proto`."""
    if not owner.isidentifier():
        return owner
    given = re.compile(
        rf"(?<![\w$.]){re.escape(owner)}\s{{0,9}}=\s{{0,9}}(?P<value>[A-Za-z_$][\w$.]{{0,80}})\s{{0,9}}(?:[;,]|$)"
    )
    for number in range(line - 1, max(0, line - LINES_ABOVE), -1):
        if (match := given.search(file.lines[number - 1])) is not None:
            return match["value"] if _PROTOTYPE.search(match["value"]) else owner
    return owner


async def _attached(reader: Reader, name: str, where: Filter, path: str) -> list[Node]:
    """Return the functions of a name, or those in a file, that are members of an object without a class."""
    methods = Filter(project=where.project, labels=(Label.METHOD,))
    by = (path, Match.PATH) if path else (name, Match.SUFFIX)
    found = await reader.store.find(*by, methods, MAX_NODES)
    edges = await reader.store.edges([node.row.uid for node in found], Direction.IN, _HOLDS, 4 * MAX_NODES)
    owned = {edge.row.target for edge in edges if edge.node.row.label in (Label.CLASS, Label.VALUE)}
    kept = [node for node in found if node.row.uid not in owned and node.row.path and name in ("", node.row.name)]
    return [node for node in kept if where.include_tests or not node.row.is_test]


async def classes_with(reader: Reader, name: str, where: Filter) -> list[tuple[Node, Node]]:
    """Return the classes with a method of a name that they define, each with the method."""
    methods = Filter(project=where.project, labels=(Label.METHOD,))
    found = {node.row.uid: node for node in await reader.store.find(name, Match.SUFFIX, methods, MAX_NODES)}
    edges = await reader.store.edges(list(found), Direction.IN, _HOLDS, 4 * MAX_NODES)
    classes = [
        (edge.node, found[edge.row.target])
        for edge in edges
        if edge.node.row.label == Label.CLASS and edge.node.row.kind == "class"
    ]
    return [each for each in classes if not each[1].row.is_test and ".d." not in each[1].row.path.rpartition("/")[2]]


def _of_owner(found: Sequence[Assigned], owner: str, classes: Sequence[tuple[Node, Node]]) -> list[Assigned]:
    """Return the assignments that may be to what a question names: none to the prototype of another known class."""
    last = owner.rpartition(".")[2]
    if not last:
        return list(found)
    if last in _NAMED_SO:
        return [each for each in found if each.is_on_prototype]
    if same := [each for each in found if not each.is_on_prototype and each.owner.rpartition(".")[2] == last]:
        return same
    others = {node.row.name for node, _ in classes} - {last}
    return [each for each in found if each.is_on_prototype and each.of not in others]


async def _overriding(reader: Reader, name: str, where: Filter) -> list[Node]:
    """Return the methods of classes that override one of the name, product code first."""
    methods = Filter(project=where.project, labels=(Label.METHOD,))
    found = {node.row.uid: node for node in await reader.store.find(name, Match.SUFFIX, methods, MAX_NODES)}
    edges = await reader.store.edges(list(found), Direction.OUT, (EdgeType.OVERRIDES,), MAX_NODES) if found else []
    nodes = [found[uid] for uid in dict.fromkeys(edge.row.source for edge in edges)]
    kept = (node for node in nodes if where.include_tests or not node.row.is_test)
    return sorted(kept, key=lambda node: (node.row.is_test, node.row.path, node.row.line or 0))


def _report(
    name: str,
    owner: str,
    found: Sequence[Assigned],
    classes: Sequence[tuple[Node, Node]],
    overriding: Sequence[Node],
    notes: tuple[str, ...],
) -> LineReport:
    defined = [(cls, method) for cls, method in classes if cls.row.name == owner.rpartition(".")[2]] or list(classes)
    received = dict.fromkeys(f"`{each.of}`" for each in found if each.is_parameter and each.of and not each.is_test)
    by_caller = f"on the prototype of a parameter ({', '.join(received)}; the caller decides which class it is)"
    groups = [(_group(each, by_caller), each) for each in found]
    order = {group: number for number, group in enumerate(dict.fromkeys(group for group, _ in groups))}
    groups.sort(key=lambda each: (each[1].is_test, not each[1].is_on_prototype, order[each[0]]))
    is_short = len(found) + len(overriding) <= MOST_QUOTED
    lines = [TextLine(group, f"{each.path}:{each.line}", _said(each) if is_short else "") for group, each in groups]
    lines += [TextLine("overridden in classes", f"{node.row.path}:{node.row.line}", "") for node in overriding]
    tests = sum(each.is_test for each in found)
    title = f"`{name}` is assigned in {counted(len(found) - tests, 'place')}{f' and {tests} in tests' if tests else ''}"
    title += f", and overridden by {counted(len(overriding), 'class')}" if overriding else ""
    if len(defined) == 1:
        cls, method = defined[0]
        title += f"; the method of class {cls.row.name}: {method.row.path}:{method.row.line}"
    return LineReport("assignments", title, tuple(lines), notes, first=MOST_LINES)


def _said(each: Assigned) -> str:
    """Return the line, with the class of the prototype where another line tells it."""
    is_told = each.is_parameter or not each.of or f"{each.of}." in each.text
    return each.text if is_told else f"{each.text} (of {each.of})"


def _group(each: Assigned, by_caller: str) -> str:
    if each.is_test:
        return "in tests"
    if not each.is_on_prototype:
        return "on another object"
    return by_caller if each.is_parameter and each.of else "on a prototype"
