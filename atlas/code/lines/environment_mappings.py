"""Environment variables that are read from the whole environment after it was handed on: `connect(os.environ)`.

A function of the project that is given the environment reads variables from its parameter, and may hand that on; a name
that is assigned the environment stands for it. What is given to a function that the index does not have may read any
variable: such places are told, so that a count of variables is not taken as complete. Lines of texts and the places of
functions only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from atlas.code.lines.environment_helpers import CLOSES, MADE, OPENS, arguments_of
from atlas.code.lines.scan_texts import IndexedText, TextMatch, is_document, scan_texts
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match

MOST_FUNCTIONS = 40
"""Functions and names that stand for the environment which are followed."""
MAX_BEFORE = 600
"""Characters before an argument in which its call begins."""
_WHOLE = lazy_regex(
    r"(?<![\w.$])(?:dict\(\s*)?(?:os\.environ(?:\.copy\(\))?|process\.env|\$_ENV|ENV(?:\.to_h)?|System\.getenv\(\)"
    r"|os\.Environ\(\)|(?:std::)?env::vars\(\))(?=\s*(?:[,);]|$))"
    r"|(?<![\w.$])(?P<getter>os\.(?:environ\.get|getenv|Getenv))(?=\s*$)",
    re.MULTILINE,
)
_NEEDLES = (b"env",)
_CALLEE = lazy_regex(r"(?P<defines>\b(?:def|function|func|fn|fun)\s+)?(?P<name>[A-Za-z_]\w*)[?!]?\s*$")
_KEYWORD = lazy_regex(
    r"(?<![\w.])(?P<name>[A-Za-z_]\w*)\s*(?::[^,=]{0,60})?=\s*$|(?<![\w.])(?P<label>[A-Za-z_]\w*)\s*:\s*$"
)
_ASSIGNS = lazy_regex(r"^\s*(?:(?:const|let|var|val|final)\s+)?(?P<name>[A-Za-z_$@][\w.]*)\s*(?::[^=\n]{0,60})?:?=\s*$")
_PARAMETER = lazy_regex(r"(?:mut |final |val |var )?\$?(?P<name>[A-Za-z_]\w*)")
_OF_CHILDREN = frozenset(("env", "environ", "environment", "envs"))
"""Arguments by which a program that is started gets its variables."""
_COPIES = frozenset(
    (
        "dict",
        "copy",
        "deepcopy",
        "list",
        "set",
        "sorted",
        "len",
        "print",
        "str",
        "repr",
        "update",
        "clear",
        "assign",
        "keys",
        "entries",
        "values",
        "freeze",
    )
)
"""Functions that read no variable in particular."""


@dataclass(frozen=True, slots=True)
class MappedReads:
    """What is read from the environment where it has another name."""

    reads: tuple[tuple[str, TextMatch], ...] = ()
    handed_over: tuple[TextMatch, ...] = ()
    """Places that give it to code outside of the index, which may read any variable."""
    computed: tuple[tuple[str, TextMatch], ...] = ()
    """Reads of a variable whose name an identifier holds: `get = environ.get` and `get(key)`."""


@dataclass(frozen=True, slots=True)
class _Stands:
    """A name that stands for the environment in some lines of a file."""

    file: IndexedText
    name: str
    first: int
    last: int
    is_getter: bool = False
    """Whether it is the function that reads a variable by its name."""


async def reads_of_mappings(reader: Reader, where: Filter) -> MappedReads:
    """Return the reads from names that stand for the environment. Raises store errors."""
    scan = await scan_texts(reader, where, _WHOLE, _NEEDLES, lambda path: not is_document(path), is_constant=True)
    waiting: list[_Stands] = []
    handed: list[TextMatch] = []
    for each in scan.found:
        if each.text.lstrip().startswith(("#", "//", "*", "/*")):
            continue
        named, is_open = await _given_to(reader, where, each.file, each.line, each.match.start())
        waiting += [replace(stands, is_getter=bool(each.match["getter"])) for stands in named]
        if is_open and not each.match["getter"]:
            handed.append(each)
    reads: dict[tuple[str, str], tuple[str, TextMatch]] = {}
    computed: list[tuple[str, TextMatch]] = []
    done: set[tuple[str, str, int]] = set()
    while waiting and len(done) < MOST_FUNCTIONS:
        stands = waiting.pop(0)
        key = (stands.file.path, stands.name, stands.first)
        if key in done:
            continue
        done.add(key)
        for name, found in _reads_from(stands):
            reads.setdefault((name, found.place), (name, found))
        computed += _computed_from(stands)
        waiting += _getters(stands)
        for found in _handed_on(stands):
            named, is_open = await _given_to(reader, where, found.file, found.line, found.match.start())
            waiting += named
            if is_open:
                handed.append(found)
    handed += [each for each in _begins(waiting) if (each.file.path, each.match[0], each.line) not in done]
    outside = tuple(each for each in handed if not each.file.is_test)
    return MappedReads(tuple(reads.values()), outside, tuple(computed))


def _begins(waiting: list[_Stands]) -> Iterator[TextMatch]:
    """Yield where names begin that are not followed any more."""
    for each in waiting:
        match = re.compile(rf"(?<!\w){re.escape(each.name)}(?!\w)").search(
            each.file.text, each.file.starts[each.first - 1]
        )
        if match is not None:
            yield TextMatch(each.file, each.first, match)


def _getters(stands: _Stands) -> list[_Stands]:
    """Return the names that the function which reads from a name is given: `get = environ.get`."""
    if stands.is_getter:
        return []
    taken = re.compile(rf"(?<![\w.$@]){re.escape(stands.name)}\.get(?=\s*$)", re.MULTILINE)
    named = [
        (each, _ASSIGNS.match(each.text[: each.match.start() - each.file.starts[each.line - 1]][:MAX_BEFORE]))
        for each in _within(stands, taken)
    ]
    return [_Stands(stands.file, to["name"], each.line, stands.last, is_getter=True) for each, to in named if to]


def _reads_from(stands: _Stands) -> Iterator[tuple[str, TextMatch]]:
    """Yield the variables that are read from a name."""
    name = rf"(?<![\w.$@]){re.escape(stands.name)}"
    called = r"[\"'](?P<{0}>[A-Za-z_]\w*)[\"']"
    if stands.is_getter:
        for found in _within(stands, re.compile(rf"{name}\s*\(\s*{called.format('called')}(?!\s*[+~])")):
            yield found.match["called"], found
        return
    reads = re.compile(
        rf"{name}(?:\.(?:get|pop|setdefault|fetch|getOrDefault|key\?|containsKey|delete))?\s*\??\.?[\[(]\s*{called.format('called')}"
        rf"(?!\s*\]\s*=[^=]|\s*[+~])|{called.format('inside')}\s+(?:not\s+)?in\s+{re.escape(stands.name)}\b"
        rf"|{name}\.(?P<dotted>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)\b(?!\s*[(=][^=])"
    )
    for found in _within(stands, reads):
        yield next(each for each in found.match.groups() if each), found


def _computed_from(stands: _Stands) -> Iterator[tuple[str, TextMatch]]:
    """Yield the identifiers that hold the name of a variable which is read from a name."""
    name = re.escape(stands.name)
    opens = r"\s*\(" if stands.is_getter else r"(?:\.(?:get|pop|fetch)\s*\(|\[)"
    reads = re.compile(rf"(?<![\w.$@]){name}{opens}\s*(?:[f$]?(?P<made>{MADE})|(?P<key>[A-Za-z_]\w*)\s*[,)\]])")
    for found in _within(stands, reads):
        yield found.match["key"] or found.match["made"], found


def _handed_on(stands: _Stands) -> Iterator[TextMatch]:
    """Yield where a name is an argument of a call: `connect(settings, 1)`."""
    if stands.is_getter:
        return iter(())
    return _within(stands, re.compile(rf"(?<![\w.$@]){re.escape(stands.name)}(?=\s*[,)])"))


def _within(stands: _Stands, pattern: re.Pattern[str]) -> Iterator[TextMatch]:
    file = stands.file
    end = file.starts[min(stands.last, len(file.lines))]
    for match in pattern.finditer(file.text, file.starts[stands.first - 1], end):
        yield TextMatch(file, file.line_at(match.start()), match)


async def _given_to(
    reader: Reader, where: Filter, file: IndexedText, line: int, offset: int
) -> tuple[list[_Stands], bool]:
    """Return the names that stand for the environment written at an offset, and whether code outside gets it."""
    begin = file.text[file.starts[line - 1] : offset]
    if (assigned := _ASSIGNS.match(begin[:MAX_BEFORE])) is not None:
        name = assigned["name"]
        last = len(file.lines) if "." in name or name.startswith("@") else _block_end(file.lines, line)
        first = 1 if "." in name or name.startswith("@") else line + 1
        return [_Stands(file, name, min(first, last), last)], False
    call = _call_around(file.text[max(0, offset - MAX_BEFORE) : offset])
    if call is None:
        return [], False
    callee, is_definition, position, keyword = call
    if is_definition:
        last = _block_end(file.lines, line, is_definition=True)
        return [_Stands(file, keyword, line, last)] if keyword else [], False
    if callee in _COPIES or (keyword.lower() in _OF_CHILDREN and not await _functions(reader, where, callee)):
        return [], False
    found: list[_Stands] = []
    for path, first, last in await _functions(reader, where, callee):
        text = await _text(reader, where, path, file)
        if text is not None and (name := _parameter(text, first, callee, position, keyword)):
            found.append(_Stands(text, name, first, last))
    return found, not found


async def _functions(reader: Reader, where: Filter, name: str) -> list[tuple[str, int, int]]:
    """Return the functions of the project with a name, and the constructors of classes with it."""
    labels = (Label.FUNCTION, Label.METHOD, Label.CLASS)
    scope = Filter(project=where.project or reader.project, labels=labels)
    nodes = [each for each in await reader.store.find(name, Match.SUFFIX, scope, 8) if each.row.path]
    return [(each.row.path, each.row.start_line, each.row.end_line) for each in nodes]


async def _text(reader: Reader, where: Filter, path: str, known: IndexedText) -> IndexedText | None:
    if path == known.path:
        return known
    data = (await reader.store.content(where.project or reader.project, [path])).get(path)
    return IndexedText(path, data.decode("utf-8", "replace"), is_test=False) if data is not None else None


def _parameter(file: IndexedText, first: int, callee: str, position: int, keyword: str) -> str:
    """Return the parameter that an argument is given to; "" if the definition does not tell."""
    text = file.text[file.starts[first - 1] :][:20_000]
    defines = re.search(
        rf"\b(?:{re.escape(callee)}|__init__|initialize|constructor|__construct)\b(?:<[^>()]{{0,200}}>)?\s*\(", text
    )
    if defines is None:
        return ""
    parameters = [
        match["name"]
        for part in arguments_of(text[defines.end() :])
        if (match := _PARAMETER.match(part.strip(" \t\n*&"))) is not None
    ]
    if parameters[:1] in (["self"], ["cls"], ["this"]):
        parameters = parameters[1:]
    if keyword:
        return keyword if keyword in parameters else ""
    return parameters[position] if position < len(parameters) else ""


def _call_around(before: str) -> tuple[str, bool, int, str] | None:
    """Return the function whose argument ends a text, whether it is defined there, the position and keyword."""
    depth = position = 0
    start = len(before)
    for at in range(len(before) - 1, -1, -1):
        sign = before[at]
        if sign in CLOSES:
            depth += 1
        elif sign in OPENS and depth:
            depth -= 1
        elif sign in OPENS:
            if sign != "(" or (callee := _CALLEE.search(before[max(0, at - 120) : at])) is None:
                return None
            keyword = _KEYWORD.search(before[at + 1 :] if position == 0 else before[start:])
            named = (keyword["name"] or keyword["label"]) if keyword is not None else ""
            return callee["name"], bool(callee["defines"]), position, named
        elif sign == "," and not depth:
            start = at + 1 if position == 0 else start
            position += 1
    return None


def _block_end(lines: list[str], line: int, *, is_definition: bool = False) -> int:
    """Return the last line behind a line that is indented as far, or further than the definition that it is."""
    least = _indentation(lines[line - 1]) + is_definition
    for number in range(line, len(lines)):
        text = lines[number]
        if (
            text.strip()
            and _indentation(text) < least
            and not (is_definition and text.lstrip().startswith(tuple(")}{")))
        ):
            return number
    return len(lines)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
