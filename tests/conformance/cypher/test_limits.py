"""Rows, time, depth, size and memory of a query are bounded; every bound is an error or a mark, never a crash."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from atlas.adapters.stores.sqlite.cypher import run
from atlas.core.errors import QueryError
from tests.conformance.cypher.shop import GraphFile, open_reading


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Iterator[apsw.Connection]:
    """300 functions that call 12 others each: far more paths than time."""
    path = tmp_path_factory.mktemp("dense") / "dense.db"
    graph = GraphFile(path, "dense")
    choose = random.Random(3)
    with graph.connection:
        graph.file("a.py", "python")
        for index in range(300):
            graph.node(f"a.f{index}", "Function", "function", "a.py", index + 1, index + 1, {})
        for index in range(300):
            for target in choose.sample(range(300), 12):
                graph.edge(f"a.f{index}", "CALLS", f"a.f{target}", 1, "import", 1.0)
    graph.connection.close()
    connection = open_reading(path)
    yield connection
    connection.close()


def refusal(connection: apsw.Connection, text: str, timeout: float = 5.0) -> QueryError:
    with pytest.raises(QueryError) as caught:
        run(connection, text, {}, 100, timeout)
    return caught.value


def test_row_cap(dense: apsw.Connection) -> None:
    table = run(dense, "MATCH (n) RETURN n.name", {}, 10, 5.0)
    assert len(table.rows) == 10
    assert table.truncated
    assert not run(dense, "MATCH (n) RETURN n.name", {}, 300, 5.0).truncated


def test_row_cap_stops_the_search(dense: apsw.Connection) -> None:
    table = run(dense, "MATCH p = (a)-[:CALLS*1..9]->(b) RETURN p", {}, 5, 5.0)
    assert len(table.rows) == 5


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a)-[:CALLS*1..9]->(b) RETURN count(*)",
        "MATCH (a), (b), (c), (d) RETURN count(*)",
        "MATCH (a), (b), (c) WHERE a.line + b.line + c.line < 0 RETURN a",
        "UNWIND range(1, 99999) AS x UNWIND range(1, 99999) AS y WITH x WHERE x < 0 RETURN x",
        "RETURN reduce(s = 0, x IN range(1, 90000) | s + size([y IN range(1, 90000) WHERE y = x]))",
    ],
)
def test_timeout(dense: apsw.Connection, text: str) -> None:
    began = time.monotonic()
    error = refusal(dense, text, timeout=0.3)
    assert error.message.startswith("timeout")
    assert time.monotonic() - began < 3.0


def test_a_timeout_leaves_the_connection_usable(dense: apsw.Connection) -> None:
    refusal(dense, "MATCH (a), (b), (c), (d) RETURN count(*)", timeout=0.1)
    assert run(dense, "MATCH (n) RETURN count(n) AS n", {}, 10, 5.0).rows == ((300,),)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(.*)*x", "(a?){40}a{40}", "(?i)(x+x+)+y"])
def test_regular_expressions_cannot_hang(dense: apsw.Connection, pattern: str) -> None:
    began = time.monotonic()
    text = f"UNWIND range(1, 50) AS i RETURN '{'a' * 60}{'x' * 60}' =~ '{pattern}' AS m"
    assert len(run(dense, text, {}, 100, 5.0).rows) == 50
    assert time.monotonic() - began < 4.0


def test_long_text_is_refused(dense: apsw.Connection) -> None:
    assert "characters" in refusal(dense, "RETURN '" + "x" * 100_000 + "'").message
    assert "empty" in refusal(dense, "").message
    assert "empty" in refusal(dense, " \n// nothing\n").message


@pytest.mark.parametrize(
    "text",
    [
        "RETURN " + "(" * 9_900 + "1" + ")" * 9_900,
        "RETURN " + "[" * 9_900 + "1" + "]" * 9_900,
        "RETURN " + "NOT " * 4_000 + "true",
        "RETURN " + "-" * 9_000 + "n",
        "RETURN n" + ".a" * 9_000,
        "RETURN 1" + " IS NULL" * 2_000,
        "RETURN " + "{a:" * 5_000,
        "RETURN " + "toUpper(" * 2_000,
        "RETURN " + "CASE WHEN " * 1_500,
        "RETURN " + "EXISTS { MATCH (a) WHERE " * 700,
        "RETURN " + "[x IN " * 3_000,
        "MATCH (a" + ":!" * 1 + "!" * 9_000 + "A) RETURN a",
        "MATCH (a)" + "-->()" * 3_000 + " RETURN a",
        "MATCH " + ", ".join(["()"] * 4_000) + " RETURN 1",
    ],
)
def test_deep_or_wide_text_is_refused(dense: apsw.Connection, text: str) -> None:
    assert refusal(dense, text).message


def test_long_flat_chains_are_fine(dense: apsw.Connection) -> None:
    assert run(dense, "RETURN " + "+".join(["1"] * 5_000) + " AS n", {}, 1, 5.0).rows == ((5_000,),)
    many = " OR ".join(f"n.line = {line}" for line in range(600))
    assert run(dense, f"MATCH (n) WHERE {many} RETURN count(n) AS n", {}, 1, 5.0).rows == ((300,),)


def test_held_values_are_bounded(dense: apsw.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    from atlas.adapters.stores.sqlite.cypher import guard

    monkeypatch.setattr(guard, "MAX_HELD", 200_000)
    for text in (
        "MATCH (a), (b) WITH DISTINCT a.name AS a, b.name AS b RETURN count(*)",
        "MATCH (a), (b) WITH a, b ORDER BY b.name RETURN a.name",
        "MATCH (a), (b) RETURN a.name, b.name, count(*)",
        "MATCH (a), (b) RETURN collect(a.name)",
    ):
        assert "holds more than" in refusal(dense, text).message
    assert len(run(dense, "MATCH (n) RETURN DISTINCT n.name", {}, 300, 5.0).rows) == 300


def test_cells_are_cut_and_marked(dense: apsw.Connection) -> None:
    table = run(dense, "RETURN range(1, 20000) AS xs", {}, 1, 5.0)
    assert table.truncated
    assert table.rows == ((list(range(1, 10_001)),),)


def test_unbounded_length_marks_what_the_cap_hides(tmp_path: Path) -> None:
    graph = GraphFile(tmp_path / "chain.db", "chain")
    with graph.connection:
        graph.file("a.py", "python")
        for index in range(30):
            graph.node(f"a.f{index}", "Function", "function", "a.py", 1, 1, {})
        for index in range(29):
            graph.edge(f"a.f{index}", "CALLS", f"a.f{index + 1}", 1, "import", 1.0)
    start = "(a {name: 'f0'})-[:CALLS*]->(b)"
    capped = run(graph.connection, f"MATCH p = {start} RETURN length(p)", {}, 100, 5.0)
    assert len(capped.rows) == 15
    assert capped.truncated
    reached = run(graph.connection, f"MATCH {start} RETURN DISTINCT b.name", {}, 100, 5.0)
    assert len(reached.rows) == 29
    assert not reached.truncated
    shortest = "MATCH p = shortestPath((a {name: 'f0'})-[:CALLS*]->(b {name: 'f29'})) RETURN length(p)"
    assert run(graph.connection, shortest, {}, 100, 5.0).rows == ((29,),)
    graph.connection.close()


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", 2**70, {"a": object()}])
def test_parameters_of_foreign_types_are_refused(dense: apsw.Connection, value: object) -> None:
    with pytest.raises(QueryError):
        run(dense, "RETURN $p", {"p": value}, 10, 5.0)
