"""Diagnosis of names without a node: where they stand in text, and what the index lacks.

These functions may read the skipped files, which is slow; they run only if an answer would be empty.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from atlas.code.graph.absence.members_beside import members_beside
from atlas.code.graph.absence.occurrences import TextPlace, find_in_skipped, find_occurrences, single_word
from atlas.code.graph.absence.proof import is_finished, is_prose
from atlas.code.question.names import dotted
from atlas.code.reader import Reader
from atlas.code.retrieve.resolve import CANDIDATES, resolve
from atlas.code.retrieve.written_files import find_files, relative
from atlas.core.model import FileRecord, Filter, Node, Skipped
from atlas.core.wording import counted, counts

SHOWN = 3
FEW = 2
"""Places of a name whose lines are quoted."""
MAX_TEXT = 160
NOT_SOURCE = frozenset({"binary", "minified", "lock"})
"""Skip reasons of files that define no symbols."""

NOT_YET = "not indexed so far: the first index of the project is not finished"
"""The diagnosis while files wait to be indexed: any other would be of the files that happen to be first."""


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
    store = reader.store
    skipped, paths = await asyncio.gather(store.skipped(where.project), store.paths(where.project))
    indexed = frozenset(paths)
    path, colon, member = relative(reader, name).partition(":")
    file = path if path in indexed else path.partition("#")[0]
    if file not in indexed and (member or "#" in path):
        file = next((each[0].row.path for each in await find_files(reader, file, everything) if each), file)
    if record := (await store.records(where.project, [file])).get(file) if file in indexed else None:
        return await _no_member(reader, record, member.strip(":") or path.partition("#")[2], where.project)
    if not await is_finished(reader, where.project):
        return (NOT_YET,)
    if _is_path(path, "" if member.strip("-").replace("-", "").isdigit() else colon, paths):
        return tuple(_no_file(path.rstrip("/"), skipped, paths))
    word = single_word(dotted(name).rpartition(".")[2])
    if not reader.split_words(word):
        return ("no indexed symbol has that name; `search` finds single words and similar meanings",)
    segments = set(dotted(name).split(".")) - {""}
    found, hidden = await asyncio.gather(
        find_occurrences(reader, word, where.project), find_in_skipped(reader, (word,), where.project)
    )
    outside = hidden.places.get(word, ())
    same = await store.records(where.project, [each for each in paths if _stem(each) in segments])
    lines = [*_skipped_lines(word, outside), *_skips(skipped, segments), *_problems(same.values())]
    beside = await members_beside(reader, name, where.project) if not lines else ()
    if found.places:
        may_be = "it may be defined there" if outside else "it may come from another package or be created at run time"
        is_told = len(found.places) <= FEW  # a changelog says what became of it
        places = ", ".join(f"{each.at}{_said(each) if is_told else ''}" for each in found.places[:SHOWN])
        lines_of = counted(len(found.places), "line", more=found.more)
        if all(map(is_prose, found.places)) and not (found.more or outside):
            lines.append(f"no code has it: only documents and comments do, in {lines_of} with `{word}`: {places}")
        else:
            lines.append(f"no definition, but `{word}` occurs in {lines_of}: {places}; {may_be}")
    elif not lines:
        unread = f"; not looked into: {', '.join(hidden.unread[:SHOWN])}" if hidden.unread else ""
        unresolved = await reader.cache.get(store, where.project, "unresolved", partial(_unresolved, reader, where))
        lines.append(
            f"nothing in the {counted(len(paths), 'indexed file')} mentions it, and no skipped source file does "
            f"({counts((len(skipped), 'skipped path'), (unresolved, 'unresolved reference'))}){unread}"
        )
    return (*lines, *beside)


def _said(place: TextPlace) -> str:
    return f" `{text[:MAX_TEXT]}`" if (text := " ".join(place.text.split())) else ""


async def _unresolved(reader: Reader, where: Filter) -> int:
    return sum(record.unresolved for record in (await reader.store.manifest(where.project)).values())


async def _no_member(reader: Reader, record: FileRecord, member: str, project: str) -> tuple[str, ...]:
    """Say that an indexed file defines no such name, and where it has the word."""
    lines = [f"`{record.path}` is indexed ({counted(record.lines, 'line')}), but defines no such name or line"]
    word = single_word(dotted(member).rpartition(".")[2])
    found = await find_occurrences(reader, word, project) if word and not word.isdigit() else None
    here = [each.at for each in found.places if each.path == record.path] if found is not None else []
    if here:
        lines.append(f"it has the word `{word}`: {', '.join(here[:SHOWN])}")
    return (*lines, *(f"it could only be parsed in part: {each}" for each in record.problems[:1]))


def _skipped_lines(word: str, places: Sequence[TextPlace]) -> Iterator[str]:
    """Say where skipped files define or mention a word, definitions first."""
    for each in sorted(places, key=lambda place: not place.defines)[:SHOWN]:
        what = "looks like a definition of" if each.defines else "mentions"
        yield f"{each.path}:{each.line} {what} `{word}`: that file is not indexed ({each.skipped})"


def _filtered_out(where: Filter, outside: Sequence[Node]) -> str:
    row = outside[0].row
    asked = " and ".join(part for part in (_listed("label", where.labels), _listed("path", (where.path,))) if part)
    count = f"{len(outside)}+" if len(outside) == CANDIDATES else str(len(outside))
    others = f" (the first of {count})" if len(outside) > 1 else ""
    place = f" {row.path}:{row.line}" if row.path else ""
    return f"it exists, but not with {asked}: {row.label} `{row.qualified_name}`{place}{others}"


def _listed(name: str, wanted: Sequence[str]) -> str:
    return f"{name} {', '.join(wanted)}" if any(wanted) else ""


def _is_path(path: str, colon: str, paths: Iterable[str]) -> bool:
    """Return whether the name looks like a path: with a slash, a folder, or an extension of indexed files."""
    if "/" in path or any(indexed.startswith(path + "/") for indexed in paths):
        return True
    ending = path.rpartition(".")[2] if "." in path.strip(".") else ""
    # `a::b` is not a path with a line, and `shop:shop.cart` is a uid.
    return bool(ending) and not colon and any(indexed.endswith("." + ending) for indexed in paths)


def _no_file(path: str, skipped: Sequence[Skipped], paths: Sequence[str]) -> Iterator[str]:
    """Explain a path without an indexed file: skipped, a folder, outside the root, or a name found elsewhere."""
    reasons = [each for each in skipped if each.path == path or (path + "/").startswith(_folder(each.path))]
    inside = sum(1 for indexed in paths if indexed.startswith(path + "/"))
    if reasons:
        yield f"`{reasons[0].path}` is not indexed: {reasons[0].reason}"
    elif inside:
        yield f"`{path}` is a folder (indexed files: {inside}); name one of its files, or search with this path"
    elif path.startswith("/") or ".." in path.split("/"):
        yield f"`{path}` is not below the project's root; paths are relative to the root"
    else:
        known = f"{len(paths)} indexed and {len(skipped)} skipped files and folders"
        yield f"none of the {known} is `{path}`, and no symbol has that name"
        name = path.rpartition("/")[2]
        same = [indexed for indexed in paths if indexed.rpartition("/")[2] == name]
        if same:
            more = f" and {len(same) - SHOWN} more" if len(same) > SHOWN else ""
            yield f"files of that name: {', '.join(sorted(same, key=lambda each: (len(each), each))[:SHOWN])}{more}"


def _folder(path: str) -> str:
    """Return the path of a skipped folder with its slash; for a file, a prefix that matches no path."""
    return path if path.endswith("/") else path + "/\0"


def _skips(skipped: Iterable[Skipped], segments: set[str]) -> list[str]:
    likely = [each for each in skipped if _may_be_home(each, segments)]
    return [f"`{each.path}` is not indexed: {each.reason}" for each in likely[:SHOWN]]


def _may_be_home(file: Skipped, segments: set[str]) -> bool:
    """Return whether a skipped file may define the name; a file in no known language must also match by its folders."""
    if file.reason in NOT_SOURCE or _stem(file.path) not in segments:
        return False
    return file.reason != "language" or segments.issuperset(file.path.split("/")[:-1])


def _problems(records: Iterable[FileRecord]) -> list[str]:
    likely = sorted((record for record in records if record.problems), key=lambda record: record.path)
    return [f"`{record.path}` could only be parsed in part: {record.problems[0]}" for record in likely[:SHOWN]]


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]
