"""`bm25_best`, the ranking that passes over rows which cannot be among the best, against FTS5's own `bm25`."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas.adapters.stores.sqlite.file.hardened import load_extension
from atlas.adapters.stores.sqlite.rows import fetch, run_many, select, value
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.adapters.stores.sqlite.text import can_load, load_bm25
from atlas.app.store import open_store
from atlas.core.model import Filter, Scored
from atlas.parsing import BM25_LIBRARY, VectorIndex
from atlas.runtime.config.load import load_settings
from tests.conformance.rows import PROJECT, node, unit

WEIGHTS = (8.0, 4.0, 2.0, 1.0, 2.0)
COLUMNS = ("name", "qualified_name", "docstring", "source", "path")

VOCABULARY = ["get", "set", "value", "node", "edge", "a", "self"]
WORDS = st.sampled_from(VOCABULARY)
LONGEST = st.sampled_from([1, 2, 12])
ROWS = LONGEST.flatmap(
    lambda longest: st.lists(
        st.tuples(*(st.lists(WORDS, max_size=longest).map(" ".join) for _ in COLUMNS)), min_size=1, max_size=40
    )
)
PHRASES = st.builds(
    lambda scope, first, words: f'({scope}{first}"{" ".join(words)}")',
    st.sampled_from(["", "{name} : ", "{name qualified_name path} : "]),
    st.sampled_from(["", "", "^ "]),
    st.lists(WORDS, min_size=1, max_size=2),
)
QUERIES = st.lists(PHRASES, min_size=1, max_size=5).map(" OR ".join)

Ranked = list[tuple[int, float]]


@dataclass(frozen=True)
class Table:
    connection: apsw.Connection

    def best(self, query: str, limit: int, hits: str, where: str = "") -> Ranked:
        weights = ", ".join(map(str, WEIGHTS))
        return self._ranked(f"bm25_best(text, :limit, :hits, {weights})", query, limit, hits, where)

    def expected(self, query: str, limit: int, where: str = "") -> Ranked:
        return self._ranked(f"bm25(text, {', '.join(map(str, WEIGHTS))})", query, limit, "", where)

    def hits(self, query: str) -> str:
        count = "SELECT count(*) FROM text WHERE text MATCH ?"
        return " ".join(str(value(self.connection, count, (part,))) for part in query.split(" OR "))

    def _ranked(self, rank: str, query: str, limit: int, hits: str, where: str) -> Ranked:
        text = f"SELECT text.rowid, {rank} AS r FROM text WHERE text MATCH :query {where} ORDER BY r, text.rowid LIMIT :limit"
        return [
            (row, score) for row, score in fetch(self.connection, text, {"query": query, "limit": limit, "hits": hits})
        ]


def table(rows: Sequence[Sequence[str]] = ()) -> Table:
    """A table as the store's, with `bm25_best`."""
    connection = apsw.Connection(":memory:")
    fetch(
        connection,
        f"CREATE VIRTUAL TABLE text USING fts5({', '.join(COLUMNS)}, content='', contentless_delete=1, "
        "tokenize=\"unicode61 remove_diacritics 2 tokenchars '_'\")",
    )
    run_many(connection, f"INSERT INTO text({', '.join(COLUMNS)}) VALUES (?, ?, ?, ?, ?)", rows)
    load_bm25(connection, BM25_LIBRARY)
    return Table(connection)


@pytest.mark.slow
@settings(max_examples=150)
@given(ROWS, QUERIES, st.sampled_from([1, 2, 3, 10, 50]), st.sets(st.integers(1, 40)), st.booleans())
def test_the_best_rows_have_the_scores_of_bm25(
    rows: list[Sequence[str]], query: str, limit: int, gone: set[int], counted: bool
) -> None:
    text = table(rows)
    run_many(text.connection, "DELETE FROM text WHERE rowid = ?", [(row,) for row in gone])
    hits = text.hits(query) if counted else ""
    assert text.best(query, limit, hits) == text.expected(query, limit)


def test_a_bound_that_were_one_token_off_would_show() -> None:
    """Rows whose last word is the one looked for are as long as their bound says: hypothesis seldom makes them count."""
    for seed in range(400):
        source = random.Random(seed)
        longest = source.choice([1, 2, 12])
        text = table([[chosen(source, longest) for _ in COLUMNS] for _ in range(source.randint(1, 40))])
        query = " OR ".join(f'("{word}")' for word in source.sample(VOCABULARY, source.randint(1, 3)))
        for limit in (1, 2, 3, 10):
            assert text.best(query, limit, "") == text.expected(query, limit), (seed, query, limit)
        text.connection.close()


def chosen(source: random.Random, longest: int) -> str:
    return " ".join(source.choice(VOCABULARY) for _ in range(source.randint(0, longest)))


@given(ROWS, QUERIES, st.integers(1, 5))
def test_rows_that_a_filter_leaves_out_do_not_displace_others(
    rows: list[Sequence[str]], query: str, limit: int
) -> None:
    text = table(rows)
    where = "AND text.rowid % 3 = 0"
    assert text.best(query, limit, text.hits(query), where) == text.expected(query, limit, where)


def test_most_rows_are_passed_over() -> None:
    text = table([("get", "get", "", "node " * (number % 50), "") for number in range(2_000)])
    rank = "SELECT bm25_best(text, 10, '', 8.0, 4.0, 2.0, 1.0, 2.0) AS r FROM text WHERE text MATCH 'node' ORDER BY r"
    scores = [score for (score,) in fetch(text.connection, rank)]
    assert len(scores) == 1_960
    assert sum(score == 0 for score in scores) > 1_500


@pytest.mark.parametrize("hits", ["", "1", "1 2 3", "one two", None, "1 x"])
def test_hits_that_do_not_fit_the_query_are_counted(hits: str | None) -> None:
    text = table([("get", "a", "b", "c", "d"), ("set", "get", "", "", ""), ("other", "", "", "", "")])
    assert text.best("(get) OR (set)", 5, hits) == text.expected("(get) OR (set)", 5)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("limit", [0, -1])
def test_without_a_limit_no_row_has_a_score(limit: int) -> None:
    text = table([("get", "", "", "", "")])
    rank = "SELECT bm25_best(text, ?, '', 1.0) FROM text WHERE text MATCH 'get'"
    assert fetch(text.connection, rank, (limit,)) == [(0,)]


def test_without_words_no_row_has_a_score() -> None:
    text = table([("get", "", "", "", "")])
    assert fetch(text.connection, "SELECT bm25_best(text, 1, '', 1.0) FROM text") == [(0,)]


def test_too_few_arguments_are_an_error() -> None:
    text = table([("get", "", "", "", "")])
    with pytest.raises(apsw.SQLError):
        fetch(text.connection, "SELECT bm25_best(text, 1) FROM text WHERE text MATCH 'get'")


def test_one_query_in_another_and_again_keep_their_rankings_apart() -> None:
    text = table([("get " * (1 + number % 7), "", "", "x " * (number % 11), "") for number in range(200)])
    expected = text.expected("get", 3)
    cursor = select(
        text.connection,
        "SELECT rowid, bm25_best(text, 3, '', 8.0, 4.0, 2.0, 1.0, 2.0) AS r FROM text WHERE text MATCH 'get' ORDER BY r, rowid",
    )
    first = next(cursor)
    assert text.best("get", 3, "") == expected
    assert [first, next(cursor), next(cursor)] == expected


async def test_where_it_cannot_be_loaded_words_are_searched_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "no.so").write_bytes(b"not a library")
    answers: list[list[Scored]] = []
    for library in (BM25_LIBRARY, str(tmp_path / "no.so")):
        assert can_load(library) is (library == BM25_LIBRARY)
        store = EmbeddedStore.open(tmp_path / "d", writing=True, vector_index=VectorIndex, bm25=library)
        if not answers:
            await store.open_project(PROJECT, "/somewhere")
            await store.apply([unit("a.py", [node("a.first"), node("a.second")])])
        answers.append(await store.search_text(["first", "second"], Filter(), 5))
        await store.aclose()
    assert len(answers[0]) == 2
    assert answers[0] == answers[1]


@pytest.mark.parametrize("rank", ["atlas", "fts5"])
async def test_a_setting_chooses_the_ranking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rank: str) -> None:
    loaded: list[str] = []

    def load(connection: apsw.Connection, library: str, entry_point: str) -> None:
        loaded.append(entry_point)
        load_extension(connection, library, entry_point)

    monkeypatch.setattr("atlas.adapters.stores.sqlite.text.load_extension", load)
    chosen = load_settings(str(tmp_path), str(tmp_path / "data"), {"ATLAS_STORE_FTS_RANK": rank})
    store = await open_store(chosen, writing=True)
    try:
        await store.open_project(PROJECT, "/somewhere")
        await store.apply([unit("a.py", [node("a.first"), node("a.second")])])
        found = await store.search_text(["first", "second"], Filter(), 5)
    finally:
        await store.aclose()
    assert [hit.uid for hit in found] == [f"{PROJECT}:a.first", f"{PROJECT}:a.second"]
    assert ("atlas_bm25_init" in loaded) is (rank == "atlas")


def test_nothing_else_can_be_loaded_afterwards() -> None:
    text = table()
    with pytest.raises(apsw.SQLError, match="not authorized"):
        fetch(text.connection, "SELECT load_extension(?, 'atlas_bm25_init')", (BM25_LIBRARY,))


def test_what_is_no_library_is_refused_and_the_door_is_closed_again(tmp_path: Path) -> None:
    (tmp_path / "no.so").write_bytes(b"not a library")
    connection = apsw.Connection(":memory:")
    with pytest.raises(apsw.ExtensionLoadingError):
        load_bm25(connection, str(tmp_path / "no.so"))
    with pytest.raises(apsw.SQLError, match="not authorized"):
        fetch(connection, "SELECT load_extension(?)", (BM25_LIBRARY,))
