"""`pack.db` from elsewhere: any value in any column, foreign tables, bombs. It is refused, or asking it works."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import struct
import time
import zlib
from pathlib import Path

import apsw
import pytest

from atlas.adapters.stores.sqlite.file.pack_check import check_pack
from atlas.core.errors import AtlasError, NotFound, StoreError
from atlas.packs import AsyncPack
from atlas.packs.build import BuildRequest, build_pack
from atlas.packs.opening import list_packs, open_pack
from atlas.packs.profiles import find_article
from atlas.packs.store import install, verify_pack
from atlas.parsing import WordIndex
from tests.raw_database import raw

from .library import DOCUMENTATION, write_tree
from .strangers import archived

WRONG = {
    "a blob": b"\x00\xff",
    "text": "x",
    "a negative number": -(1 << 62),
    "a huge number": (1 << 63) - 1,
    "infinity": float("inf"),
    "text that is no UTF-8": None,
    "depth": "[" * 5000,
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    write_tree(folder / "docs", DOCUMENTATION)
    asyncio.run(build_pack(BuildRequest("widget", (str(folder / "docs"),), "2.0", "widget"), folder / "pack"))
    shutil.rmtree(folder / "pack" / "eval" / "results")
    return folder / "pack"


@pytest.fixture
def pack(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATLAS_PACKS", str(tmp_path / "packs"))
    return shutil.copytree(built, tmp_path / "pack")


def columns(file: Path) -> list[tuple[str, str]]:
    """Return table and column of everything that is no index of words."""
    connection = raw(file, writing=False)
    rows = connection.execute(
        "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c "
        "WHERE m.type = 'table' AND m.name NOT GLOB 'text*' ORDER BY 1, c.cid"
    ).fetchall()
    connection.close()
    return [(str(table), str(column)) for table, column in rows]


async def ask_everything(folder: Path) -> None:
    """Ask a pack in all ways. Raises AtlasError; anything else fails the test."""
    async with await AsyncPack.open(folder) as opened:
        await opened.ask("What is the default of SPIN_TIMEOUT?", profile="maximum")
        await opened.ask("Which versions deprecated widget.turn?")
        for hit in await opened.search("timeouts of widgets"):
            await opened.article(f"{hit.article}#{hit.anchor}")
        await opened.cypher("MATCH (a)-[r]->(b) RETURN a, r, b")
    reader = open_pack(folder)
    try:
        for name in ("guide.md", "widget.spin", "Settings"):
            await find_article(reader, name)
        await reader.store.stats()
    finally:
        await reader.aclose()


def bomb(database: bytes, root: int) -> bytes:
    """Return a file whose table or schema at page `root` leads to one page in billions of ways."""
    pages = bytearray(database)
    size = struct.unpack_from(">H", pages, 16)[0]

    def interior(number: int, child: int) -> None:
        start = (number - 1) * size
        header = start + (100 if number == 1 else 0)
        usable, count = start + size, 400
        pages[header : start + size] = bytes(start + size - header)
        at = usable
        for index in range(count):
            at -= 5
            pages[at : at + 5] = struct.pack(">IB", child, index % 128)
            struct.pack_into(">H", pages, header + 12 + 2 * index, at - start)
        struct.pack_into(">BHHHBI", pages, header, 5, 0, count, at - start, 0, child)

    leaf = len(pages) // size + 1
    pages += bytes(4 * size)
    # a leaf with one row of (NULL, 1, "x")
    struct.pack_into(">BHHHB", pages, (leaf - 1) * size, 13, 0, 1, size - 8, 0)
    struct.pack_into(">H", pages, (leaf - 1) * size + 8, size - 8)
    pages[leaf * size - 8 : leaf * size] = bytes([6, 1, 4, 0, 1, 15, 1, ord("x")])
    for number, child in ((leaf + 1, leaf), (leaf + 2, leaf + 1), (leaf + 3, leaf + 2), (root, leaf + 3)):
        interior(number, child)
    struct.pack_into(">I", pages, 28, len(pages) // size)
    return bytes(pages)


@pytest.mark.parametrize("table", ["", "decision", "symbol_id"])
def test_pages_that_lead_to_one_page_in_billions_of_ways_are_refused(pack: Path, table: str) -> None:
    file = pack / "pack.db"
    # without checksums of pages, which a stranger can make as well
    with sqlite3.connect(file) as sealed, sqlite3.connect(pack / "plain.db") as plain:
        plain.executescript("\n".join(sealed.iterdump()))
        plain.execute("UPDATE meta SET value = '8' WHERE key = 'schema'")
        plain.commit()
        found = plain.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    plain.close()
    check_pack((pack / "plain.db").replace(file))
    file.write_bytes(bomb(file.read_bytes(), found[0] if found else 1))
    started = time.process_time()
    with pytest.raises(StoreError):
        check_pack(file)
    assert time.process_time() - started < 5


@pytest.mark.slow
@pytest.mark.parametrize("what", WRONG)
async def test_any_value_in_any_column(pack: Path, built: Path, what: str) -> None:
    refused = 0
    places = columns(pack / "pack.db")
    for table, column in places:
        shutil.copyfile(built / "pack.db", pack / "pack.db")
        connection = raw(pack / "pack.db")
        given = "CAST(x'ff80' AS TEXT)" if WRONG[what] is None else "?"
        where = f"rowid = (SELECT max(rowid) FROM {table})" if table in ("node", "edge", "file") else "true"
        where = "true" if table == "edge" else where
        try:
            bound = () if WRONG[what] is None else (WRONG[what],)
            connection.execute(f"UPDATE OR REPLACE {table} SET {column} = {given} WHERE {where}", bound)
        except apsw.Error:
            continue  # a key or rowid that cannot have this value
        finally:
            connection.close()
        started = time.process_time()
        try:
            await ask_everything(pack)
        except AtlasError:
            refused += 1
        assert time.process_time() - started < 50, (table, column)
    assert refused > len(places) // 4


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE node SET name = x'00'",
        "UPDATE node SET start_byte = 'x'",
        "UPDATE node SET properties = '[1]'",
        "UPDATE node SET properties = '{\"a\": '",
        "UPDATE node SET docstring = hex(zeroblob(1000000)) WHERE id = (SELECT min(id) FROM node)",
        "UPDATE node SET start_byte = -5",
        "UPDATE node SET end_byte = 9223372036854775807",
        "UPDATE file SET size = 9223372036854775807",
        "UPDATE edge SET confidence = 9e999",
        "UPDATE edge SET further_lines = 'x'",
        "UPDATE edge SET further_lines = '99999999999999999999'",
        "UPDATE model SET dimension = 1000000000",
        "UPDATE vector SET data = x'00'",
        "UPDATE vector SET data = 5",
        "UPDATE vector SET model = 77",
        "UPDATE content SET data = x'789c'",
        "UPDATE symbol_id SET uid = CAST(x'ff' AS BLOB) WHERE id = 1",
        "UPDATE meta SET value = x'00' WHERE key = 'identity'",
        "UPDATE node SET file = 77",
        "UPDATE file SET project = 77",
        "DELETE FROM symbol_id WHERE id = 5",
        "DELETE FROM file WHERE id = (SELECT max(id) FROM file)",
        "CREATE TRIGGER t AFTER INSERT ON node BEGIN SELECT 1; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE more(x)",
        "CREATE TABLE more(x, y AS (x || x))",
        "CREATE VIRTUAL TABLE more USING fts5(x)",
        "ALTER TABLE node ADD COLUMN more AS (length(name))",
        "DROP TABLE vector; CREATE VIEW vector AS SELECT 1 AS id, 1 AS model, 1 AS digest, 1 AS generation, 1 AS data",
        "DROP INDEX node_name",
        "UPDATE word_segment SET nodes = x'ffffffffff'",
        "UPDATE word_segment SET id = 3",
        "UPDATE word_segment SET directory = 7",
        "UPDATE word_posting SET data = x'00'",
        "UPDATE word_position SET data = x'01'",
        "DELETE FROM word_position",
        "INSERT INTO word_segment WITH RECURSIVE n(i) AS (VALUES(9) UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
        "SELECT i, 1, x'00', x'', x'' FROM n",
        "UPDATE meta SET value = '99' WHERE key = 'schema'",
        "DELETE FROM meta",
    ],
)
async def test_a_file_that_no_build_writes_is_refused_and_leaves_nothing(
    pack: Path, tmp_path: Path, statement: str
) -> None:
    connection = raw(pack / "pack.db")
    connection.execute(statement)
    connection.close()
    archived(pack, tmp_path / "a.tar.zst")
    with pytest.raises(StoreError, match="refused"):
        await install(tmp_path / "a.tar.zst")
    assert list_packs() == []
    assert not is_there(tmp_path / "packs")
    with pytest.raises(AtlasError):
        await ask_everything(pack)
    assert await verify_pack(pack)


def test_few_bytes_of_words_stand_neither_for_gigabytes_nor_for_hours() -> None:
    texts, words = 1 << 18, 1 << 20
    nodes = b"\1\5Class" + b"\0\1\0\0" * texts
    first = b"\0\1a"
    # a term whose thousand bytes are those of the term before
    with pytest.raises(ValueError):
        WordIndex(None, [1], [(1, nodes, b"", b"\0\xe7\7" + b"a" * 999 + b"\xe7\7\0" * (1 << 18))])
    index = WordIndex(None, [1], [(1, nodes, b"", first)])
    # a text with 2^20 words, and the same for all other texts
    postings = bytes([32 | 8 | 128]) + b"\x80\x80\x40" + b"\0" + b"\xff\xff\x0f"
    positions = b"\x80\x80\x40" + b"\0" * words
    started = time.process_time()
    assert index.check(1, first + bytes([len(postings)]) + postings, positions, 1000) == words
    assert time.process_time() - started < 2


def is_there(path: Path) -> bool:
    return path.exists()


@pytest.mark.parametrize("stated", [5, 30 << 20, (64 << 20) + 1])
async def test_a_text_that_unpacks_to_more_than_it_states_is_refused(pack: Path, stated: int) -> None:
    bomb = zlib.compress(b"\0" * (30 << 20), 1)
    connection = raw(pack / "pack.db")
    connection.execute("UPDATE content SET data = ?", (bomb,))
    connection.execute("UPDATE file SET size = ? WHERE path <> ''", (stated,))
    connection.close()
    started = time.process_time()
    with pytest.raises(StoreError, match="damaged"):
        check_pack(pack / "pack.db")
    assert time.process_time() - started < 10


def test_the_files_beside_a_pack_s_file_are_not_followed(pack: Path, tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes((pack / "pack.db").read_bytes())
    (pack / "pack.db").unlink()
    (pack / "pack.db").symlink_to(tmp_path / "target")
    with pytest.raises(AtlasError):
        open_pack(pack)
    (pack / "pack.db").unlink()
    os.mkfifo(pack / "pack.db")
    with pytest.raises(AtlasError):
        open_pack(pack)


async def test_a_log_beside_a_pack_s_file_is_refused(pack: Path) -> None:
    await open_pack(pack).aclose()
    for suffix in ("-wal", "-shm", "-journal"):
        log = pack / f"pack.db{suffix}"
        log.write_bytes(b"x" * 100)
        with pytest.raises(StoreError, match="not part of a pack"):
            open_pack(pack)
        log.unlink()


async def test_a_file_is_checked_again_once_it_changes(pack: Path) -> None:
    await open_pack(pack).aclose()
    status = (pack / "pack.db").stat()
    connection = raw(pack / "pack.db")
    connection.execute("UPDATE node SET name = x'00'")
    connection.close()
    os.utime(pack / "pack.db", ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(StoreError, match="wrong type"):
        open_pack(pack)


@pytest.mark.slow
async def test_many_rows_take_linear_time(pack: Path) -> None:
    connection = raw(pack / "pack.db")
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) "
        "INSERT OR REPLACE INTO edge SELECT 1, 'LINKS_TO', 2, i, 'x', 0.5, '', '' FROM n"
    )
    connection.close()
    started = time.process_time()
    with pytest.raises(NotFound):
        async with await AsyncPack.open(pack) as opened:
            await opened.ask("How do I turn a widget?")
            await opened.article("nothing")
    assert time.process_time() - started < 50
