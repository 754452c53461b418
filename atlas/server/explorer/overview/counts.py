"""What the first page counts of one generation of the index, read once: files, imports, hubs, entry points, history.

Churn comes from one pass over the last commits; without a history the page says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atlas.app.session import Session
from atlas.code.reader import Reader
from atlas.core.history import Commit
from atlas.core.model import FileRecord
from atlas.core.wording import counted
from atlas.server.explorer.commits import LastCommits
from atlas.server.explorer.imports import read_imports
from atlas.server.explorer.overview.dependencies import ProjectDependencies, read_dependencies
from atlas.server.explorer.overview.prose import MAX_READ, first_prose, nesting

LISTED = 15
"""Entries of a list of the page."""
HUBS = 2 * LISTED
"""Hubs that are read: of a class and its constructor one is shown."""
HOT = 60
"""Files with most commits times lines, whose functions are read."""
MAX_FUNCTIONS = 100_000
ROWS = 400_000
SECONDS = 20.0
CANDIDATES = 300
"""Symbols with most callers, tests included, among which the hubs are counted."""

_CALLS = "MATCH (a)-[:CALLS]->(b) WHERE b.path <> '' RETURN b.path AS path, count(*) AS n"
_TESTS = "MATCH (a)-[:TESTS]->(b) WHERE b.path <> '' RETURN b.path AS path, count(*) AS n"
_CALLED = f"MATCH (a)-[:CALLS]->(b) RETURN b.uid AS uid, count(*) AS n ORDER BY n DESC LIMIT {CANDIDATES}"
_HUBS = (
    "MATCH (a)-[:CALLS]->(b) WHERE ",
    "b.path <> '' AND b.is_test = false AND a.is_test = false "
    "RETURN b.uid AS uid, b.kind AS kind, b.qualified_name AS name, count(*) AS n "
    f"ORDER BY n DESC, name LIMIT {HUBS}",
)
_ENTRIES = (
    "MATCH (r) WHERE r.kind IN ['route', 'command', 'event', 'signal', 'task', 'message'] AND r.is_test = false "
    "RETURN r.uid AS uid, r.kind AS kind, r.name AS name, r.path AS path ORDER BY kind, name LIMIT 5000"
)
_PLACES = (
    "MATCH (a)-[r:HANDLES_EVENT|EMITS_EVENT]->(e) RETURN e.uid AS uid, a.path AS path, a.is_test AS t, type(r) AS r"
)
_FUNCTIONS = (
    "MATCH (f) WHERE f.kind IN ['function', 'method', 'constructor'] AND f.path IN $paths "
    "RETURN f.path AS path, f.start_line AS first, f.end_line AS last"
)
_MAINS = (
    "MATCH (r) WHERE r.name = 'main' AND r.kind IN ['function', 'method'] AND r.is_test = false "
    "RETURN r.uid AS uid, 'main' AS kind, r.qualified_name AS name, r.path AS path ORDER BY name LIMIT 100"
)


@dataclass(frozen=True, slots=True)
class CountedFile:
    """A file with what the map can show of it."""

    path: str
    lines: int
    language: str
    is_test: bool
    churn: int
    callers: int
    tests: int
    problems: int
    age: int
    """Unix time of the last commit that changed it, 0 if none of those that were read did."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A symbol with a number: a hub, or an entry point with the number of its kind."""

    uid: str
    kind: str
    name: str
    path: str
    count: int


@dataclass(frozen=True, slots=True)
class Hotspot:
    """A file that changes often and is hard to read: churn times nesting."""

    path: str
    churn: int
    lines: int
    nesting: int
    """See `prose.nesting`."""


@dataclass(frozen=True, slots=True)
class ProjectCounts:
    """All that the page counts of one generation."""

    generation: int
    files: tuple[CountedFile, ...]
    imports: tuple[tuple[str, str, int], ...]
    """(importing file, imported file or folder, edges)."""
    hubs: tuple[Counted, ...]
    entries: Mapping[str, tuple[Counted, ...]]
    """By kind."""
    readme: str
    commits: tuple[Commit, ...]
    history: str
    """Why there is no churn, or of how many commits it is."""
    hotspots: tuple[Hotspot, ...]
    dependencies: ProjectDependencies
    health: tuple[str, ...]
    """What there is to know about the index itself, one line each."""
    packs: tuple[str, ...] = ()
    """The installed packs that it knows."""


async def count(
    session: Session, reader: Reader, generation: int, last: LastCommits, packs: tuple[str, ...]
) -> ProjectCounts:
    """Return the counts of the project. Raises what the store raises."""
    records = {path: one for path, one in (await reader.store.manifest(reader.project)).items() if path}
    callers, tests = await _by_path(reader, _CALLS), await _by_path(reader, _TESTS)
    read = await last.read(reader)
    commits = read.commits
    churn = Counter(path for each in commits if not each.more_paths for path in each.paths)
    ages: dict[str, int] = {}
    for each in commits:
        for path in each.paths:
            ages[path] = max(ages.get(path, 0), each.time)
    files = tuple(_file(record, churn, callers, tests, ages) for record in records.values())
    return ProjectCounts(
        generation=generation,
        files=files,
        imports=(await read_imports(reader)).edges,
        hubs=tuple(await _hubs(reader)),
        entries=await _entries(reader),
        readme=await _readme(reader, records),
        commits=commits,
        history=read.said,
        hotspots=await _hotspots(reader, files),
        dependencies=await read_dependencies(session, reader),
        health=await _health(reader, records),
        packs=packs,
    )


def _file(
    record: FileRecord,
    churn: Mapping[str, int],
    callers: Mapping[str, int],
    tests: Mapping[str, int],
    ages: Mapping[str, int],
) -> CountedFile:
    path = record.path
    counts = churn.get(path, 0), callers.get(path, 0), tests.get(path, 0), len(record.problems), ages.get(path, 0)
    return CountedFile(path, record.lines, record.language, record.is_test, *counts)


async def _rows(reader: Reader, text: str) -> Sequence[tuple[Any, ...]]:
    return (await reader.store.cypher(text, {}, ROWS, SECONDS, reader.project)).rows


async def _hubs(reader: Reader) -> list[Counted]:
    """Return what most callers that are no tests call: counted exactly among those with most callers of any kind.

    What has fewer callers in all than the last hub has without tests is none, so where candidates end before that, all
    calls are counted.
    """
    called = await _rows(reader, _CALLED)
    given = {"uids": [row[0] for row in called]}
    text = f"{_HUBS[0]}b.uid IN $uids AND {_HUBS[1]}"
    found = _shown_hubs((await reader.store.cypher(text, given, HUBS, SECONDS, reader.project)).rows)
    is_whole = len(called) < CANDIDATES or (len(found) == LISTED and found[-1].count >= int(called[-1][1]))
    return found if is_whole else _shown_hubs(await _rows(reader, "".join(_HUBS)))


async def _by_path(reader: Reader, text: str) -> dict[str, int]:
    return {path: n for path, n in await _rows(reader, text)}


async def _readme(reader: Reader, records: Mapping[str, FileRecord]) -> str:
    """Return the first prose of the README."""
    path = next((path for path in sorted(records) if path.lower().partition(".")[0] == "readme"), "")
    content = (await reader.store.content(reader.project, [path])).get(path, b"") if path else b""
    return first_prose(content[: 4 * MAX_READ].decode("utf-8", "replace"))


def _shown_hubs(rows: Sequence[tuple[Any, ...]]) -> list[Counted]:
    """Return the first hubs; a constructor whose class is one stands for the same calls."""
    names = {name for _, kind, name, _ in rows if kind != "constructor"}
    found = [
        Counted(uid, kind, name, "", n)
        for uid, kind, name, n in rows
        if kind != "constructor" or name.rpartition(".")[0] not in names
    ]
    return found[:LISTED]


async def _entries(reader: Reader) -> dict[str, tuple[Counted, ...]]:
    """Return where the project is entered, by kind. What only tests handle and send is no entry."""
    places: dict[str, list[str]] = {}
    for uid, path, is_test, _ in sorted(
        await _rows(reader, _PLACES), key=lambda row: (row[3] != "HANDLES_EVENT", row[1])
    ):
        own = places.setdefault(uid, [])
        if path and not is_test:
            own.append(path)
    found: dict[str, list[Counted]] = {}
    for text in (_MAINS, _ENTRIES):
        for uid, kind, name, path in await _rows(reader, text):
            own = [path] if path else places.get(uid, [])
            if own or uid not in places:
                found.setdefault(kind, []).append(Counted(uid, kind, name, next(iter(own), ""), len(own)))
    return {kind: tuple(entries) for kind, entries in found.items()}


async def _hotspots(reader: Reader, files: Sequence[CountedFile]) -> tuple[Hotspot, ...]:
    """Return the files with most commits times nesting, of those that have functions and most commits times lines."""
    changed = sorted(
        (file for file in files if file.churn and not file.is_test), key=lambda file: -file.churn * file.lines
    )
    spans: dict[str, list[tuple[int, int]]] = {}
    given = {"paths": [file.path for file in changed[: 4 * HOT]]}
    table = await reader.store.cypher(_FUNCTIONS, given, MAX_FUNCTIONS, SECONDS, reader.project) if changed else None
    for path, first, last in table.rows if table is not None else ():
        spans.setdefault(str(path), []).append((int(str(first)), int(str(last))))
    read = [file for file in changed if file.path in spans][:HOT]
    texts = await reader.store.content(reader.project, [file.path for file in read])
    found: list[Hotspot] = []
    for file in read:
        lines = texts.get(file.path, b"").decode("utf-8", "replace").splitlines()
        found.append(Hotspot(file.path, file.churn, file.lines, nesting(lines, spans[file.path])))
    found.sort(key=lambda each: -each.churn * each.nesting)
    return tuple(each for each in found if each.nesting)[:LISTED]


async def _health(reader: Reader, records: Mapping[str, FileRecord]) -> tuple[str, ...]:
    """Return what there is to know about the index: resolved references, stale, partly read and skipped files."""
    own = records.values()
    stale, partly = sum(bool(one.stale) for one in own), sum(bool(one.problems) for one in own)
    skipped = Counter(each.reason for each in await reader.store.skipped(reader.project))
    resolved, unresolved = sum(one.resolved for one in own), sum(one.unresolved for one in own)
    share = f" ({resolved * 100 // (resolved + unresolved)} %)" if resolved + unresolved else ""
    return (
        f"references: {resolved} resolved{share}, {unresolved} not: they are unknown, no target is guessed",
        f"stale: {counted(stale, 'file')}; read in part: {counted(partly, 'file')}",
        f"skipped: {', '.join(f'{reason} {count}' for reason, count in skipped.most_common()) or 'no file'}",
    )
