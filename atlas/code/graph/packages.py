"""Answers to questions about packages: what projects declare, with versions and places, and which files import it.

Reads the graph only. A question that names something is answered where the index has a package of that name.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from atlas.code.graph.declarations import (
    MAX_DECLARED,
    TIMEOUT,
    Declaration,
    family_names,
    in_groups,
    major_free,
    normal_name,
    read_declarations,
    short_name,
)
from atlas.code.graph.package_subjects import is_for, name_parts, of_topic
from atlas.code.question.names import dotted
from atlas.code.question.package_questions import PackageAspect, PackageQuestion
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Direction, EdgeType, Filter, Label, Match, Node

MAX_EDGES = 20_000
MAX_COMPUTED = 6
"""Lines of one computed version that are shown."""
MAX_LINE = 160
_PACKAGES = "MATCH (d:ExternalPackage) RETURN d.uid, d.name, d.import_name, d.standard ORDER BY d.uid"
_IMPORTING = (
    "MATCH (a)-[r:IMPORTS]->(b) WHERE b.path STARTS WITH $folder AND a.path <> b.path"
    " RETURN a.path, r.line, a.is_test ORDER BY a.path, r.line"
)
_VERSION = lazy_regex(r"[-_]v?\d[\w.+]{0,100}$")


@dataclass(frozen=True, slots=True)
class ImportingFile:
    """A file that imports a package or a name of it, with the lines."""

    path: str
    lines: tuple[int, ...]
    is_test: bool


@dataclass(frozen=True, slots=True)
class PackageReport:
    """The answer to a question about packages."""

    question: PackageQuestion
    declared: tuple[Declaration, ...] = ()
    importing: tuple[ImportingFile, ...] = ()
    package: str = ""
    """Name of the package that the question means; "" where it names none, or an unknown one."""
    standard: str = ""
    """Languages whose standard library the package is."""
    near: tuple[str, ...] = ()
    """Similar names, where the package is unknown."""
    projects: int = 1
    """Projects of the repository that declare dependencies."""
    every: tuple[Declaration, ...] = ()
    """Everything that is declared, of which a list shows some; for a question for one version, all of them."""
    computed: tuple[tuple[str, str], ...] = ()
    """Lines that compute the version, as place and text."""
    has_root: bool = False
    """Whether a project at the root declares dependencies."""
    uids: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Each package that is asked about with its nodes: as it is declared, and as code imports it."""
    beside: tuple[tuple[str, str, str], ...] = ()
    """Further lines that the question asks for, as group, place and text."""
    named: tuple[tuple[str, str], ...] = ()
    """Files of code that name a package which no file imports, as path with lines, and the text of the first."""
    commanded: tuple[tuple[str, str], ...] = ()
    """Lines of scripts and builds that call a package which no code imports or names, as place and text."""


async def answer_packages(reader: Reader, question: PackageQuestion, where: Filter) -> PackageReport | None:
    """Answer a question about packages; None where it means no package or project. Raises store errors."""
    declared = await read_declarations(reader, where.project)
    if question.project:
        kept = tuple(each for each in declared if _is_project(each, question.project, reader.root.name))
        if not kept and not await _is_known_project(reader, question.project, where):
            return None
        # another project of the same name, such as an example, is not the one that is meant; a root that only declares
        # what its documentation needs is none
        at_root = tuple(each for each in kept if not each.folder)
        called = [each for each in kept if question.project in (each.folder, each.project)]
        if called and all(each.folder for each in called):
            kept, at_root = tuple(called), ()  # the folder of the checkout has the name in another case
        declared = at_root if any(each.kind != "development" for each in at_root) else kept
    projects = len({each.source for each in declared})
    if question.asks == PackageAspect.UNUSED:
        return PackageReport(question, await _unused(reader, declared), projects=projects)
    if question.asks == PackageAspect.LIST:
        if not declared and not question.certain and not question.project:
            return None
        kinds = question.kinds
        kept = tuple(
            each
            for each in (in_groups(declared, question.groups) if question.groups else declared)
            if (not kinds or each.kind in kinds or each.group in kinds)
            and (not question.topic or of_topic(each, question.topic))
            and (not question.platform or is_for(each, question.platform))
            and (not question.names or short_name(each.package or each.name) in question.names)
        )
        if question.names and not kept:
            return None  # a tool that is not known by name
        return PackageReport(question, kept, projects=projects, every=declared)
    found = await _about(reader, question, declared, where, projects)
    return replace(found, has_root=any(not each.folder for each in declared)) if found is not None else None


async def files_importing(reader: Reader, uids: Sequence[str]) -> tuple[ImportingFile, ...]:
    """Return the files that import packages, their sub-packages or names; code before tests."""
    inside = await parts_of(reader, uids)
    edges = await reader.store.edges(inside, Direction.IN, (EdgeType.IMPORTS,), MAX_EDGES)
    found: dict[str, tuple[set[int], bool]] = {}
    for edge in edges:
        if edge.node.row.path:
            found.setdefault(edge.node.row.path, (set(), edge.node.row.is_test))[0].update(edge.row.lines)
    files = [ImportingFile(path, tuple(sorted(lines)), is_test) for path, (lines, is_test) in found.items()]
    return tuple(sorted(files, key=lambda file: (file.is_test, file.path)))


async def parts_of(reader: Reader, uids: Sequence[str]) -> list[str]:
    """Return packages with what they contain, two levels deep: sub-packages, and names of both."""
    inside = list(dict.fromkeys(uids))
    level = inside
    for _ in range(2):
        edges = await reader.store.edges(level, Direction.OUT, (EdgeType.CONTAINS,), MAX_EDGES)
        level = [edge.node.row.uid for edge in edges if edge.node.row.uid not in inside]
        inside = list(dict.fromkeys([*inside, *level]))
        if not level:
            break
    return inside


async def imported_names(reader: Reader, project: str) -> frozenset[str]:
    """Return the names of all packages that are declared or imported, as code writes them."""
    rows = (await reader.store.cypher(_PACKAGES, {}, MAX_DECLARED, TIMEOUT, project)).rows
    return frozenset(name for row in rows for name in (_text(row[1]), _text(row[2])) if name)


async def _about(
    reader: Reader, question: PackageQuestion, declared: Sequence[Declaration], where: Filter, projects: int
) -> PackageReport | None:
    """Answer a question that names a package."""
    wanted = normal_name(question.package)
    rows = (await reader.store.cypher(_PACKAGES, {}, MAX_DECLARED, TIMEOUT, where.project)).rows
    matching, known = _named(wanted, declared, rows)
    by_part = not matching and question.asks == PackageAspect.DEPENDENTS and question.package[:1].isupper()
    if by_part:
        matching = _by_part(declared, wanted)
    if not matching and not known:
        if not question.certain or await is_own(reader, question.package, where):
            return None
        near = tuple(dict.fromkeys(_text(row[1]) for row in rows if wanted and wanted in normal_name(_text(row[1]))))[
            :5
        ]
        return PackageReport(question, near=near, projects=projects)
    if (
        question.asks != PackageAspect.VERSION
        and not question.certain
        and await is_own(reader, question.package, where)
    ):
        # a symbol of the project is meant rather than a package of that name
        return None
    if question.kinds:
        of_kind = [each for each in matching if each.kind in question.kinds]
        # `is X a runtime dependency`: what it is instead answers that
        matching = matching if not of_kind and question.asks == PackageAspect.DEPENDS else of_kind
    every, matching = matching, [each for each in matching if _has_version(each, question.version)]
    uids = dict.fromkeys([*(each.target for each in matching if not each.is_inner), *(_text(row[0]) for row in known)])
    importing: tuple[ImportingFile, ...] = ()
    if not question.version and (question.asks != PackageAspect.VERSION or question.importers):
        importing = await files_importing(reader, list(uids))
        for folder in dict.fromkeys(each.target.partition(":project:")[2] for each in matching if each.is_inner):
            importing += await _files_importing_folder(reader, folder, where.project)
    names = {each.name for each in matching}
    name = (
        (question.package if len(names) > 1 and (by_part or not known) else matching[0].name)
        if matching
        else question.package
    )
    name = name if matching or not known else _text(known[0][1])
    standard = _text(known[0][3]) if known and not every else ""
    computed = await _computed(reader, matching, where.project)
    near = [] if every else [each for each in _by_part(declared, wanted) if not standard]
    return PackageReport(
        question,
        tuple(matching),
        importing,
        name,
        standard,
        tuple(dict.fromkeys(f"{each.package or each.name} [{each.kind}] {each.path}:{each.line}" for each in near))[:5],
        projects,
        tuple(every),
        computed,
        uids=((name, tuple(uids)),),
    )


def _named(
    wanted: str, declared: Sequence[Declaration], rows: Sequence[Sequence[object]]
) -> tuple[list[Declaration], list[Sequence[object]]]:
    """Return the declarations of a package by its normal name, and what code imports of it."""
    matching = [each for each in declared if wanted in _names_of(each)]
    known = [
        row
        for row in rows
        if wanted in (normal_name(_text(row[1])), normal_name(_text(row[2])), normal_name(_uid_name(row[0])))
    ]
    if not matching and not known:
        known = _by_short_name(rows, wanted)
        uids = {_text(row[0]) for row in known}
        matching = [each for each in declared if each.target in uids]
    if not matching:
        # also where code imports a namespace of that name: `Predis` of `predis/predis`
        matching = [each for each in declared if not each.is_inner and wanted == short_name(each.name)]
        matching.sort(key=lambda each: (each.kind == "indirect", each.folder != ""))
    if not matching and not known:
        # several packages of one publisher: `ktor`
        matching = [each for each in declared if not each.is_inner and wanted in family_names(each)]
    if {_text(row[0]) for row in known} <= {each.target for each in matching}:
        known = [*known, *_namespaces(matching, declared, rows)]
    return matching, known


def _namespaces(
    matching: Sequence[Declaration], declared: Sequence[Declaration], rows: Sequence[Sequence[object]]
) -> list[Sequence[object]]:
    """Return the imported namespaces of an artifact, which its name does not tell: `net.sf.cglib` of `cglib:cglib`.

    One that has the artifact as a part, or begins with the group of no other artifact.
    """
    coordinates = {each.name for each in declared if ":" in each.name}
    found: list[Sequence[object]] = []
    for name in dict.fromkeys(each.name for each in matching if not each.is_inner):
        group, colon, artifact = name.partition(":")
        if not colon:
            continue
        is_alone = not any(other.partition(":")[0] == group for other in coordinates - {name})
        for row in rows:
            namespace = _text(row[1])
            parts = namespace.split(".")
            is_below = is_alone and "." in group and f"{namespace}.".startswith(f"{group}.")
            if ":" not in namespace and not _text(row[3]) and (artifact.lower() in parts or is_below):
                found.append(row)
    return found


def _by_part(declared: Sequence[Declaration], wanted: str) -> list[Declaration]:
    """Return the packages that have a name as a part: `Kotlin`."""
    outer = [each for each in declared if not each.is_inner and each.kind != "indirect"]
    return [each for each in outer if wanted in name_parts(each.name)]


async def _computed(reader: Reader, declared: Sequence[Declaration], project: str) -> tuple[tuple[str, str], ...]:
    """Return the lines of manifests that define what a version is computed with: `{:name, name_version()}`."""
    open_ = [each for each in declared if each.range and not re.search(r"\d|\*", each.range) and not each.is_inner]
    texts = await reader.store.content(project, sorted({each.path for each in open_}))
    found: dict[str, str] = {}
    for each in open_[:MAX_COMPUTED]:
        lines = texts.get(each.path, b"").decode("utf-8", "replace").split("\n")
        for name in re.findall(r"[A-Za-z_]\w*", each.range)[:MAX_COMPUTED]:
            defines = re.compile(rf"\s*(?:\w+ )?@?{re.escape(name)}\b\W*(?:\bdo\b|=|:|\{{|\s[\"'])")
            start = next((number for number, line in enumerate(lines, 1) if defines.match(line)), 0)
            if start and start != each.line:
                # with the condition above it
                start -= bool(start > 1 and lines[start - 2].strip())
                body = itertools.takewhile(str.strip, lines[start - 1 : start + MAX_COMPUTED])
                found |= {f"{each.path}:{start + index}": line.strip()[:MAX_LINE] for index, line in enumerate(body)}
    return tuple(found.items())


def _has_version(each: Declaration, version: str) -> bool:
    """Return whether a declaration allows or locks a version, as far as the question writes it: `3` is `^3.1`."""
    pattern = rf"(?<![\w.]){re.escape(version)}(?![\w])"
    return not version or any(re.search(pattern, text) for text in (each.range, each.locked))


async def _files_importing_folder(reader: Reader, folder: str, project: str) -> tuple[ImportingFile, ...]:
    """Return the files outside of a project of the repository that import something of it."""
    inside = f"{folder}/"
    if folder in ("", "."):
        return ()
    rows = (await reader.store.cypher(_IMPORTING, {"folder": inside}, MAX_EDGES, TIMEOUT, project)).rows
    found: dict[str, tuple[set[int], bool]] = {}
    for path, line, is_test in rows:
        if isinstance(path, str) and not path.startswith(inside):
            lines, _ = found.setdefault(path, (set[int](), bool(is_test)))
            lines.update([line] if isinstance(line, int) else ())
    files = [ImportingFile(path, tuple(sorted(lines)), is_test) for path, (lines, is_test) in found.items()]
    return tuple(sorted(files, key=lambda file: (file.is_test, file.path)))


async def _unused(reader: Reader, declared: Sequence[Declaration]) -> tuple[Declaration, ...]:
    """Return declared packages of which no file imports anything."""
    packages = {each.target: each for each in declared if not each.is_inner and each.kind != "indirect"}
    uids = list(packages)
    edges = await reader.store.edges(uids, Direction.OUT, (EdgeType.CONTAINS,), MAX_EDGES)
    owner = {edge.node.row.uid: edge.row.source for edge in edges}
    inner = await reader.store.edges(list(owner), Direction.OUT, (EdgeType.CONTAINS,), MAX_EDGES)
    owner |= {edge.node.row.uid: owner[edge.row.source] for edge in inner if edge.node.row.uid not in packages}
    imported = await reader.store.degrees([*uids, *owner], Direction.IN, (EdgeType.IMPORTS,))
    used = {owner.get(uid, uid) for uid, counts in imported.items() if sum(counts.values())}
    return tuple(each for each in packages.values() if each.target not in used)


async def is_own(reader: Reader, name: str, where: Filter) -> bool:
    """Return whether a definition of the project has the name."""
    anywhere = Filter(project=where.project)
    found = [node for node in await reader.store.find(dotted(name), Match.SUFFIX, anywhere, 20) if _is_definition(node)]
    if not found or any(node.row.label != Label.VALUE for node in found):
        return bool(found)
    # what a file sets where the import fails: `gevent = None`
    rows = (await reader.store.cypher(_PACKAGES, {}, MAX_DECLARED, TIMEOUT, where.project)).rows
    uids = [_text(row[0]) for row in rows if name in (_text(row[1]), _text(row[2]))]
    importing = {each.path for each in await files_importing(reader, uids)} if uids else set[str]()
    return any(node.row.path not in importing for node in found)


def _is_definition(node: Node) -> bool:
    outside = (Label.EXTERNAL_PACKAGE, Label.EXTERNAL_SYMBOL, Label.PROJECT)
    return node.row.label not in outside and node.row.kind not in ("docsection", "docfile", "field")


async def _is_known_project(reader: Reader, name: str, where: Filter) -> bool:
    rows = (await reader.store.cypher("MATCH (p:Project) RETURN p.uid, p.name", {}, 1_000, TIMEOUT, where.project)).rows
    return any(name in (_text(row[1]), _text(row[0]).partition(":project:")[2]) for row in rows)


def _is_project(each: Declaration, name: str, root: str) -> bool:
    name = name.strip("/").removeprefix("./")
    folder = each.folder
    if not folder and name.lower() in (root.lower(), short_name(each.project)):
        return True
    if folder:
        return name in (each.project, folder, folder.rpartition("/")[2])
    # a folder of an unpacked archive has the version in its name
    return name in (each.project, root, _VERSION.sub("", root))


def _names_of(each: Declaration) -> Iterable[str]:
    names = (each.name, each.package, each.import_name, _uid_name(each.target))
    return {normal_name(name) for name in names if name}


def _uid_name(uid: object) -> str:
    return _text(uid).partition(":ext:")[2]


def _by_short_name(rows: Sequence[Sequence[object]], wanted: str) -> list[Sequence[object]]:
    """Return the package whose name ends in what is asked for, with its other major versions; none of several."""
    name, _, major = wanted.partition("/")
    found = [row for row in rows if name == short_name(_text(row[1]))]
    if re.fullmatch(r"v\d+", major):
        found = [row for row in found if _text(row[1]).endswith((f"/{major}", f".{major}"))]
    return found if len({major_free(_text(row[1])) for row in found}) == 1 else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
