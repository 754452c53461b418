"""The segments of words as rows: added by every write, merged, and rewritten for erasure (ADR 0069).

Segments commit with the texts that they are about, so no reader can see one without the other. Ids ascend with age: a
merge replaces the newest segments by one with a greater id, and no id returns.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.file.errors import damaged
from atlas.adapters.stores.sqlite.rows import fetch, run_many, select, value
from atlas.parsing import WordIndex, WordMerger, build_words

MAX_SEGMENTS = 16
"""Segments from which a write merges: a pass writes many of about the same size and merges them when it ends."""

_BLOCK_BITS = 32
"""Bits of a block's id below the id of its segment."""

TextRow = tuple[int, int, str, bool, bool, str, str, str, str, str]
"""Node, file, label, is_test, is_generated, and the columns from name to path."""


@contextmanager
def undamaged(connection: apsw.Connection) -> Generator[None]:
    """Raise `StoreError` for segments whose bytes are not those of a segment."""
    try:
        yield
    except ValueError as error:
        if isinstance(error, UnicodeError):
            raise
        raise damaged(Path(connection.filename), str(error)) from error


def add_words(connection: apsw.Connection, rows: Sequence[TextRow], gone: Sequence[int]) -> None:
    """Add the words of texts in the running transaction; `gone` are the nodes whose earlier texts no longer count."""
    if not rows and not gone:
        return
    nodes, replaced, directory, blocks = build_words(rows, gone)
    segment = value(connection, statements("text")["next_segment"])
    _put_blocks(connection, segment << _BLOCK_BITS, blocks)
    _put_segment(connection, segment, (nodes, replaced, directory))
    if value(connection, statements("text")["count_segments"]) >= MAX_SEGMENTS:
        merge_words(connection)


def merge_words(connection: apsw.Connection, *, everything: bool = False) -> None:
    """Merge the newest segments in the running transaction, from the first that is not larger than all after it.

    Every byte is rewritten about once for each time the index doubles. With `everything`, the result is one segment,
    without any text that was replaced.
    """
    rows = fetch(connection, statements("text")["segment_sizes"])
    after, start = 0, len(rows)
    for place in range(len(rows) - 1, -1, -1):
        size = rows[place][1]
        if everything or size <= after:
            start = place
        after += size
    if len(rows) - start > 1:
        with undamaged(connection):
            _merge(connection, [row[0] for row in rows[start:]], keeps_gone=start > 0)


def occurrences(connection: apsw.Connection) -> Iterator[tuple[int, str, int, int]]:
    """Yield node, term, column and position of all words, for comparisons. Reads everything."""
    with undamaged(connection):
        index = _index(connection)
        for segment, postings, positions in _all_blocks(connection):
            yield from index.occurrences(segment, postings, positions)


def are_sound(connection: apsw.Connection, most: int) -> bool:
    """Return whether the blocks are those of few segments and hold at most `most` words. Reads everything.

    Raises `StoreError` for bytes that are not those of a segment.
    """
    if value(connection, statements("text")["count_segments"]) > MAX_SEGMENTS:
        return False
    with undamaged(connection):
        index, left = _index(connection), most
        held = fetch(connection, statements("text")["block_ids"])
        if held != [(block, block) for block in index.all_blocks()]:
            return False
        for segment, postings, positions in _all_blocks(connection):
            left -= index.check(segment, postings, positions, left)
            if left < 0:
                return False
    return True


def _index(connection: apsw.Connection) -> WordIndex:
    ids: list[int] = json.loads(fetch(connection, statements("text")["segments"])[0][1])
    return WordIndex(None, ids, fetch(connection, statements("text")["segment"], {"ids": json.dumps(ids)}))


def _all_blocks(connection: apsw.Connection) -> Iterator[tuple[int, bytes, bytes]]:
    for block, postings, positions in select(connection, statements("text")["blocks"]):
        yield block >> _BLOCK_BITS, postings, positions


def _merge(connection: apsw.Connection, ids: list[int], *, keeps_gone: bool) -> None:
    read = statements("text")
    merger = WordMerger(fetch(connection, read["segment"], {"ids": json.dumps(ids)}), keeps_gone)
    segment = value(connection, read["next_segment"])
    next_blocks = [one << _BLOCK_BITS for one in ids]
    at = segment << _BLOCK_BITS
    while (place := merger.step()) is not None:
        merger.feed(place, _taken(connection, next_blocks[place]))
        next_blocks[place] += 1
        at = _put_blocks(connection, at, merger.take())
    made = merger.end()
    _put_blocks(connection, at, merger.take())
    _put_segment(connection, segment, made)
    run_many(connection, read["delete_segment"], [(one,) for one in ids])


def _taken(connection: apsw.Connection, block: int) -> tuple[bytes, bytes] | None:
    """Read and delete a block: what is written next takes its pages, so that merging does not enlarge the file."""
    read = statements("text")
    found = fetch(connection, read["block"], (block,))
    if not found:
        return None
    fetch(connection, read["delete_postings"], (block,))
    fetch(connection, read["delete_positions"], (block,))
    return found[0][0], found[0][1]


def _put_blocks(connection: apsw.Connection, at: int, blocks: Sequence[tuple[bytes, bytes]]) -> int:
    """Write blocks from the id `at` on; return the next id."""
    if blocks:
        read = statements("text")
        run_many(connection, read["put_postings"], [(at + place, block[0]) for place, block in enumerate(blocks)])
        run_many(connection, read["put_positions"], [(at + place, block[1]) for place, block in enumerate(blocks)])
    return at + len(blocks)


def _put_segment(connection: apsw.Connection, segment: int, made: tuple[bytes, bytes, bytes]) -> None:
    fetch(connection, statements("text")["put_segment"], (segment, *made))
