"""The first page: what a project is, its map, its parts and how they depend on each other, and where to begin.

The counts are read once for each generation of the index (`counts`), the page is made of them for each request.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from atlas.app.session import Session
from atlas.code.reader import Reader
from atlas.core.history import Commit
from atlas.server.explorer.commits import COMMITS, LastCommits
from atlas.server.explorer.overview.counts import LISTED, CountedFile, ProjectCounts, count
from atlas.server.explorer.overview.dependencies import installed
from atlas.server.explorer.overview.treemap import Box, coloured, draw, lay_out
from atlas.server.explorer.questions import Asker, Given

PATIENCE = 0.25
"""Seconds that the first page waits for the counts; it is shown without them then, and asks again."""
PARTS = 16
TOP = "."
"""The part of files that lie in no folder."""
SHOWN_FILES = 3
"""Of a commit."""
BOXES = 60
"""In one map."""
COLOURS = {
    "churn": "commits that changed it, of the last ones",
    "age": "how lately one of the last commits changed it",
    "callers": "calls that lead into it",
    "tests": "edges from tests that reach it",
    "problems": "files that could only be read in part",
}
"""What the colour of the map can say, and in which words."""


@dataclass(frozen=True, slots=True)
class PartRow:
    """A part and its imports from each part, in the order of the parts; a cell in a cycle is marked."""

    name: str
    cells: tuple[tuple[int, bool], ...]


class Overview:
    """Counts once for each generation, aside; use from one event loop."""

    def __init__(self, session: Session, commits: LastCommits) -> None:
        """Take the history behind churn and age."""
        self._session, self._commits = session, commits
        self._counting: asyncio.Task[ProjectCounts] | None = None
        self._known: ProjectCounts | None = None

    async def values(self, ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
        """Return what the page shows, of the last generation that is counted. Raises what the store raises."""
        state = next(one for one in await reader.store.projects() if one.project == reader.project)
        known = self._known
        packs = installed()
        if self._counting is None and (known is None or (known.generation, known.packs) != (state.generation, packs)):
            made = count(self._session, reader, state.generation, self._commits, packs)
            self._counting = asyncio.create_task(made)
        if (counting := self._counting) is not None:
            done, _ = await asyncio.wait({counting}, timeout=0 if known is not None else PATIENCE)
            if done:
                if self._counting is counting:  # else another request, which waited for the same, has taken it
                    self._counting = None
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
        "recent": _recent(counts.commits),
        "listed": LISTED,
        "needs": counts.dependencies,
        "problems": sum(file.problems > 0 for file in counts.files),
        "evidence": None,
    }


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


def _recent(commits: Sequence[Commit]) -> list[tuple[str, str, str, str, tuple[str, ...], int]]:
    """Return the last commits: day, id, author, subject, some files and the number of the others.

    The id of the first commit of a project is missing: there is nothing to compare it with.
    """
    first = commits[-1].id if commits and len(commits) < COMMITS else ""
    return [
        (
            datetime.fromtimestamp(each.time, UTC).date().isoformat(),
            "" if each.id == first else each.id[:10],
            each.author,
            each.subject,
            each.paths[:SHOWN_FILES],
            len(each.paths) - len(each.paths[:SHOWN_FILES]) + each.more_paths,
        )
        for each in commits[:LISTED]
    ]


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
    """Return the part of each file: its folder below the top, `TOP` for what lies beside the folders."""
    parts = {path: path.partition("/")[0] or TOP if "/" in path else TOP for path in paths}
    for _ in range(4):
        sizes = Counter(part for part in parts.values() if part != TOP)
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
