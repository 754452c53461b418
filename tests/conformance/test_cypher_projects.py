"""A query sees its own project only, whatever else the store holds, unless it asks for the project itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.adapters.stores.bolt.reading.query import prepared
from atlas.core.contracts import Store
from tests.conformance.conftest import STORES
from tests.conformance.rows import PROJECT, edge, node, unit
from tests.memgraph_rules import broken


@pytest.fixture(params=["embedded", "neo4j", pytest.param("memgraph", marks=pytest.mark.memgraph)])
async def two(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """Two projects with the same names: p calls in it, q does not."""
    opened = await STORES[request.param](tmp_path)
    for project in (PROJECT, "q"):
        await opened.open_project(project, f"/{project}")
    calls = edge("a.one", "a.two", line=3)._replace(further_lines=(5,))
    await opened.apply([unit("a.py", [node("a.one"), node("a.two"), node("a.Box", label="Class")], [calls])])
    others = [node(name, project="q") for name in ("a.one", "a.two", "a.four")]
    await opened.apply([unit("a.py", [*others, node("a.Box", label="Class", project="q")], project="q")])
    yield opened
    await opened.aclose()


OWN = {
    "MATCH (n) RETURN count(n)": (3, 4),
    "MATCH (n {name: 'one'}) RETURN count(n)": (1, 1),
    "MATCH (n:Function) RETURN count(n)": (2, 3),
    "MATCH (n:Function {name: 'one'}) RETURN count(n)": (1, 1),
    "MATCH (n:Function|Class WHERE n.name <> 'one') RETURN count(n)": (2, 3),
    "MATCH (n:Class WHERE n.name = 'Box') RETURN count(n)": (1, 1),
    "MATCH () RETURN count(*)": (3, 4),
    "MATCH ()-[r]->() RETURN count(r)": (1, 0),
    "MATCH (a)-[r:CALLS]->(b) RETURN count(b)": (1, 0),
    "MATCH (a:Function), (b:Function) RETURN count(*)": (4, 9),
    "MATCH (a {name: 'one'}) MATCH (b {name: 'two'}) RETURN count(*)": (1, 1),
    "MATCH (a {name: 'one'}) OPTIONAL MATCH (a)-[:CALLS]->(b) RETURN count(b)": (1, 0),
    "MATCH (f:Function) WHERE NOT ()-[:CALLS]->(f) RETURN count(f)": (1, 3),
    "MATCH (f:Function) WHERE EXISTS { MATCH (f)<-[:CALLS]-(:Function {name: 'one'}) } RETURN count(f)": (1, 0),
    "MATCH (f {name: 'one'}) RETURN COUNT { MATCH (x:Function) RETURN x }": (2, 3),
    "MATCH (a {name: 'one'})-[:CALLS*1..3]->(b) RETURN count(b)": (1, 0),
    "MATCH p = shortestPath((a {name: 'one'})-[:CALLS*..3]->(b {name: 'two'})) RETURN count(p)": (1, 0),
    "MATCH (n:Class) WITH n.name AS name MATCH (n:Function) RETURN count(n)": (2, 3),
}


@pytest.mark.parametrize("text", OWN)
async def test_a_query_sees_one_project(two: Store, text: str) -> None:
    found = [(await two.cypher(text, {}, 10, 5.0, project)).rows[0][0] for project in (PROJECT, "q")]
    assert tuple(found) == OWN[text]


async def test_both_parts_of_a_union_are_restricted(two: Store) -> None:
    text = "MATCH (n:Class) RETURN n.uid AS uid UNION MATCH (n:Function) RETURN n.uid AS uid"
    table = await two.cypher(text, {}, 10, 5.0, "q")
    assert {str(row[0]).partition(":")[0] for row in table.rows} == {"q"}
    assert len(table.rows) == 4


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("MATCH (n {name: 'one'}) RETURN n.project AS project", (("p",), ("q",))),
        ("MATCH (n {project: 'q'}) RETURN count(n)", ((4,),)),
        ("MATCH (n {name: 'one'}) RETURN n['project'] AS project", (("p",), ("q",))),
    ],
)
async def test_a_query_that_reads_the_project_sees_all(two: Store, text: str, rows: object) -> None:
    assert (await two.cypher(text, {}, 10, 5.0, PROJECT)).rows == rows
    assert (await two.cypher("MATCH (n) RETURN count(n)", {}, 10, 5.0)).rows == ((7,),)


async def test_parameters_are_the_users(two: Store) -> None:
    table = await two.cypher("MATCH (n {name: $name}) RETURN n.uid", {"name": "one"}, 10, 5.0, "q")
    assert table.rows == (("q:a.one",),)


def test_memgraph_can_read_restricted_queries() -> None:
    assert {text for text in OWN if broken(prepared(text, {}, memgraph=True, scoped=True).text)} <= {
        text for text in OWN if broken(prepared(text, {}, memgraph=True).text)
    }
