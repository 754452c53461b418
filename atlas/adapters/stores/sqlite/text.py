"""Word search: BM25 over columns, and counts of words by file, on the segments of words (ADR 0069).

The nodes of all segments are in memory, about 15 bytes a text, and shared by all readers of a store. A query reads the
few blocks that hold its words, in the transaction that also reads the names of what it finds. The scores are those of
SQLite's FTS5, and a word that many texts contain counts only in names (`rust-parser/retrieval/src/segments/`).
"""

from __future__ import annotations

import json
import sys
import threading
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import apsw

from atlas.adapters.stores.shared.filters import restriction
from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.rows import Row, fetch, select
from atlas.adapters.stores.sqlite.text_segments import undamaged
from atlas.core.model import MAX_COUNTED, Filter, Scored, WordCounts
from atlas.parsing import WordIndex

MAX_WORDS = 64

_FILTERS_KEPT = 8

_Among = tuple[bytes | None, list[str] | None, bool, bool]
"""Files of a filter (None for all), labels (None for all), with tests, with generated code."""
_Blocks = list[tuple[int, bytes]]


@dataclass(slots=True)
class _Files:
    """What is known about files in one state of the store."""

    state: Row
    allowed: dict[Filter, bytes] = field(default_factory=dict[Filter, bytes])
    """Ids of the files that pass a filter, sorted, as uint32."""
    listed: dict[int, tuple[str, int]] = field(default_factory=dict[int, tuple[str, int]])
    """Path and number of nodes of a file by its id."""


class WordSearch:
    """Word search of a store; safe for threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._identity = ""
        self._index: WordIndex | None = None
        self._files = _Files(())

    def search(self, connection: apsw.Connection, words: Sequence[str], where: Filter, limit: int) -> list[Scored]:
        """See `Store.search_text`."""
        among = self._among(connection, where)
        asked = _asked(words)
        if not asked or limit <= 0:
            return []
        with undamaged(connection):
            index = self._current(connection)
            found = index.search(asked, *_blocks(connection, index, asked), among, limit)
        ids = json.dumps([node for node, _ in found])
        uids = dict(select(connection, statements("text")["uids"], {"ids": ids}))
        # Ties at the cut are all here: internal ids never decide the selection.
        hits = [Scored(uids[node], score) for node, score in found if node in uids]
        return sorted(hits, key=lambda hit: (-hit.score, hit.uid))[:limit]

    def count(self, connection: apsw.Connection, words: Sequence[str], where: Filter) -> WordCounts:
        """See `Store.count_words`."""
        among = self._among(connection, where)
        asked = _asked(words)
        with undamaged(connection):
            index = self._current(connection)
            counted = index.count(asked, *_blocks(connection, index, asked), among, MAX_COUNTED)
        files = self._listed(connection, {file for _, by_file in counted for file, _ in by_file})
        found = {
            word: {files[file][0]: count for file, count in by_file}
            for word, (texts, by_file) in zip(asked, counted, strict=True)
            if texts <= MAX_COUNTED
        }
        return WordCounts(dict(files[file] for _, by_file in counted for file, _ in by_file), found)

    def _current(self, connection: apsw.Connection) -> WordIndex:
        """Return the index in the state that the connection's transaction sees."""
        identity, listed = fetch(connection, statements("text")["segments"])[0]
        ids: list[int] = json.loads(listed)
        with self._guard:
            held = self._index if identity == self._identity else None
        known = held.segments if held is not None else []
        if held is not None and known == ids:
            return held
        missing = {"ids": json.dumps(sorted({*ids}.difference(known)))}
        index = WordIndex(held, ids, fetch(connection, statements("text")["segment"], missing))
        with self._guard:
            # A reader of an older state keeps its index for itself.
            if identity != self._identity or self._index is None or ids > self._index.segments:
                self._identity, self._index = identity, index
        return index

    def _among(self, connection: apsw.Connection, where: Filter) -> _Among:
        """Return the filter. Raises `NotFound` for an unknown project."""
        of_files = Filter(project=where.project, path=where.path, languages=where.languages)
        limits = restriction(connection, of_files)
        files = None
        if limits.where:
            known = self._known(connection)
            files = known.allowed.get(of_files)
            if files is None:
                text = statements("text")["files_where"].format(where=limits.where)
                files = known.allowed[of_files] = _packed(row[0] for row in select(connection, text, limits.bindings))
                while len(known.allowed) > _FILTERS_KEPT:
                    known.allowed.pop(next(iter(known.allowed)), None)
        labels = list(where.labels) if where.labels else None
        return files, labels, where.include_tests, where.include_generated

    def _listed(self, connection: apsw.Connection, files: set[int]) -> dict[int, tuple[str, int]]:
        """Return path and number of nodes of these files, by id."""
        listed = self._known(connection).listed
        missing = sorted(files.difference(listed))
        if missing:
            rows = select(connection, statements("text")["nodes_of_files"], {"files": json.dumps(missing)})
            listed.update((file, (path, nodes)) for file, path, nodes in rows)
        return listed

    def _known(self, connection: apsw.Connection) -> _Files:
        state = fetch(connection, statements("text")["state"])[0]
        known = self._files
        if known.state != state:
            self._files = known = _Files(state)
        return known


def _asked(words: Sequence[str]) -> list[str]:
    return [word for word in dict.fromkeys(words) if any(map(_in_word, word))][:MAX_WORDS]


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _blocks(connection: apsw.Connection, index: WordIndex, words: list[str]) -> tuple[_Blocks, _Blocks]:
    """Return the blocks of postings and of positions in which the words are."""
    postings, positions = index.blocks(words)
    return _read(connection, "postings", postings), _read(connection, "positions", positions)


def _read(connection: apsw.Connection, kind: str, ids: list[int]) -> _Blocks:
    return fetch(connection, statements("text")[kind], {"ids": json.dumps(ids)}) if ids else []


def _packed(ids: Iterable[int]) -> bytes:
    packed = array("I", ids)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
