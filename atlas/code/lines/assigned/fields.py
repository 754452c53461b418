"""Where a field that statements attach to objects is written, and where it is read: `made.$x.$zone = zone`.

Every line of code that has the name is listed, once, as a write or a read, with the function around it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from atlas.code.graph.absence.occurrences import is_comment, lines_of_blocks
from atlas.code.lines.line_report import LineReport, TextLine, several, shown
from atlas.code.lines.scan_texts import TextMatch, is_document, scan_texts
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.code.retrieve.written_files import innermost
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match, Node
from atlas.core.wording import counted

_WRITES = lazy_regex(r"\b(?:written|writes?|assign(?:s|ed)|set|sets|stored?|stores|put)\b", re.IGNORECASE)
_READS = lazy_regex(r"\b(?:reads?|read back|looked up|consulted)\b", re.IGNORECASE)
_ASKS = lazy_regex(r"\b(?:where|what|who|which|list|show|all|every|find)\b", re.IGNORECASE)
_OF_HISTORY = lazy_regex(r"\b(?:when|since|commits?|versions?|releases?|changelog|history|env\w*)\b", re.IGNORECASE)
_NAME = lazy_regex(
    r"(?<![\w$@./-])(?P<name>[A-Za-z_$@][\w$]*(?:(?:\.|\?\.|->|::)[A-Za-z_$@][\w$]*)*)(?:\(\))?(?![\w$/-])"
)
_MEMBER = lazy_regex(r"\$\w|[\w$]\.[$_A-Za-z]|->|[a-z][A-Z]|_\w")
"""A word of a question that may be a field: `$x.$zone`, `self.limit`, `lastError`."""
_WRITTEN = lazy_regex(
    r"\s{0,9}(?:\[[^\[\]]{0,40}\]\s{0,9})?(?:(?:[-+*/|&^%]|\*\*|\|\||&&|\?\?|<<|>>)?=(?![=>~])|\+\+|--|:=)"
)
_STEPPED = lazy_regex(r"(?:\+\+|--|\bdelete\s{1,9}[\w$.]{0,60})$")
MOST_QUOTED, MOST_OTHERS = 24, 8
"""Lines up to which each is quoted, and other lines with the name that are listed."""
_OWN = frozenset(("this", "self", "@"))
_DATA = lazy_regex(r"\.(?:json|ya?ml|toml|lock|css|svg|xml|csv|cfg|ini)$")
_FUNCTIONS = (Label.FUNCTION, Label.METHOD)
_ORDER = ("written", "read", "written in tests", "read in tests")


async def answer_field_uses(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer where a field is written and read; None for other questions. Raises store errors."""
    text = query.text
    if query.states or query.reports or not _ASKS.search(text) or _OF_HISTORY.search(text):
        return None
    if not asks_writes_and_reads(text):
        return None
    for name in dict.fromkeys(_names(text)):
        field = re.split(r"\.|->|::", name)[-1]
        if await _is_other(reader, field, where):
            continue
        scan = await scan_texts(reader, where, _pattern(name), (field.encode(),), is_source)
        found = [(each, "written" if is_written(each) else "read") for each in scan.found if not _is_said(each)]
        if any(use == "written" for _, use in found):
            return await _report(reader, name, found, scan.notes, where)
    return None


def asks_writes_and_reads(text: str) -> bool:
    """Return whether a question asks where something is written, and where it is read."""
    return _WRITES.search(text) is not None and _READS.search(text) is not None


def asks_uses_of_field(text: str) -> bool:
    """Return whether a question names what may be a field, and asks where it is written and read."""
    return asks_writes_and_reads(text) and next(_names(text), "") != ""


def _names(text: str) -> Iterator[str]:
    for match in _NAME.finditer(text):
        if _MEMBER.search(match["name"]):
            yield match["name"].replace("?.", ".")


def _pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of a field behind an object; of `a.b`, each `b` of some `a`."""
    *owners, field = re.split(r"\.|->|::", name)
    own = [each for each in owners if each not in _OWN]
    before = rf"(?<![\w$]){re.escape(own[-1])}(?:\?\.|\.|->|::)" if own else r"(?<=[.>@:])"
    return re.compile(rf"{before}(?P<field>{re.escape(field)})(?![\w$])")


async def _is_other(reader: Reader, name: str, where: Filter) -> bool:
    """Return whether a name is that of a function or type, of which a question asks something else."""
    wanted = Filter(project=where.project, labels=(*_FUNCTIONS, Label.CLASS, Label.MODULE))
    return any(node.row.name == name for node in await reader.store.find(name, Match.SUFFIX, wanted, 5))


def _is_said(each: TextMatch) -> bool:
    """Return whether a comment has the name."""
    return is_comment(each.text) or each.line in lines_of_blocks(each.file.text)


def is_written(each: TextMatch) -> bool:
    """Return whether what a match ends with gets a value."""
    column = each.match.start() - each.file.starts[each.line - 1]
    end = each.match.end() - each.file.starts[each.line - 1]
    return _WRITTEN.match(each.text, end) is not None or _STEPPED.search(each.text[:column]) is not None


async def _report(
    reader: Reader, name: str, found: Sequence[tuple[TextMatch, str]], notes: tuple[str, ...], where: Filter
) -> LineReport:
    uses: dict[tuple[str, int, str], TextMatch] = {}
    for each, use in found:
        uses.setdefault((each.file.path, each.line, use), each)
    count = {group: sum(_group(each, use) == group for (_, _, use), each in uses.items()) for group in _ORDER}
    project = where.project or reader.project
    lines = await _each(reader, uses, project) if len(uses) <= MOST_QUOTED else _by_file(uses)
    lines.sort(key=lambda each: _ORDER.index(each.group))
    if others := await _otherwise(reader, name, {(path, line) for path, line, _ in uses}, where):
        lines.append(TextLine("named in other lines: keys, declarations, parameters", several(others, MOST_OTHERS), ""))
    tests = count["written in tests"] + count["read in tests"]
    title = f"`{name}`: written in {counted(count['written'], 'line')}, read in {count['read']}"
    title += f"; {counted(tests, 'line')} of tests" if tests else ""
    return LineReport("field", title, tuple(lines), notes, first=MOST_QUOTED)


def _group(each: TextMatch, use: str) -> str:
    return f"{use} in tests" if each.file.is_test else use


async def _each(reader: Reader, uses: Mapping[tuple[str, int, str], TextMatch], project: str) -> list[TextLine]:
    """Return each line with its text and the function around it."""
    inside: dict[str, list[Node]] = {}
    lines: list[TextLine] = []
    for (path, line, use), each in uses.items():
        if path not in inside:
            inside[path] = await reader.store.find(path, Match.PATH, Filter(project=project, labels=_FUNCTIONS), 10_000)
        around = innermost(inside[path], line)
        of = f" in `{around.row.name}`" if around is not None else ""
        lines.append(TextLine(_group(each, use), f"{path}:{line}{of}", shown(each.text)))
    return lines


def _by_file(uses: Mapping[tuple[str, int, str], TextMatch]) -> list[TextLine]:
    """Return the numbers of the lines of each file, which are too many to be quoted."""
    groups: dict[tuple[str, str], list[int]] = {}
    for (path, line, use), each in uses.items():
        groups.setdefault((_group(each, use), path), []).append(line)
    return [TextLine(group, f"{path}:{','.join(map(str, at))}", "") for (group, path), at in groups.items()]


async def _otherwise(
    reader: Reader, name: str, known: Collection[tuple[str, int]], where: Filter
) -> list[tuple[str, int]]:
    """Return the lines of code outside tests that have the name, but not as a member of an object."""
    *owners, field = re.split(r"\.|->|::", name)
    if owners and owners[-1] not in _OWN:
        return []
    pattern = re.compile(rf"(?<![\w$]){re.escape(field)}(?![\w$])")
    scan = await scan_texts(reader, where, pattern, (field.encode(),), is_source)
    places = dict.fromkeys(
        (each.file.path, each.line) for each in scan.found if not each.file.is_test and not _is_said(each)
    )
    return [each for each in places if each not in known]


def is_source(path: str) -> bool:
    """Return whether a file may be code, by its name."""
    return not is_document(path) and not _DATA.search(path)
