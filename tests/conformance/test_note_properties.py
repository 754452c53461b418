"""The properties of notes and of their edges: kept on every store, read by queries, and given to older files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reference_store.store import MemoryStore

from atlas.adapters.stores.sqlite.file.schema_check import OLDER, SCHEMA_VERSION
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.contracts import Store
from atlas.core.errors import SchemaMismatch
from atlas.core.model import Direction, EdgeRow, Filter, Match, NodeRow
from tests.conformance.rows import PROJECT, PythonVectorIndex, edge, gone, node, unit
from tests.raw_database import put_words_in_fts5, raw


def text(**values: object) -> str:
    return json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


CLAIM = text(status="disputed", confidence=0.8, source="doi:10.1/x", created="2026-11-23T10:04:11Z", client="a/1")
TEAM = text(status="accepted", confidence=1.0, type="team", aliases=["pay", 'the "größe"\n'])
REASON = text(reasoning='"Größe"\n\t\u0007 \\ 日本', created="2026-11-23T10:04:11Z")
ANCHOR = text(body="3e20aa55bb66cc77", path="a.py", line=41, commit="abc")


def note(name: str, label: str, properties: str, path: str = "n.md") -> NodeRow:
    return node(name, path, label=label)._replace(properties=properties)


def stated(source: str, target: str, kind: str, properties: str, strategy: str = "stated") -> EdgeRow:
    return edge(source, target, kind, line=3, confidence=0.7)._replace(strategy=strategy, properties=properties)


SUPPORTS = stated("c-1", "c-2", "SUPPORTS", REASON)
RELATES = stated("c-1", "e-1", "RELATES", text(type="OWNS", types=["OWNS", "TESTS"]))
ABOUT = stated("c-1", "a.one", "ABOUT", ANCHOR, "anchor")._replace(further_lines=(5,))
FIRST = unit("n.md", [note("c-1", "Claim", CLAIM)], [SUPPORTS, RELATES, ABOUT])
SECOND = unit("m.md", [note("c-2", "Claim", text(status="accepted"), "m.md"), note("e-1", "Entity", TEAM, "m.md")])
UNRESOLVED = text(unresolved={"save": [["name", "unknown-receiver", 3, 9]]})
CODE = unit("a.py", [node("a.one")._replace(properties=UNRESOLVED)])


async def test_properties_are_kept_whether_or_not_targets_exist(store: Store) -> None:
    await store.apply([FIRST])
    [read] = await store.units(PROJECT, ["n.md"])
    assert (read.nodes, read.edges) == (FIRST.nodes, sorted([SUPPORTS, RELATES, ABOUT]))
    assert await store.edges(["p:c-1"], Direction.OUT) == []
    await store.apply([SECOND, CODE])
    found = await store.edges(["p:c-1"], Direction.OUT)
    assert sorted(one.row for one in found) == sorted([SUPPORTS, RELATES, ABOUT])
    properties = {one.node.row.uid: one.node.row.properties for one in found}
    assert (properties["p:e-1"], properties["p:a.one"]) == (TEAM, UNRESOLVED)
    assert (await store.units(PROJECT, ["a.py"]))[0].nodes == CODE.nodes
    [found_node] = await store.find("p:e-1", Match.UID, Filter(), 2)
    assert found_node.row == note("e-1", "Entity", TEAM, "m.md")
    await store.apply([gone("m.md")])
    assert [one.row for one in await store.edges(["p:c-1"], Direction.OUT)] == [ABOUT]
    await store.apply([SECOND])
    again = await store.edges(["p:c-1", "p:c-2"], Direction.OUT, limit=10, each=1)
    assert sorted(one.row for one in again) == sorted([SUPPORTS, RELATES, ABOUT])


async def test_changed_properties_alone_are_a_change(store: Store) -> None:
    await store.apply([FIRST, SECOND, CODE])
    for status in ("retracted", "accepted"):
        changed = stated("c-1", "c-2", "SUPPORTS", text(reasoning=status))
        claim = note("c-1", "Claim", text(status=status))
        await store.apply([unit("n.md", [claim], [changed])])
        [found] = await store.edges(["p:c-1"], Direction.OUT)
        assert found.row == changed
        assert (await store.find("p:c-1", Match.UID, Filter(), 2))[0].row == claim
    await store.apply([unit("n.md", [node("c-1", "n.md", label="Claim")], [edge("c-1", "c-2", "SUPPORTS")])])
    [found] = await store.edges(["p:c-1"], Direction.OUT)
    assert found.row.properties == ""
    if not isinstance(store, MemoryStore):
        table = await store.cypher(
            "MATCH (n {uid: 'p:c-1'})-[r]->() RETURN n.status, n.client, r.reasoning", {}, 9, 5.0
        )
        assert table.rows == ((None, None, None),)


async def test_queries_see_them_as_properties(store: Store) -> None:
    if isinstance(store, MemoryStore):
        return
    await store.apply([FIRST, SECOND, CODE])
    asked: dict[str, list[tuple[object, ...]]] = {
        "MATCH (n:Claim) WHERE n.status = 'disputed' AND n.confidence > 0.5 RETURN n.source, n.created, n.type": [
            ("doi:10.1/x", "2026-11-23T10:04:11Z", None)
        ],
        "MATCH (n:Entity) WHERE 'pay' IN n.aliases RETURN n.type, n.aliases, n.confidence": [
            ("team", ["pay", 'the "größe"\n'], 1.0)
        ],
        "MATCH (:Claim)-[r:SUPPORTS]->(t) RETURN r.reasoning, r.confidence, r.strategy, t.status": [
            ('"Größe"\n\t\u0007 \\ 日本', 0.7, "stated", "accepted")
        ],
        "MATCH ()-[r:RELATES]->() WHERE r.type = 'OWNS' RETURN type(r), r.types": [("RELATES", ["OWNS", "TESTS"])],
        "MATCH ()-[r:ABOUT]->(t) RETURN r.line, r.lines, r.anchor_line, r.path, r.body, r.commit, r.signature, t.name": [
            (3, [3, 5], 41, "a.py", "3e20aa55bb66cc77", "abc", None, "one")
        ],
        "MATCH (n) WHERE n.status IS NULL RETURN n.uid": [("p:a.one",)],
        "MATCH (n:Claim {status: 'accepted'}) RETURN n.uid, keys(n)[0] IS NOT NULL": [("p:c-2", True)],
    }
    for query, rows in asked.items():
        assert list((await store.cypher(query, {}, 10, 5.0)).rows) == rows, query
    [(entity,)] = (await store.cypher("MATCH (n:Entity) RETURN n", {}, 9, 5.0)).rows
    assert isinstance(entity, dict)
    assert {name: entity[name] for name in ("status", "type", "aliases")} == {
        "status": "accepted",
        "type": "team",
        "aliases": ["pay", 'the "größe"\n'],
    }
    assert "properties" not in entity
    [(anchor,)] = (await store.cypher("MATCH ()-[r:ABOUT]->() RETURN properties(r)", {}, 9, 5.0)).rows
    assert anchor == {
        **{"line": 3, "lines": [3, 5], "strategy": "anchor", "confidence": 0.7},
        **{"anchor_line": 41, "path": "a.py", "body": "3e20aa55bb66cc77", "commit": "abc"},
    }


@pytest.fixture
async def older(tmp_path: Path) -> Path:
    """A data directory whose database is of the version before nodes and edges had properties."""
    folder = tmp_path / "data"
    store = EmbeddedStore.open(folder, writing=True, vector_index=PythonVectorIndex)
    await store.open_project(PROJECT, "/")
    await store.apply([FIRST, SECOND, CODE])
    await store.finish(PROJECT, [])
    await store.aclose()
    connection = raw(folder / "atlas.db")
    made = {
        str(name): str(sql)
        for name, sql in connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    }
    before = {
        name: "\n".join(line for line in made[name].splitlines() if "properties" not in line)
        for name in ("node", "edge", "node_row")
    }
    connection.execute("DROP VIEW node_row")
    for table in ("node", "edge"):
        for index in [name for name in made if name.startswith(f"{table}_") and "INDEX" in made[name]]:
            connection.execute(f"DROP INDEX {index}")
        connection.execute(f"ALTER TABLE {table} RENAME TO other")
        connection.execute(before[table])
        columns = ", ".join(str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})"))
        connection.execute(f"INSERT INTO {table}({columns}) SELECT {columns} FROM other")
        connection.execute("DROP TABLE other")
        for index in [name for name in made if name.startswith(f"{table}_") and "INDEX" in made[name]]:
            connection.execute(made[index])
    connection.execute(before["node_row"])
    put_words_in_fts5(connection, "5")
    connection.close()
    return folder


async def test_a_writer_upgrades_an_older_file(older: Path) -> None:
    assert OLDER["5"] == SCHEMA_VERSION
    with pytest.raises(SchemaMismatch) as caught:
        EmbeddedStore.open(older, writing=False, vector_index=PythonVectorIndex)
    assert caught.value.hint == "upgrade it: atlas index"
    store = EmbeddedStore.open(older, writing=True, vector_index=PythonVectorIndex)
    found = await store.edges(["p:c-1"], Direction.OUT)
    assert sorted(one.row for one in found) == sorted(one._replace(properties="") for one in (SUPPORTS, RELATES, ABOUT))
    await store.apply([FIRST])
    await store.aclose()
    reader = EmbeddedStore.open(older, writing=False, vector_index=PythonVectorIndex)
    assert (await reader.units(PROJECT, ["n.md"]))[0].nodes == FIRST.nodes
    assert len(await reader.edges(["p:c-1"], Direction.OUT)) == 3
    await reader.aclose()
