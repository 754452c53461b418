"""The segments of words against SQLite's FTS5, which computes the same scores, and against damaged bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas.adapters.stores.sqlite.rows import fetch, run_many
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.model import Filter
from atlas.parsing import VectorIndex, WordIndex, WordMerger, build_words, split_words
from tests.conformance.rows import PROJECT, node, unit

WEIGHTS = "8.0, 4.0, 2.0, 1.0, 2.0"
COLUMNS = "name, qualified_name, docstring, source, path"
TOKENIZER = "unicode61 remove_diacritics 2 tokenchars '_'"
EVERYTHING = (None, None, True, True)

Texts = dict[int, Sequence[str]]
Ranked = list[tuple[int, float]]


@dataclass
class Segments:
    """Segments as the store keeps them, with their blocks by id."""

    rows: list[tuple[int, bytes, bytes, bytes]] = field(default_factory=list[tuple[int, bytes, bytes, bytes]])
    blocks: dict[int, tuple[bytes, bytes]] = field(default_factory=dict[int, tuple[bytes, bytes]])
    last: int = 0

    def add(self, texts: Texts, gone: Sequence[int]) -> None:
        made = build_words([(node, 1, "Function", False, False, *text) for node, text in texts.items()], gone)
        self.put(made[:3], made[3])

    def put(self, made: tuple[bytes, bytes, bytes], blocks: Sequence[tuple[bytes, bytes]]) -> None:
        self.last += 1
        segment = self.last
        self.rows.append((segment, *made))
        self.blocks.update(((segment << 32) + place, block) for place, block in enumerate(blocks))

    def merge(self, newest: int) -> None:
        """Merge the newest segments."""
        merged, self.rows = self.rows[-newest:], self.rows[:-newest]
        merger = WordMerger(merged, bool(self.rows))
        left = [self._blocks_of(row[0]) for row in merged]
        blocks: list[tuple[bytes, bytes]] = []
        while (place := merger.step()) is not None:
            merger.feed(place, next(left[place], None))
            blocks += merger.take()
        made = merger.end()
        self.put(made, [*blocks, *merger.take()])

    def index(self) -> WordIndex:
        return WordIndex(None, [row[0] for row in self.rows], self.rows)

    def best(self, words: Sequence[str], limit: int) -> Ranked:
        index = self.index()
        postings, positions = index.blocks(words)
        read = ([(one, self.blocks[one][part]) for one in ids] for part, ids in enumerate((postings, positions)))
        return sorted(index.search(words, *read, EVERYTHING, limit))

    def _blocks_of(self, segment: int) -> Iterator[tuple[bytes, bytes]]:
        place = segment << 32
        while place in self.blocks:
            yield self.blocks[place]
            place += 1


def expected(texts: Texts, words: Sequence[str], limit: int) -> Ranked:
    """What FTS5 answers from a fresh table. It adds the words of a text in the order of their frequency, as we do."""
    connection = apsw.Connection(":memory:")
    fetch(
        connection,
        f"CREATE VIRTUAL TABLE text USING fts5({COLUMNS}, content='', contentless_delete=1, tokenize=\"{TOKENIZER}\")",
    )
    rows = [(node, *text) for node, text in texts.items()]
    run_many(connection, f"INSERT INTO text(rowid, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", rows)

    def frequency(word: str) -> int:
        return fetch(connection, "SELECT count(*) FROM text WHERE text MATCH ?", (word,))[0][0]

    asked = " OR ".join(sorted((f'"{word}"' for word in words), key=frequency))
    text = f"SELECT rowid, -bm25(text, {WEIGHTS}) AS score FROM text WHERE text MATCH ? ORDER BY score DESC"
    hits: Ranked = [(row[0], row[1]) for row in fetch(connection, text, (asked,))]
    connection.close()
    least = hits[limit - 1][1] if len(hits) > limit else 0.0
    return sorted(hit for hit in hits if hit[1] >= least)


VOCABULARY = ["get", "set", "value", "node", "edge", "aé", "self", "x" * 600, "get_value"]
WORDS = st.sampled_from(VOCABULARY)
TEXT = st.sampled_from([1, 2, 12]).flatmap(
    lambda longest: st.tuples(*([st.lists(WORDS, max_size=longest).map(" ".join)] * 5))
)
PASSES = st.lists(
    st.tuples(st.dictionaries(st.integers(1, 60), TEXT, max_size=25), st.sets(st.integers(1, 60), max_size=5)),
    min_size=1,
    max_size=5,
)
QUERY = st.lists(st.lists(WORDS, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=5, unique=True)


@settings(max_examples=40)
@given(PASSES, QUERY, st.sampled_from([1, 3, 10, 50]), st.integers(1, 5))
def test_scores_are_those_of_fts5_over_a_fresh_table(
    passes: list[tuple[Texts, set[int]]], words: list[str], limit: int, newest: int
) -> None:
    segments, live = Segments(), Texts()
    for texts, deleted in passes:
        segments.add(texts, [one for one in {*texts, *deleted} if one in live])
        live = {node: text for node, text in live.items() if node not in deleted} | texts
    wanted = expected(live, words, limit)
    assert segments.best(words, limit) == wanted
    segments.merge(newest)
    assert segments.best(words, limit) == wanted
    segments.merge(len(segments.rows))
    assert segments.best(words, limit) == wanted
    fresh = Segments()
    fresh.add(live, [])
    assert segments.rows[0][1:] == fresh.rows[0][1:], "a merge leaves the bytes of a fresh index"
    before = len(segments.blocks) - len(fresh.blocks)
    assert list(segments.blocks.values())[before:] == list(fresh.blocks.values())


LETTERS = st.sampled_from("aZ_09 -.éÉñßĀжЙλΣςύא数カअधिक한\u0301\u0308\u200d€½")


@settings(max_examples=60)
@given(st.text(LETTERS, max_size=30))
def test_tokens_are_those_of_unicode61(text: str) -> None:
    text = " ".join(split_words(text))
    connection = apsw.Connection(":memory:")
    tokenizer = connection.fts5_tokenizer("unicode61", ["remove_diacritics", "2", "tokenchars", "_"])
    tokens = [found[2] for found in tokenizer(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None)]
    segments = Segments()
    segments.add({1: ("", "", "", text, "")}, [])
    index = segments.index()
    found = [row for block in segments.blocks.values() for row in index.occurrences(1, *block)]
    assert [term for _, term, _, _ in sorted(found, key=lambda row: row[3])] == tokens


def test_a_word_of_too_many_texts_counts_in_names_only() -> None:
    named = {number: ("common", "common", "", "common rare", "") for number in (5, 5_000)}
    texts: Texts = {number: ("other", "", "", "common", "") for number in range(1, 9_001)} | named
    segments = Segments()
    segments.add(texts, [])
    assert [one for one, _ in segments.best(["common"], 2)] == [5, 5_000]
    assert [one for one, _ in segments.best(["common", "rare"], 2)] == [5, 5_000]
    assert len(segments.best(["common"], 3)) == 9_000, "names alone are too few: every text counts"


def test_damaged_bytes_are_an_error_or_another_answer() -> None:
    source = random.Random(31)
    for _ in range(300):
        segments = Segments()
        for start in (1, 20):
            texts = {start + n: tuple(source.choice(VOCABULARY) for _ in range(5)) for n in range(30)}
            segments.add(texts, [start + n for n in range(5)])
        place = source.randrange(len(segments.rows))
        part = source.randrange(1, 4)
        if source.random() < 0.5:
            row = list(segments.rows[place])
            row[part] = damaged(source, segments.rows[place][part])
            segments.rows[place] = (row[0], row[1], row[2], row[3])
        else:
            block = source.choice(list(segments.blocks))
            one, other = segments.blocks[block]
            segments.blocks[block] = (damaged(source, one), other) if part == 1 else (one, damaged(source, other))
        try:
            segments.best(["get", "value node", "self"], 3)
            for block, pair in segments.blocks.items():
                segments.index().check(block >> 32, *pair, 10_000)
                segments.index().occurrences(block >> 32, *pair)
            segments.merge(2)
        except (ValueError, KeyError):
            continue


def damaged(source: random.Random, data: bytes) -> bytes:
    place = source.randrange(max(len(data), 1))
    return data[:place] + source.randbytes(source.randrange(3)) + data[place + source.randrange(3) :]


@pytest.mark.parametrize("kind", ["test", "generated", "label", "path"])
async def test_filters_follow_a_node_whose_words_stay(tmp_path: Path, kind: str) -> None:
    store = EmbeddedStore.open(tmp_path, writing=True, vector_index=VectorIndex)
    await store.open_project(PROJECT, "/")
    before = node("a.first", "a/b.py")
    changed = {
        "test": before._replace(is_test=True),
        "generated": before._replace(is_generated=True),
        "label": before._replace(label="Class"),
        "path": before._replace(path="a b.py"),
    }[kind]
    asked = {
        "test": Filter(include_tests=False),
        "generated": Filter(include_generated=False),
        "label": Filter(labels=("Function",)),
        "path": Filter(path="a/"),
    }[kind]
    await store.apply([unit("a/b.py", [before])])
    assert await store.search_text(["first"], asked, 5)
    assert (await store.count_words(["first"], asked)).words == {"first": {"a/b.py": 1}}
    await store.apply([unit(changed.path, [changed])])
    assert await store.search_text(["first"], asked, 5) == []
    assert (await store.count_words(["first"], asked)).words == {"first": {}}
    assert (await store.count_words(["first"], Filter())).words == {"first": {changed.path: 1}}
    await store.aclose()
