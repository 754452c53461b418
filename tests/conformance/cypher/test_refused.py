"""What the read subset refuses, how it says so, and that nothing hostile gets through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
import yaml

from atlas.adapters.stores.sqlite.cypher import run
from atlas.core.errors import QueryError
from tests.conformance.cypher.shop import build_shop

CASES = yaml.safe_load((Path(__file__).parent / "refused.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["query"] for case in CASES])
def test_refused_with_place_and_reason(shop: apsw.Connection, case: dict[str, object]) -> None:
    with pytest.raises(QueryError) as caught:
        run(shop, str(case["query"]), {}, 100, 5.0)
    assert caught.value.message.startswith(str(case["says"]))
    assert [caught.value.line, caught.value.column] == case["at"]


def test_at_least_forty_cases() -> None:
    assert len(CASES) >= 40


def test_errors_on_later_lines_are_located(shop: apsw.Connection) -> None:
    with pytest.raises(QueryError) as caught:
        run(shop, "MATCH (n)\nWHERE n.name = 'x'\n  DELETE n", {}, 100, 5.0)
    assert (caught.value.line, caught.value.column) == (3, 3)


@pytest.fixture
def writable(tmp_path: Path) -> Iterator[apsw.Connection]:
    """A connection that could write: what keeps the graph safe is the front end, not the open flags."""
    build_shop(tmp_path / "shop.db")
    connection = apsw.Connection(str(tmp_path / "shop.db"))
    yield connection
    connection.close()


HOSTILE = [
    "'; DROP TABLE node; --",
    "x' OR '1'='1",
    'x" OR "1"="1',
    "x) UNION SELECT name FROM sqlite_master --",
    "\\'; ATTACH DATABASE '/tmp/x' AS y; --",
    "?1); DELETE FROM edge; --",
    "%' ESCAPE '\\",
]


def quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_only_text(writable: apsw.Connection, text: str) -> None:
    before = contents(writable)
    name = f"`{text.replace('`', '``')}`"
    queries = [
        f"MATCH (n {{name: '{quoted(text)}'}}) RETURN n",
        f"MATCH (n) WHERE n.name CONTAINS '{quoted(text)}' OR n.name IN ['{quoted(text)}'] RETURN n",
        f"MATCH (n:{name})-[:{name}]->({name}) RETURN {name}",
        f"MATCH (n) WHERE n.{name} = 1 RETURN n.name",
        "MATCH (n) WHERE n.name = $p OR n.path STARTS WITH $p RETURN n",
        f"MATCH (n)-[r {{{name}: $p}}]->(m) RETURN n",
    ]
    for query in queries:
        assert run(writable, query, {"p": text}, 100, 5.0).rows == ()
    assert run(writable, f"RETURN $p AS {name}", {"p": text}, 100, 5.0).rows == ((text,),)
    assert contents(writable) == before


def contents(connection: apsw.Connection) -> list[object]:
    return [connection.execute(f"SELECT count(*) FROM {table}").fetchall() for table in ("node", "edge", "file")]


def test_only_the_graph_can_be_read_while_a_query_runs(
    writable: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    from atlas.adapters.stores.sqlite.cypher import query

    attempts = [
        "DELETE FROM edge",
        "SELECT * FROM meta",
        "ATTACH ':memory:' AS x",
        "PRAGMA journal_mode",
        "SELECT hex(1)",
    ]
    denied: list[str] = []

    def hostile(text: str) -> None:
        with pytest.raises((apsw.AuthError, apsw.SQLError)):
            writable.execute(text).fetchall()
        denied.append(text)

    original = query.compile_expression

    def during(*arguments: object) -> object:
        for attempt in attempts:
            hostile(attempt)
        return original(*arguments)

    monkeypatch.setattr(query, "compile_expression", during)
    run(writable, "UNWIND [1] AS x RETURN x", {}, 10, 5.0)
    assert denied == attempts


def test_the_connection_is_given_back_as_it_was(writable: apsw.Connection) -> None:
    def mine(*_: object) -> int:
        return apsw.SQLITE_OK

    writable.authorizer = mine
    run(writable, "MATCH (n) RETURN n LIMIT 1", {}, 10, 5.0)
    with pytest.raises(QueryError):
        run(writable, "MATCH (n) RETURN 1 / 0", {}, 10, 5.0)
    assert writable.authorizer is mine
    writable.authorizer = None
    assert not writable.in_transaction
    writable.execute("DELETE FROM edge WHERE type = 'TESTS'")
    assert writable.changes() == 2
