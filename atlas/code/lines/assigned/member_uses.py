"""Whether anything uses a member of an object that is no class: `Utils.l`, where `l` is a key or was assigned.

The object has further names, by which the member may be read: variables that it is assigned to, imports of it, and
functions that return it. Lines that read the member of another name are listed apart: that may be another object.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from atlas.code.graph.absence.occurrences import is_comment
from atlas.code.lines.assigned.fields import asks_writes_and_reads, is_source, is_written
from atlas.code.lines.line_report import LineReport, TextLine, several, shown
from atlas.code.lines.scan_texts import IndexedText, TextMatch, read_texts, scan_texts
from atlas.code.question.parse_question import Query
from atlas.code.question.relation_kinds import Kind
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

_KINDS = frozenset((Kind.USAGES, Kind.CALLERS, Kind.UNUSED))
_IMPORT = lazy_regex(
    r"\bimport\s{1,9}(?:\*\s{1,9}as\s{1,9})?(?P<name>[A-Za-z_$][\w$]{0,80})\s{1,9}from\b"
    r"|(?<![\w$])(?P<required>[A-Za-z_$][\w$]{0,80})\s{0,9}=\s{0,9}require\("
)
_FUNCTION = lazy_regex(r"(?<![\w$.])(?P<name>[A-Za-z_$][\w$]{0,80})\s?\(\)\s?\{\s{0,40}$")
"""The head of a function without parameters, up to where its body begins."""
_OF_TYPES = lazy_regex(r"\.d\.\w{2,3}$")
_VALUE = lazy_regex(r"\s{0,9}[=:]\s{0,9}(?P<value>[A-Za-z_$][\w$]*)\s{0,9}(?:[;,}]|//|$)")
_WITH_KEYS = "script"
"""Ending of languages in which a key of an object is a member."""
ROUNDS, MOST_NAMES = 3, 12
MAX_EDGES = 2_000
MOST_NODES, MOST_OTHERS, MOST_NAMED = 50, 6, 5
_USES = (EdgeType.CALLS, EdgeType.REFERENCES)


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of an object: in every file, and those that only one file gives it."""

    everywhere: set[str]
    by_path: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    objects: dict[str, Node] = field(default_factory=dict[str, Node])
    """The symbols that are the object, by uid."""

    def add(self, path: str, name: str) -> None:
        """Add a name that a file gives to the object."""
        self.by_path.setdefault(path, set()).add(name)

    def has(self, name: str, path: str) -> bool:
        """Return whether a name denotes the object in a file."""
        return name in self.everywhere or name in self.by_path.get(path, ())

    def all(self) -> list[str]:
        """Return every name."""
        return sorted(self.everywhere.union(*self.by_path.values()))


async def answer_member_uses(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer what uses a member of an object; None for other questions, and for members that are searched as words.

    Raises store errors.
    """
    intent = query.relation
    if intent is None or intent.kind not in _KINDS or query.reports or asks_writes_and_reads(query.text):
        return None
    segments = re.split(r"[.:]", intent.name)
    owner, member = segments[-2:] if len(segments) > 1 else ("", "")
    if not re.fullmatch(r"[A-Za-z_$][\w$]*", owner) or not re.fullmatch(r"[A-Za-z_$][\w$]*", member):
        return None
    if await _is_indexed(reader, owner, member, where):
        return None
    uses = re.compile(
        rf"(?<![\w$])(?P<owner>[A-Za-z_$][\w$]*(?:\(\))?)(?:\?\.|\.)(?P<member>{re.escape(member)})(?![\w$])"
    )
    scan = await scan_texts(reader, where, uses, (f".{member}".encode(),), is_source)
    objects = await _objects(reader, owner, where)
    said = [each for each in scan.found if each.match["owner"] == owner]
    has_keys = any(node.row.language.endswith(_WITH_KEYS) for node in objects)
    if not (has_keys or any(is_written(each) or _imports(each.file, owner) for each in said)):
        return None
    names = await _names_of(reader, owner, objects, where)
    taken = re.compile(
        rf"\{{[^{{}}\n]{{0,200}}(?<![\w$.])(?P<member>{re.escape(member)})(?![\w$])[^{{}}\n]{{0,200}}\}}\s{{0,9}}=\s{{0,9}}"
        r"(?:[\w$]{1,80}\.){0,3}(?P<owner>[A-Za-z_$][\w$]*(?:\(\))?)(?![\w$.(])"
    )
    apart = await scan_texts(reader, where, taken, (member.encode(),), is_source)
    found = [each for each in (*scan.found, *apart.found) if not is_comment(each.text)]
    own = [each for each in found if names.has(each.match["owner"], each.file.path)]
    keys = await _keys(reader, names, member)
    if not keys and not any(is_written(each) for each in own):
        return None
    others = [each for each in found if not names.has(each.match["owner"], each.file.path)]
    report = _report(f"{owner}.{member}", names, own, others, keys)
    held = await _held(reader, [*keys, *(each for each in own if is_written(each))])
    return replace(report, notes=(*held, *scan.notes))


async def _is_indexed(reader: Reader, owner: str, member: str, where: Filter) -> bool:
    """Return whether the owner is a class or module, or the member a symbol whose name is searched as a word."""
    found = await reader.store.find(f"{owner}.{member}", Match.SUFFIX, Filter(project=where.project), 5)
    if any(node.row.label != Label.VALUE for node in found) or (found and reader.split_words(member)):
        return True
    classes = Filter(project=where.project, labels=(Label.CLASS, Label.MODULE, Label.PACKAGE))
    return any(node.row.name == owner for node in await reader.store.find(owner, Match.SUFFIX, classes, 5))


async def _objects(reader: Reader, owner: str, where: Filter) -> list[Node]:
    """Return the constants and variables of a name."""
    values = Filter(project=where.project, labels=(Label.VALUE,))
    found = await reader.store.find(owner, Match.SUFFIX, values, MOST_NODES)
    return [node for node in found if node.row.name == owner and not _OF_TYPES.search(node.row.path)]


def _imports(file: IndexedText, name: str) -> bool:
    """Return whether a file imports an object under a name."""
    return any(name in (match["name"], match["required"]) for match in _IMPORT.finditer(file.text))


async def _names_of(reader: Reader, owner: str, objects: Sequence[Node], where: Filter) -> _Names:
    names = _Names({owner})
    for node in objects:
        names.objects[node.row.uid] = node
        if (given := _VALUE.search(node.row.signature)) is not None:
            names.add(node.row.path, given["value"])
    await _add_imported(reader, names, where)
    for _ in range(ROUNDS):
        before = len(names.all())
        await _add_assigned(reader, names, where)
        if len(names.all()) == before or len(names.all()) >= MOST_NAMES:
            break
    return names


async def _add_imported(reader: Reader, names: _Names, where: Filter) -> None:
    """Add the objects of other files that a name imports, and the names of all imports of these."""
    scan = await scan_texts(reader, where, _IMPORT, (b"import", b"require"), is_source, is_constant=True)
    lines = {(each.file.path, each.line): each.match["name"] or each.match["required"] for each in scan.found}
    wanted = {place for place, name in lines.items() if names.has(name, place[0])}
    modules: list[str] = []
    for path in dict.fromkeys(path for path, _ in wanted):
        held = await reader.store.find(path, Match.PATH, Filter(project=where.project, labels=(Label.MODULE,)), 1)
        modules += [node.row.uid for node in held]
    edges = await reader.store.edges(modules, Direction.OUT, (EdgeType.IMPORTS,), MAX_EDGES) if modules else []
    paths = {node.row.uid: node.row.path for node in await reader.store.symbols(modules)}
    for edge in edges:
        if edge.node.row.label == Label.VALUE and any((paths[edge.row.source], at) in wanted for at in edge.row.lines):
            names.objects[edge.node.row.uid] = edge.node
    imported = [uid for uid, node in names.objects.items() if node.row.name == "default"]
    edges = await reader.store.edges(imported, Direction.IN, (EdgeType.IMPORTS,), MAX_EDGES) if imported else []
    for edge in edges:
        for at in edge.row.lines:
            if name := lines.get((edge.node.row.path, at)):
                names.add(edge.node.row.path, name)


async def _add_assigned(reader: Reader, names: _Names, where: Filter) -> None:
    """Add the variables that a name is assigned to, and the functions that return what it denotes."""
    known = "|".join(re.escape(each) for each in names.all())
    given = re.compile(
        rf"(?<![\w$.])(?P<new>[A-Za-z_$][\w$]{{0,80}})\s{{0,9}}=\s{{0,9}}(?:[\w$]{{1,80}}(?:\(\))?\.){{0,3}}(?P<old>{known})"
        r"\s{0,9}(?:;|,|//|$)"
        rf"|\breturn (?P<returned>{known})(?![\w$.(\[])",
        re.MULTILINE,
    )
    scan = await scan_texts(reader, where, given, [each.encode() for each in names.all()], is_source)
    for each in scan.found:
        path, match = each.file.path, each.match
        if match["returned"] and names.has(match["returned"], path):
            lines = each.file.lines[max(0, each.line - 2) : each.line]
            above = _FUNCTION.search(" ".join(lines).partition("return")[0])
            if above is not None:
                names.everywhere.add(f"{above['name']}()")
        elif match["new"] and names.has(match["old"], path):
            names.add(path, match["new"])


async def _keys(reader: Reader, names: _Names, member: str) -> list[TextMatch]:
    """Return the lines of the objects' own texts that have the member as a key: `m: monthDiff`."""
    key = re.compile(rf"(?:^|[{{,])\s{{0,40}}(?P<member>{re.escape(member)})(?=\s{{0,9}}[:,}}(]|\s{{0,9}}$)")
    found: list[TextMatch] = []
    for node in names.objects.values():
        row = node.row
        lines = range(row.start_line, row.end_line + 1)
        for file in await read_texts(reader, Filter(project=node.project), lambda path, own=row.path: path == own):
            matches = ((line, key.search(file.lines[line - 1])) for line in lines if len(lines) > 1)
            found += (TextMatch(file, line, match) for line, match in matches if match is not None)
    return found


def _report(
    name: str, names: _Names, own: Sequence[TextMatch], others: Sequence[TextMatch], keys: Sequence[TextMatch]
) -> LineReport:
    given = [*keys, *(each for each in own if is_written(each))]
    used = [each for each in own if not is_written(each) and not each.file.is_test]
    tests = [each for each in own if not is_written(each) and each.file.is_test]
    lines = [TextLine("given", each.place, shown(each.text)) for each in given]
    lines += [TextLine("used", each.place, shown(each.text)) for each in used]
    if tests:
        lines.append(TextLine("used in tests", several([(each.file.path, each.line) for each in tests], 8), ""))
    owner, _, member = name.partition(".")
    if others and not used:
        of: dict[str, list[tuple[str, int]]] = {}
        for each in others:
            of.setdefault(each.match["owner"], []).append((each.file.path, each.line))
        group = f"`.{member}` of other names, objects that are not known to be `{owner}`"
        lines += [TextLine(group, f"`{each}`", several(places)) for each, places in [*of.items()][:MOST_OTHERS]]
    aliases = [f"`{each}`" for each in names.all() if each != owner]
    by = f" (also named {', '.join(aliases[:MOST_NAMED])})" if aliases else ""
    count = counted(len(used), "line") if used else "no line outside tests" if tests else "no line"
    title = f"`{name}`{by} is used in {count}"
    return LineReport("member", title, tuple(lines))


async def _held(reader: Reader, given: Iterable[TextMatch]) -> tuple[str, ...]:
    """Return a note with the uses of the function that the member holds, without the lines that give it."""
    given = list(given)
    places = {(each.file.path, each.line) for each in given}
    for each in given:
        match = _VALUE.match(each.text, each.match.end("member") - each.file.starts[each.line - 1])
        if match is None:
            continue
        functions = Filter(project=reader.project, labels=(Label.FUNCTION, Label.METHOD))
        found = await reader.store.find(match["value"], Match.SUFFIX, functions, MOST_NODES)
        inside = [node for node in found if node.row.path == each.file.path]
        if len(inside) != 1:
            continue
        row = inside[0].row
        edges = await reader.store.edges([row.uid], Direction.IN, _USES, MAX_EDGES)
        lines = {(edge.node.row.path, line) for edge in edges for line in edge.row.lines}
        if not lines & places:
            continue  # a variable of its name
        used = sorted(lines - places)
        uses = f"used in {counted(len(used), 'line')}: {several(used, 6)}" if used else "without other uses"
        return (f"it holds {row.kind} `{row.name}` {row.path}:{row.line}, {uses}",)
    return ()
