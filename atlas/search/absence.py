"""Why something is not there: "none" and "unknown" are different answers, so say which one it is and what it rests on.

Slow on purpose (they may read the manifest and the skipped files): they run only when an answer would be empty.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable

from atlas.model import FileRecord, Filter, Node, Skipped
from atlas.search import Reader
from atlas.search.route import dotted

MENTIONS = 50
"""Mentions counted at most; more are "50+"."""
SHOWN = 3
NOT_SOURCE = frozenset({"binary", "minified", "lock"})
"""Skip reasons of files that define nothing."""


async def why_missing(reader: Reader, project: str, name: str) -> tuple[str, ...]:
    """Return what is known about a name that no node has: skipped or half-read files, mentions, or nothing."""
    path, last = name.partition(":")[0], dotted(name).rpartition(".")[2]
    skipped, manifest, mentions = await asyncio.gather(
        reader.store.skipped(project), reader.store.manifest(project), _mentions(reader, project, last)
    )
    lines: list[str] = []
    if path in manifest and path:
        lines.append(f"`{path}` is indexed ({manifest[path].lines} lines), but nothing of that name or line is in it")
    segments = set(re.split(r"[./]", dotted(path.rpartition(".")[0] if "/" in path else name))) - {""}
    lines += _skips(skipped, path, segments)
    lines += _problems(manifest.values(), segments)
    if mentions:
        places = ", ".join(f"{node.row.path}:{node.row.line}" for node in mentions[:SHOWN])
        lines.append(
            f"no definition, but {_count(mentions)} indexed symbols mention `{last}`: {places}; "
            "it may come from another package or be made at run time"
        )
    elif not lines:
        unresolved = sum(record.unresolved for record in manifest.values())
        files = sum(1 for indexed in manifest if indexed)  # the unit that is no file has no path
        lines.append(
            f"nothing in the {files} indexed files mentions it, and no skipped file looks like its home "
            f"({len(skipped)} skipped, {unresolved} references unresolved)"
        )
    return tuple(lines)


async def why_no_callers(reader: Reader, node: Node) -> str:
    """Return one sentence for an empty list of callers: whether anything outside the node mentions its name at all."""
    own = node.row
    found = await _mentions(reader, node.project, own.name)
    others = [each for each in found if not _inside(each, node)]
    if not others:
        return f"no resolved callers, and nothing else in the index mentions `{own.name}`"
    places = ", ".join(f"{each.row.path}:{each.row.line}" for each in others[:SHOWN])
    return (
        f"no resolved callers: unknown rather than none, because {_count(others)} other symbols mention `{own.name}` "
        f"without an edge to it ({places})"
    )


async def _mentions(reader: Reader, project: str, name: str) -> list[Node]:
    """Return the nodes whose own text has the name as a whole word, best first."""
    words = reader.split_words(name)[:1]
    if not words:
        return []
    hits = await reader.store.search_text(words, Filter(project=project), MENTIONS)
    return await reader.store.symbols([hit.uid for hit in hits])


def _inside(other: Node, node: Node) -> bool:
    """Return whether `other` is the node, a part of it, or something that holds it."""
    inner, outer = other.row, node.row
    if inner.path != outer.path:
        return False
    spans = ((inner.start_byte, inner.end_byte), (outer.start_byte, outer.end_byte))
    return any(a[0] <= b[0] and b[1] <= a[1] for a, b in (spans, spans[::-1]))


def _skips(skipped: Iterable[Skipped], path: str, segments: set[str]) -> list[str]:
    likely = [
        each
        for each in skipped
        if each.path == path or (each.reason not in NOT_SOURCE and _stem(each.path) in segments)
    ]
    return [f"`{each.path}` is not indexed: {each.reason}" for each in likely[:SHOWN]]


def _problems(records: Iterable[FileRecord], segments: set[str]) -> list[str]:
    likely = [record for record in records if record.problems and _stem(record.path) in segments]
    return [f"`{record.path}` could only be read in part: {record.problems[0]}" for record in likely[:SHOWN]]


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _count(nodes: list[Node]) -> str:
    return f"{len(nodes)}+" if len(nodes) >= MENTIONS else str(len(nodes))
