"""No query takes much memory: bytes are counted as values are built, and a query over a limit says which one it was."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from atlas.adapters.stores.sqlite.cypher import run
from atlas.core.errors import QueryError
from tests.bench.hostile_calls import HUGE, LONG
from tests.conformance.cypher.shop import GraphFile, open_reading

REPOSITORY = Path(__file__).parents[3]
VALUE, HELD, RESULT = "a value has more than 16 MB", "holds more than 96 MB", "the result has more than 16 MB"
MANY = "UNWIND range(1, 90000) AS i "
DOUBLED = "WITH range(1, 10) AS a " + "WITH [a, a] AS a " * 22

QUERIES: dict[str, tuple[str, str]] = {
    "collect": (LONG + MANY + "RETURN size(collect(s + toString(i)))", VALUE),
    "comprehension": (LONG + "RETURN size([i IN range(1, 90000) | s + toString(i)])", VALUE),
    "reduce": (LONG + "RETURN size(reduce(a = [], i IN range(1, 90000) | a + (s + toString(i))))", VALUE),
    "literals": (HUGE + "RETURN size([" + ", ".join(f"s + '{n}'" for n in range(400)) + "])", HELD),
    "maps": (LONG + MANY + "RETURN size(collect({k: s + toString(i)}))", VALUE),
    "replace": (HUGE + "RETURN size([i IN range(1, 90000) | replace(s, 'a', 'b') + toString(i)])", VALUE),
    "split": (LONG + "UNWIND range(1, 1000) AS i RETURN collect(split(s, 'a'))", VALUE),
    "columns": (HUGE + "WITH " + ", ".join(f"s + '{n}' AS c{n}" for n in range(900)) + " RETURN c1", HELD),
    "groups": (LONG + MANY + "RETURN s + toString(i) AS k, count(*) AS n", HELD),
    "distinct": (LONG + MANY + "WITH DISTINCT s + toString(i) AS t RETURN count(t)", HELD),
    "order": (LONG + MANY + "WITH s + toString(i) AS t ORDER BY t RETURN count(t)", HELD),
    "union": (f"{LONG}{MANY}RETURN s + toString(i) AS t UNION {LONG}{MANY}RETURN s + toString(i) AS t", RESULT),
    "largest": (LONG + MANY + "RETURN i, max([s + toString(i)])", HELD),
    "subquery": (LONG + MANY + "RETURN size(collect(COLLECT { RETURN s + toString(i) }))", VALUE),
    "doubled list": (DOUBLED + "RETURN a", VALUE),
    "doubled list compared": (DOUBLED + "RETURN a = a", VALUE),
    "doubled list as key": (DOUBLED + "RETURN a, count(*)", VALUE),
    "doubled map": ("WITH {k: 1} AS a " + "WITH {x: a, y: a} AS a " * 22 + "RETURN a", VALUE),
    "lists of lists": ("RETURN size([x IN range(1, 90000) | range(1, 90000)])", VALUE),
    "numbers as rows": (LONG + "UNWIND range(1, 1000) AS i RETURN split(s, '')", RESULT),
    "nested": ("RETURN reduce(a = [], x IN range(1, 200) | [a])", "nested more than 50 levels"),
    "integers": ("RETURN reduce(x = 2, i IN range(1, 60) | x * x)", "integer overflow"),
    "long replacement": (HUGE + "RETURN size(replace(s, 'a', s))", "1,000,000 characters"),
    "many delimiters": (
        "WITH [i IN range(1, 90000) | toString(i)] AS d RETURN split('a', d)",
        "characters of delimiters",
    ),
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("small") / "small.db"
    made = GraphFile(path, "small")
    with made.connection:
        made.file("a.py", "python")
        for index in range(300):
            made.node(f"a.f{index}", "Function", "function", "a.py", index + 1, index + 1, {})
    made.connection.close()
    yield path


@pytest.fixture
def connection(graph: Path) -> Iterator[apsw.Connection]:
    opened = open_reading(graph)
    yield opened
    opened.close()


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_over_a_limit_says_which(connection: apsw.Connection, name: str) -> None:
    text, said = QUERIES[name]
    with pytest.raises(QueryError) as caught:
        run(connection, text, {}, 1_000, 60.0)
    assert said in caught.value.message
    assert caught.value.hint or said == "integer overflow"
    assert run(connection, "MATCH (n) RETURN count(n) AS n", {}, 1, 5.0).rows == ((300,),)


def test_none_of_them_takes_much_memory(graph: Path) -> None:
    script = f"""
import resource
from pathlib import Path
from atlas.core.errors import QueryError
from atlas.adapters.stores.sqlite.cypher import run
from tests.conformance.cypher.shop import open_reading
from tests.conformance.cypher.test_memory import QUERIES

def peak():
    status = Path("/proc/self/status")
    if status.exists():
        # unlike ru_maxrss it does not begin with the parent's memory
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

connection = open_reading(Path({str(graph)!r}))
run(connection, "MATCH (n) RETURN n.name LIMIT 5", {{}}, 5, 5.0)
before = peak()
for text, _ in QUERIES.values():
    try:
        run(connection, text, {{}}, 1000, 60.0)
    except QueryError:
        pass
print(peak() - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=300
    )
    assert int(done.stdout) < 256_000_000


def test_what_is_within_the_limits_is_answered(connection: apsw.Connection) -> None:
    def one(text: str) -> object:
        return run(connection, text, {}, 10, 60.0).rows[0][0]

    assert one("UNWIND range(1, 90000) AS i RETURN size(collect(toString(i)))") == 90_000
    assert one("RETURN size(reduce(a = [], i IN range(1, 5000) | a + [i]))") == 5_000
    assert one("WITH reduce(s = 'ab', x IN range(1, 15) | s + s) AS s RETURN size(split(s, 'a'))") == 32_769
    # strings that are freed again count no longer: 5 GB in all
    assert one(LONG + MANY + "RETURN sum(size(s + toString(i)))") == 90_000 * 65_536 + 438_894


def test_ordering_needs_memory_for_what_is_read_only(
    connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    from atlas.adapters.stores.sqlite.cypher import guard

    monkeypatch.setattr(guard, "MAX_HELD", 16_000_000)
    table = run(connection, "MATCH (a), (b) RETURN a.name + b.name AS n ORDER BY n", {}, 5, 60.0)
    assert table.truncated
    assert table.rows == (("f0f0",), ("f0f1",), ("f0f10",), ("f0f100",), ("f0f101",))
