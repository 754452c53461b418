"""Which files import which, for maps and pictures. A language that imports packages has no file on the other end.

The graph says which files such a package contains; the folder of most of them stands for the package then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from atlas.code.reader import Reader

ROWS = 400_000
SECONDS = 20.0
_OF_FILES = (
    "MATCH (a)-[:IMPORTS]->(b) WHERE a.path STARTS WITH $prefix AND b.path STARTS WITH $prefix AND a.path <> '' "
    "AND b.path <> '' AND a.path <> b.path RETURN a.path AS source, b.path AS target, count(*) AS n"
)
_OF_PACKAGES = (
    "MATCH (a)-[:IMPORTS]->(b) WHERE a.path STARTS WITH $prefix AND a.path <> '' AND b.kind = 'package' "
    "RETURN a.path AS source, b.uid AS target, count(*) AS n"
)
_CONTAINED = (
    "MATCH (b)-[:CONTAINS]->(f) WHERE b.kind = 'package' AND f.path <> '' RETURN b.uid AS uid, f.path AS path, b.path"
)


@dataclass(frozen=True, slots=True)
class FileImports:
    """Imports as (file, file or folder of a package with "/" at its end, number)."""

    edges: tuple[tuple[str, str, int], ...]
    folders: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of files in packages that have no file of their own: the package's folder, with "/" at its end."""


async def read_imports(reader: Reader, folder: str = "") -> FileImports:
    """Return the imports between the files of a folder, of the project without one. Raises store errors."""
    given = {"prefix": f"{folder}/" if folder else ""}

    async def rows(text: str) -> list[tuple[str, str, object]]:
        found = await reader.store.cypher(text, given, ROWS, SECONDS, reader.project)
        return [(str(row[0]), str(row[1]), row[2]) for row in found.rows]

    edges = [(source, target, int(str(n))) for source, target, n in await rows(_OF_FILES)]
    of_packages = await rows(_OF_PACKAGES)
    if not of_packages:
        return FileImports(tuple(edges))
    files: dict[str, list[str]] = {}
    for uid, path, own in await rows(_CONTAINED):
        if not own:
            files.setdefault(uid, []).append(path)
    places = {uid: _folder(paths) for uid, paths in files.items()}
    for source, uid, n in of_packages:
        if uid in places and places[uid].startswith(given["prefix"]) and _folder([source]) != places[uid]:
            edges.append((source, places[uid], int(str(n))))
    return FileImports(tuple(edges), {path: places[uid] for uid, paths in files.items() for path in paths})


def _folder(paths: list[str]) -> str:
    """Return the folder of most files, with "/" at its end; "/" for the top."""
    (folder, _), *_ = Counter(path.rpartition("/")[0] for path in paths).most_common(1)
    return f"{folder}/"
