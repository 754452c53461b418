"""The first page: what a project is, its map, its parts and how they depend on each other, and where to begin.

The counts are read once for each generation of the index (`ProjectCounts`), the page is made of them for each request.
Churn comes from one pass over the last commits; without a history the page says so.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from atlas.code.graph.declarations import Declaration, read_declarations
from atlas.code.reader import Reader
from atlas.code.tools.changes import commit_line
from atlas.core.history import Commit
from atlas.core.model import FileRecord
from atlas.server.explorer.commits import LastCommits
from atlas.server.explorer.imports import read_imports
from atlas.server.explorer.questions import Asker, Given
from atlas.server.explorer.treemap import Box, coloured, draw, lay_out

PATIENCE = 0.5
"""Seconds that the first page waits for the counts; it is shown without them then, and asks again."""
ROWS = 400_000
SECONDS = 20.0
LISTED = 15
CANDIDATES = 300
"""Symbols with most callers, tests included, among which the hubs are counted."""
PARTS = 16
BOXES = 60
"""In one map."""
README_CHARACTERS = 500
_NO_PROSE = ("<", "[", "..", ":", "|", "!", "`")
"""Beginnings of lines of a README that are badges, fields or pictures."""
COLOURS = {
    "churn": "commits that changed it, of the last ones",
    "age": "how lately one of the last commits changed it",
    "callers": "calls that lead into it",
    "tests": "edges from tests that reach it",
    "problems": "files that could only be read in part",
}
"""What the colour of the map can say, and in which words."""

_CALLS = "MATCH (a)-[:CALLS]->(b) WHERE b.path <> '' RETURN b.path AS path, count(*) AS n"
_TESTS = "MATCH (a)-[:TESTS]->(b) WHERE b.path <> '' RETURN b.path AS path, count(*) AS n"
_CALLED = f"MATCH (a)-[:CALLS]->(b) RETURN b.uid AS uid, count(*) AS n ORDER BY n DESC LIMIT {CANDIDATES}"
_HUBS = (
    "MATCH (a)-[:CALLS]->(b) WHERE ",
    "b.path <> '' AND b.is_test = false AND a.is_test = false "
    "RETURN b.uid AS uid, b.kind AS kind, b.qualified_name AS name, count(*) AS n "
    f"ORDER BY n DESC, name LIMIT {LISTED}",
)
_ENTRIES = (
    "MATCH (r) WHERE r.kind IN ['route', 'command', 'event', 'signal', 'task', 'message'] AND r.is_test = false "
    "RETURN r.uid AS uid, r.kind AS kind, r.name AS name, r.path AS path ORDER BY kind, name LIMIT 5000"
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
    declared: tuple[Declaration, ...]


@dataclass(frozen=True, slots=True)
class PartRow:
    """A part and its imports from each part, in the order of the parts; a cell in a cycle is marked."""

    name: str
    cells: tuple[tuple[int, bool], ...]


class Overview:
    """Counts once for each generation, aside; use from one event loop."""

    def __init__(self, commits: LastCommits) -> None:
        """Take the history behind churn and age."""
        self._commits = commits
        self._counting: asyncio.Task[ProjectCounts] | None = None
        self._known: ProjectCounts | None = None

    async def values(self, ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
        """Return what the page shows, of the last generation that is counted. Raises what the store raises."""
        state = next(one for one in await reader.store.projects() if one.project == reader.project)
        known = self._known
        if self._counting is None and (known is None or known.generation != state.generation):
            self._counting = asyncio.create_task(_count(reader, state.generation, self._commits))
        if self._counting is not None:
            done, _ = await asyncio.wait({self._counting}, timeout=0 if known is not None else PATIENCE)
            if done:
                counting, self._counting = self._counting, None
                self._known = known = counting.result()
        if known is None:
            return {"title": "Overview", "counts": None, "evidence": None, "again": 1}
        return {**_shown(known, given), "state": state, "again": 2 if self._counting is not None else 0}


def _shown(counts: ProjectCounts, given: Given) -> dict[str, object]:
    """Return what the page shows of the counts."""
    folder = given.text("folder").strip("/")
    colour = given.text("colour") if given.text("colour") in COLOURS else "churn" if counts.commits else "callers"
    inside = [file for file in counts.files if not folder or file.path.startswith(f"{folder}/")]
    boxes = _boxes(inside, folder, colour)
    languages = Counter[str]()
    for file in counts.files:
        languages[file.language or "text"] += file.lines
    return {
        "title": "Overview",
        "counts": counts,
        "folder": folder,
        "colour": colour,
        "colours": COLOURS,
        "map": draw(lay_out(coloured(boxes)), given.without("folder")),
        "inside": (len(inside), sum(file.lines for file in inside)),
        "languages": languages.most_common(12),
        "parts": _matrix(counts),
        "entries": {kind: (found[:LISTED], len(found)) for kind, found in counts.entries.items()},
        "hotspots": _hotspots(counts.files),
        "recent": [commit_line(each) for each in counts.commits[:LISTED]],
        "packages": Counter(each.kind for each in counts.declared if not each.is_inner),
        "declared": [each for each in counts.declared if not each.is_inner and each.kind == "runtime"][:40],
        "problems": sum(file.problems > 0 for file in counts.files),
        "evidence": None,
    }


async def _count(reader: Reader, generation: int, last: LastCommits) -> ProjectCounts:
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
    hubs = [Counted(uid, kind, name, "", n) for uid, kind, name, n in await _hubs(reader)]
    entries: dict[str, list[Counted]] = {}
    for text in (_MAINS, _ENTRIES):
        for uid, kind, name, path in await _rows(reader, text):
            entries.setdefault(kind, []).append(Counted(uid, kind, name, path, 0))
    return ProjectCounts(
        generation=generation,
        files=files,
        imports=(await read_imports(reader)).edges,
        hubs=tuple(hubs),
        entries={kind: tuple(found) for kind, found in entries.items()},
        readme=await _readme(reader, records),
        commits=commits,
        history=read.said,
        declared=await read_declarations(reader, reader.project),
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


async def _hubs(reader: Reader) -> Sequence[tuple[Any, ...]]:
    """Return what most callers that are no tests call: counted exactly among those with most callers of any kind.

    What has fewer callers in all than the last hub has without tests is none, so where candidates end before that, all
    calls are counted.
    """
    called = await _rows(reader, _CALLED)
    given = {"uids": [row[0] for row in called]}
    text = f"{_HUBS[0]}b.uid IN $uids AND {_HUBS[1]}"
    found = (await reader.store.cypher(text, given, LISTED, SECONDS, reader.project)).rows
    is_whole = len(called) < CANDIDATES or (len(found) == LISTED and found[-1][3] >= called[-1][1])
    return found if is_whole else await _rows(reader, "".join(_HUBS))


async def _by_path(reader: Reader, text: str) -> dict[str, int]:
    return {path: n for path, n in await _rows(reader, text)}


async def _readme(reader: Reader, records: Mapping[str, FileRecord]) -> str:
    """Return the first lines of the README: its text up to a limit, without markup of badges and pictures."""
    path = next((path for path in sorted(records) if path.lower().partition(".")[0] == "readme"), "")
    content = (await reader.store.content(reader.project, [path])).get(path, b"") if path else b""
    lines = content[:20_000].decode("utf-8", "replace").splitlines()
    kept = [line.strip("#=-*~ \t") for line in lines if "](" not in line and not line.lstrip().startswith(_NO_PROSE)]
    text = "\n".join(line for line in kept if line)
    return text if len(text) <= README_CHARACTERS else f"{text[:README_CHARACTERS].rsplit(' ', 1)[0]}..."


_BoxOfFiles = tuple[Box, list[CountedFile]]


def _boxes(files: Iterable[CountedFile], folder: str, colour: str) -> list[Box]:
    """Return boxes of a folder: of its entries, the largest folders divided while there is room for theirs.

    The smallest ones behind the first `BOXES` become one.
    """
    prefix = f"{folder}/" if folder else ""
    boxes: list[_BoxOfFiles] = _entries(list(files), folder, colour)
    least = sum(box.size for box, _ in boxes) / BOXES * 2
    waiting: list[_BoxOfFiles] = [each for each in boxes if each[0].is_folder]
    while waiting:
        large, own = max(waiting, key=lambda each: each[0].size)
        waiting = [each for each in waiting if each[0].path != large.path]
        inner = _entries(own, large.path, colour)
        if large.size < least or len(boxes) + len(inner) > BOXES:
            continue
        inner = [(replace(box, name=box.path.removeprefix(prefix)), files) for box, files in inner]
        boxes = [*(each for each in boxes if each[0].path != large.path), *inner]
        waiting += [each for each in inner if each[0].is_folder]
    boxes.sort(key=lambda each: (-each[0].size, each[0].path))
    rest = boxes[BOXES:]
    found = [box for box, _ in boxes[:BOXES]]
    if rest:
        found.append(_box(f"{len(rest)} more", folder, [file for _, own in rest for file in own], colour))
    return found


def _entries(files: Sequence[CountedFile], folder: str, colour: str) -> list[_BoxOfFiles]:
    """Return a box for each folder and file that lies in a folder, with its files."""
    prefix = f"{folder}/" if folder else ""
    found: dict[str, list[CountedFile]] = {}
    for file in files:
        found.setdefault(file.path[len(prefix) :].partition("/")[0], []).append(file)
    return [(_box(name, f"{prefix}{name}", own, colour), own) for name, own in found.items()]


def _box(name: str, path: str, own: Sequence[CountedFile], colour: str) -> Box:
    """Return the box of some files; its colour is that of their sum per line, by age that of the newest of them."""
    size = sum(file.lines for file in own)
    values = [int(getattr(file, colour)) for file in own]
    if colour == "age":
        newest = max(values, default=0)
        day = datetime.fromtimestamp(newest, UTC).date().isoformat() if newest else ""
        said, share = f"last changed {day}" if day else "not changed by the commits that were read", float(newest)
    else:
        said, share = f"{sum(values)} {colour}", sum(values) / max(size, 1)
    is_folder = any(file.path != path for file in own) and not name.endswith(" more")
    return Box(name, path, is_folder, size, len(own), said, share)


def _hotspots(files: Iterable[CountedFile]) -> list[CountedFile]:
    """Return the files with most lines times commits: where changes are frequent and reading is long."""
    found = sorted(
        (file for file in files if file.churn and not file.is_test), key=lambda file: -file.churn * file.lines
    )
    return found[:LISTED]


def _matrix(counts: ProjectCounts) -> list[PartRow]:
    """Return the imports between the parts: the largest folders, divided until none has most of the files."""
    tests = {file.path for file in counts.files if file.is_test}
    part_of = _parts({path for source, target, _ in counts.imports for path in (source, target)} - tests)
    edges = Counter[tuple[str, str]]()
    for source, target, n in counts.imports:
        if source in part_of and target in part_of and part_of[source] != part_of[target]:
            edges[part_of[source], part_of[target]] += n
    connected = Counter[str]()
    for (source, target), n in edges.items():
        connected[source] += n
        connected[target] += n
    names = sorted(name for name, _ in connected.most_common(PARTS))
    reach = {name: _reached(name, edges) for name in names}
    return [
        PartRow(
            name,
            tuple((edges[name, other], bool(edges[name, other]) and name in reach[other]) for other in names),
        )
        for name in names
    ]


def _parts(paths: Iterable[str]) -> dict[str, str]:
    """Return the part of each file that lies in a folder."""
    parts = {path: path.partition("/")[0] for path in paths if "/" in path}
    for _ in range(4):
        sizes = Counter(parts.values())
        large = [name for name, size in sizes.items() if size > len(parts) / 4]
        large = large or [name for name, _ in sizes.most_common(1) if len(sizes) < PARTS / 2]
        divided = {path: _deeper(path, part) if part in large else part for path, part in parts.items()}
        if divided == parts:
            break
        parts = divided
    return parts


def _deeper(path: str, part: str) -> str:
    """Return the folder of a file one level below a part, the part itself for a file that lies in it."""
    folder = path[len(part) + 1 :].rpartition("/")[0].partition("/")[0]
    return f"{part}/{folder}" if folder else part


def _reached(start: str, edges: Mapping[tuple[str, str], int]) -> set[str]:
    """Return the parts that a part leads to, itself only through a cycle."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        one = waiting.pop()
        new = {target for source, target in edges if source == one} - found
        found |= new
        waiting += new
    return found
