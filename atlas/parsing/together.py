"""Two trees linked as one, for what the index of each does not record: uses of names of one in the other.

The linker resolves a name with all that it knows of both trees: imports of packages and namespaces, bases, types of
parameters, fields and results. Nothing is stored, and the rows carry the paths of their own trees.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from atlas._parser import Languages, Linker, ParsedFile, parse_bytes
from atlas.core.model import EdgeRow, NodeRow

TIMEOUT_MS = 500
"""CPU time for one text; what was read by then stays."""
SECONDS = 15.0
"""Time for all texts; beyond it nothing is linked."""
_PROJECT = "both"


class LinkedTree(NamedTuple):
    """Files of one tree."""

    files: Mapping[str, bytes]
    """Content by path."""
    projects: Sequence[tuple[str, str, str]] = ()
    """Folder, kind and name of its parts that have a manifest."""


class CrossEdge(NamedTuple):
    """An edge from one tree to a definition of the other one; uids are those of neither."""

    source: NodeRow
    target: NodeRow
    edge: EdgeRow


def link_together(languages: Languages, user: LinkedTree, provider: LinkedTree) -> list[CrossEdge]:
    """Return the edges of the user's files that end at definitions of the provider's, in the order of paths.

    Raises TimeoutError if reading them takes too long.
    """
    end = time.monotonic() + SECONDS
    folder = _folder_beside(provider.files)
    linker = Linker(_PROJECT, languages, low_memory=True)
    parts = [*provider.projects, *((f"{folder}/{one[0]}".rstrip("/"), one[1], one[2]) for one in user.projects)]
    linker.set_subprojects(parts)
    facts = [*_parsed(languages, provider, "", end), *_parsed(languages, user, f"{folder}/", end)]
    linker.update(facts)
    known = {one.path for one in facts}
    targets = {
        row[0]: NodeRow._make(row) for path in provider.files if path in known for row in linker.unit(path).nodes()
    }
    found: list[CrossEdge] = []
    for path in sorted(user.files):
        if (place := f"{folder}/{path}") not in known:
            continue
        unit = linker.unit(place)
        edges = [edge for row in unit.edges() if (edge := EdgeRow._make(row)).target in targets]
        sources = {row[0]: NodeRow._make(row)._replace(path=path) for row in unit.nodes()} if edges else {}
        found += [
            CrossEdge(sources[edge.source], targets[edge.target], edge) for edge in edges if edge.source in sources
        ]
    return found


def _parsed(languages: Languages, tree: LinkedTree, prefix: str, end: float) -> Iterator[ParsedFile]:
    for path in sorted(tree.files):
        if time.monotonic() > end:
            raise TimeoutError(f"{len(tree.files)} files take longer than {SECONDS:.0f} s")
        one = parse_bytes(languages, prefix + path, tree.files[path], timeout_ms=TIMEOUT_MS)
        if not one.skip_reason:
            yield one


def _folder_beside(paths: Mapping[str, bytes]) -> str:
    """Return the name of a folder that the paths do not have at their root."""
    roots = {path.partition("/")[0] for path in paths}
    folder = "user"
    while folder in roots:
        folder += "_"
    return folder
