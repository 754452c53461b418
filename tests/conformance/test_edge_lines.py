"""The lines of an edge: kept with it on every store, and given to files of an older version by an upgrade."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.adapters.stores.sqlite.file.schema_check import OLDER, SCHEMA_VERSION
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.contracts import Store
from atlas.core.errors import SchemaMismatch, StoreError
from atlas.core.model import Direction, EdgeRow
from tests.conformance.rows import PROJECT, PythonVectorIndex, edge, gone, node, unit
from tests.raw_database import put_words_in_fts5, raw

LINES = (4, 6, 90, 1200)


def called(*lines: int) -> EdgeRow:
    return edge("a.one", "b.x", line=lines[0])._replace(further_lines=lines[1:])


async def lines_of(store: Store) -> list[tuple[int, ...]]:
    return [found.row.lines for found in await store.edges(["p:a.one"], Direction.OUT)]


async def test_an_edge_keeps_its_lines_whether_or_not_its_target_exists(store: Store) -> None:
    caller = unit("a.py", [node("a.one")], [called(*LINES)])
    target = unit("b.py", [node("b.x", "b.py")])
    await store.apply([caller])
    assert (await store.units(PROJECT, ["a.py"]))[0].edges == [called(*LINES)]
    await store.apply([target])
    assert [found.row for found in await store.edges(["p:b.x"], Direction.IN)] == [called(*LINES)]
    await store.apply([gone("b.py")])
    assert (await store.units(PROJECT, ["a.py"]))[0].edges == [called(*LINES)]
    await store.apply([target])
    assert await lines_of(store) == [LINES]
    many = await store.edges(["p:a.one", "p:b.x"], Direction.OUT, limit=10, each=1)
    assert [found.row for found in many] == [called(*LINES)]


async def test_a_later_line_alone_is_a_change(store: Store) -> None:
    target = unit("b.py", [node("b.x", "b.py")])
    for lines in ((4, 6), (4, 7), (4,), (4, 5, 6)):
        await store.apply([unit("a.py", [node("a.one")], [called(*lines)]), target])
        assert await lines_of(store) == [lines]
    assert (await store.stats(PROJECT))[0].edges == {"CALLS": 1}


async def test_structure_has_no_lines(store: Store) -> None:
    holds = edge("a.one", "a.two", "CONTAINS", line=0)
    await store.apply([unit("a.py", [node("a.one"), node("a.two")], [holds])])
    assert await lines_of(store) == [()]
    assert (await store.units(PROJECT, ["a.py"]))[0].edges == [holds]


def open_store(folder: Path, *, writing: bool) -> EmbeddedStore:
    return EmbeddedStore.open(folder, writing=writing, vector_index=PythonVectorIndex)


@pytest.fixture
async def older(tmp_path: Path) -> Path:
    """A data directory whose database is of the version before edges had several lines."""
    folder = tmp_path / "data"
    store = open_store(folder, writing=True)
    await store.open_project(PROJECT, "/")
    await store.apply([unit("a.py", [node("a.one")], [called(*LINES)]), unit("b.py", [node("b.x", "b.py")])])
    await store.finish(PROJECT, [])
    await store.aclose()
    connection = raw(folder / "atlas.db")
    made = dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall())
    missing = {"node": ("properties",), "edge": ("properties", "further_lines"), "node_row": ("properties",)}
    before = {
        name: "\n".join(line for line in str(made[name]).splitlines() if not any(word in line for word in words))
        for name, words in missing.items()
    }
    indexes = [
        name for name in made if str(made[name]).startswith("CREATE INDEX") and name.startswith(("node", "edge"))
    ]
    for statement in (
        "DROP VIEW node_row",
        *(f"DROP INDEX {name}" for name in indexes),
        "ALTER TABLE edge RENAME TO other",
        before["edge"],
        "INSERT INTO edge SELECT source, type, target, line, strategy, confidence FROM other",
        "DROP TABLE other",
        "ALTER TABLE node RENAME TO other",
        before["node"],
    ):
        connection.execute(statement)
    columns = ", ".join(str(row[1]) for row in connection.execute("PRAGMA table_info(node)"))
    for statement in (
        f"INSERT INTO node SELECT {columns} FROM other",
        "DROP TABLE other",
        before["node_row"],
        *(str(made[name]) for name in indexes),
    ):
        connection.execute(statement)
    put_words_in_fts5(connection, "3")
    connection.close()
    return folder


async def test_a_writer_upgrades_an_older_file(older: Path) -> None:
    assert OLDER["3"] == SCHEMA_VERSION
    with pytest.raises(SchemaMismatch) as caught:
        open_store(older, writing=False)
    assert caught.value.hint == "upgrade it: atlas index"
    store = open_store(older, writing=True)
    assert await lines_of(store) == [(4,)]
    await store.apply([unit("a.py", [node("a.one")], [called(*LINES)], content=b"new")])
    await store.aclose()
    reader = open_store(older, writing=False)
    assert await lines_of(reader) == [LINES]
    assert await reader.content(PROJECT, ["a.py"]) == {"a.py": b"new"}
    await reader.aclose()


async def test_an_older_file_with_something_foreign_in_it_is_not_upgraded(older: Path) -> None:
    connection = raw(older / "atlas.db")
    connection.execute("CREATE TRIGGER spy AFTER INSERT ON edge BEGIN DELETE FROM node; END")
    connection.close()
    with pytest.raises(StoreError, match="spy"):
        open_store(older, writing=True)
