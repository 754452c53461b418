"""Diagnosis of missing names: distinguishes "none" from "unknown" and returns the evidence.

These functions may read the manifest and the skipped files, which is slow; they run only if an answer would be empty.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from atlas.code.graph.unresolved import describe_unresolved, find_unresolved
from atlas.code.question.names import dotted
from atlas.code.reader import Reader
from atlas.code.retrieve.resolve import CANDIDATES, resolve
from atlas.code.retrieve.written_files import relative
from atlas.core.model import FileRecord, Filter, Node, Skipped
from atlas.core.wording import counted, counts

MENTIONS = 50
"""Maximum number of mentions counted; more are shown as "50+"."""
SHOWN = 3
NOT_SOURCE = frozenset({"binary", "minified", "lock"})
"""Skip reasons of files that define no symbols."""

NOT_YET = "not indexed so far: the first index of the project is not finished"
"""The diagnosis while files wait to be indexed: any other would be of the files that happen to be first."""

_WORD = re.compile(r"[\w$]+")
_AFTER_WORD = re.compile(r"(?<=[\w$])[^\w$\s-]")
"""Start of type parameters, arguments or an operator; a hyphen or a space separates words of one name."""


async def why_missing(reader: Reader, name: str, where: Filter) -> tuple[str, ...]:
    """Return the diagnosis for a name without a node within the filter, one sentence per item, at least one.

    The name may be outside the filter, a path that is not indexed, the path of a skipped or partially parsed file, or
    only mentioned.
    """
    everything = Filter(project=where.project)
    if where != everything:
        outside = (await resolve(reader, name, everything)).nodes
        if outside:
            return (_filtered_out(where, outside),)
    skipped, manifest = await asyncio.gather(reader.store.skipped(where.project), reader.store.manifest(where.project))
    path, colon, _ = relative(reader, name).partition(":")
    file = path if path in manifest else path.partition("#")[0]
    if file in manifest and file:
        return (f"`{file}` is indexed ({counted(manifest[file].lines, 'line')}), but contains no such name or line",)
    if not await _is_finished(reader, where.project):
        return (NOT_YET,)
    if _is_path(path, colon, manifest):
        return tuple(_no_file(path.rstrip("/"), skipped, manifest))
    segments = set(dotted(name).split(".")) - {""}
    lines = [*_skips(skipped, segments), *_problems(manifest.values(), segments)]
    word, mentions = await _mentions(reader, where.project, dotted(name).rpartition(".")[2])
    if mentions:
        lines.append(
            f"no definition, but `{word}` occurs in {_count(mentions, 'indexed symbol')}: {_places(mentions)}; "
            "it may come from another package or be created at run time"
        )
    elif not word:
        lines.append("no indexed symbol has that name; `search` finds single words and similar meanings")
    elif not lines:
        unresolved = sum(record.unresolved for record in manifest.values())
        lines.append(
            f"nothing in the {counted(_files(manifest), 'indexed file')} mentions it, and no skipped file is likely to "
            f"define it ({counts((len(skipped), 'skipped path'), (unresolved, 'unresolved reference'))})"
        )
    return tuple(lines)


async def why_no_callers(reader: Reader, node: Node, kind: str = "callers") -> str:
    """Return one sentence for an empty list of callers, tests, ...: unresolved calls, or mentions, of the name."""
    own = node.row
    if not await _is_finished(reader, node.project):
        return f"no resolved {kind}: unknown rather than none, because the first index is not finished"
    if unresolved := describe_unresolved(await find_unresolved(reader, own.name, node.project)):
        return f"no resolved {kind}: unknown rather than none, because there are {unresolved}"
    word, found = await _mentions(reader, node.project, own.name)
    others = [each for each in found if not _inside(each, node)]
    if not word:
        return f"no resolved {kind}: unknown rather than none, because `{own.name}` is not a single word to search for"
    if not others:
        return f"no resolved {kind}, and nothing else in the index mentions `{word}`"
    return (
        f"no resolved {kind}: unknown rather than none, because `{word}` occurs in {_count(others, 'other symbol')} "
        f"without an edge to it ({_places(others)})"
    )


async def _is_finished(reader: Reader, project: str) -> bool:
    """Return whether a first index of the project, or of all if none is named, was completed."""
    states = await reader.store.projects()
    return all(state.indexed_at for state in states if project in ("", state.project))


async def _mentions(reader: Reader, project: str, name: str) -> tuple[str, list[Node]]:
    """Return the single word of a name and the nodes whose text contains it, best first.

    Brackets and operators are ignored. The word is "" for a name of several words or none: a text with only one of the
    words does not mention the name.
    """
    found = _WORD.findall(_AFTER_WORD.split(name, 1)[0])
    words = reader.split_words(found[0])[:1] if len(found) == 1 else []
    if not words:
        return "", []
    hits = await reader.store.search_text(words, Filter(project=project), MENTIONS)
    nodes = await reader.store.symbols([hit.uid for hit in hits])
    return found[0], [node for node in nodes if node.row.path]


def _filtered_out(where: Filter, outside: Sequence[Node]) -> str:
    row = outside[0].row
    asked = " and ".join(part for part in (_listed("label", where.labels), _listed("path", (where.path,))) if part)
    count = f"{len(outside)}+" if len(outside) == CANDIDATES else str(len(outside))
    others = f" (the first of {count})" if len(outside) > 1 else ""
    place = f" {row.path}:{row.line}" if row.path else ""
    return f"it exists, but not with {asked}: {row.label} `{row.qualified_name}`{place}{others}"


def _listed(name: str, wanted: Sequence[str]) -> str:
    return f"{name} {', '.join(wanted)}" if any(wanted) else ""


def _is_path(path: str, colon: str, manifest: Iterable[str]) -> bool:
    """Return whether the name looks like a path: with a slash, a folder, or an extension of indexed files."""
    if "/" in path or any(indexed.startswith(path + "/") for indexed in manifest):
        return True
    ending = path.rpartition(".")[2] if "." in path.strip(".") else ""
    # `a::b` is not a path with a line, and `shop:shop.cart` is a uid.
    return bool(ending) and not colon and any(indexed.endswith("." + ending) for indexed in manifest)


def _no_file(path: str, skipped: Sequence[Skipped], manifest: Mapping[str, FileRecord]) -> Iterator[str]:
    """Explain a path without an indexed file: skipped, a folder, outside the root, or a name found elsewhere."""
    reasons = [each for each in skipped if each.path == path or (path + "/").startswith(_folder(each.path))]
    inside = sum(1 for indexed in manifest if indexed.startswith(path + "/"))
    if reasons:
        yield f"`{reasons[0].path}` is not indexed: {reasons[0].reason}"
    elif inside:
        yield f"`{path}` is a folder (indexed files: {inside}); name one of its files, or search with this path"
    elif path.startswith("/") or ".." in path.split("/"):
        yield f"`{path}` is not below the project's root; paths are relative to the root"
    else:
        known = f"{_files(manifest)} indexed and {len(skipped)} skipped files and folders"
        yield f"none of the {known} is `{path}`, and no symbol has that name"
        name = path.rpartition("/")[2]
        same = [indexed for indexed in manifest if indexed and indexed.rpartition("/")[2] == name]
        if same:
            more = f" and {len(same) - SHOWN} more" if len(same) > SHOWN else ""
            yield f"files of that name: {', '.join(sorted(same, key=lambda each: (len(each), each))[:SHOWN])}{more}"


def _folder(path: str) -> str:
    """Return the path of a skipped folder with its slash; for a file, a prefix that matches no path."""
    return path if path.endswith("/") else path + "/\0"


def _files(manifest: Iterable[str]) -> int:
    return sum(1 for indexed in manifest if indexed)  # The structure unit has no path.


def _places(nodes: Sequence[Node]) -> str:
    return ", ".join(f"{node.row.path}:{node.row.line}" for node in nodes[:SHOWN])


def _inside(other: Node, node: Node) -> bool:
    """Return whether `other` is the node, a part of it, or a container of it."""
    inner, outer = other.row, node.row
    if inner.path != outer.path:
        return False
    spans = ((inner.start_byte, inner.end_byte), (outer.start_byte, outer.end_byte))
    return any(a[0] <= b[0] and b[1] <= a[1] for a, b in (spans, spans[::-1]))


def _skips(skipped: Iterable[Skipped], segments: set[str]) -> list[str]:
    likely = [each for each in skipped if _may_be_home(each, segments)]
    return [f"`{each.path}` is not indexed: {each.reason}" for each in likely[:SHOWN]]


def _may_be_home(file: Skipped, segments: set[str]) -> bool:
    """Return whether a skipped file may define the name; a file in no known language must also match by its folders."""
    if file.reason in NOT_SOURCE or _stem(file.path) not in segments:
        return False
    return file.reason != "language" or segments.issuperset(file.path.split("/")[:-1])


def _problems(records: Iterable[FileRecord], segments: set[str]) -> list[str]:
    likely = [record for record in records if record.problems and _stem(record.path) in segments]
    return [f"`{record.path}` could only be parsed in part: {record.problems[0]}" for record in likely[:SHOWN]]


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _count(nodes: list[Node], noun: str) -> str:
    return counted(len(nodes), noun, more=len(nodes) >= MENTIONS)
