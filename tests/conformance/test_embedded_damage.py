"""Files that are not a usable store: each gives a clear error with a hint, never an answer that looks whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.errors import AtlasError, ConfigError, NotFound, SchemaMismatch, StoreError
from atlas.core.model import Direction, Filter, Match
from tests.conformance.rows import MODEL, PROJECT, PythonVectorIndex, node, query, unit, vector
from tests.conformance.store_process import batch
from tests.raw_database import raw


def open_store(folder: Path, writing: bool = False, reset: bool = False) -> EmbeddedStore:
    return EmbeddedStore.open(folder, writing=writing, vector_index=PythonVectorIndex, reset=reset)


@pytest.fixture
async def filled(tmp_path: Path) -> Path:
    """A data directory with one batch and its vectors; everything is in the one file."""
    folder = tmp_path / "data"
    store = open_store(folder, writing=True)
    await store.open_project(PROJECT, "/")
    deltas = batch(1)
    await store.apply(deltas)
    await store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0) for delta in deltas for row in delta.nodes or ()])
    await store.finish(PROJECT, [])
    await store.aclose()
    assert sorted(path.name for path in folder.iterdir()) == [
        ".gitignore",
        "atlas-data.json",
        "atlas.db",
        "atlas.db-closed",
        "writer.lock",
    ]
    return folder


async def ask_everything(store: EmbeddedStore) -> list[AtlasError]:
    """Ask every read verb; return the errors. Anything but an AtlasError fails the test."""
    errors: list[AtlasError] = []
    uids = [f"p:m{file}.f{index}" for file in range(10) for index in range(20)]
    for ask in (
        lambda: store.manifest(PROJECT),
        lambda: store.content(PROJECT, [f"m{file}.py" for file in range(10)]),
        lambda: store.symbols(uids),
        lambda: store.find("f", Match.PREFIX, Filter(), 1000),
        lambda: store.edges(uids, Direction.OUT),
        lambda: store.edges(uids, Direction.IN),
        lambda: store.search_text(["batch1", "f1"], Filter(), 1000),
        lambda: store.search_vector(query(1, 0, 0, 0), Filter(), 1000),
        lambda: store.stale_chunks(PROJECT, MODEL, 1000),
        lambda: store.stats(),
    ):
        try:
            await ask()
        except AtlasError as error:
            errors.append(error)
    return errors


def test_a_data_directory_hides_itself_from_git(filled: Path) -> None:
    assert (filled / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    "prepare", [lambda folder: None, Path.mkdir, lambda folder: (folder.mkdir(), (folder / "atlas.db").touch())]
)
def test_nothing_to_read(tmp_path: Path, prepare: Callable[[Path], object]) -> None:
    prepare(tmp_path / "data")
    with pytest.raises(NotFound) as caught:
        open_store(tmp_path / "data")
    assert caught.value.hint == "run: atlas index"
    assert not (tmp_path / "data" / "writer.lock").exists()


@pytest.mark.parametrize("writing", [False, True])
@pytest.mark.parametrize(
    "change", ["UPDATE meta SET value = '999' WHERE key = 'schema'", "DELETE FROM meta", "DROP TABLE meta"]
)
async def test_another_schema(filled: Path, change: str, writing: bool) -> None:
    connection = raw(filled / "atlas.db")
    connection.execute(change)
    connection.close()
    before = (filled / "atlas.db").read_bytes()
    with pytest.raises(SchemaMismatch) as caught:
        open_store(filled, writing)
    assert "atlas index" in caught.value.hint
    assert (filled / "atlas.db").read_bytes() == before
    await open_store(filled, writing=True, reset=True).aclose()
    await open_store(filled).aclose()


@pytest.mark.parametrize("writing", [False, True])
@pytest.mark.parametrize(
    "content", [b"not a database at all" * 400, b"SQLite format 3\0" + b"\xff" * 5000, os.urandom(9000)]
)
async def test_garbage(filled: Path, content: bytes, writing: bool) -> None:
    (filled / "atlas.db").write_bytes(content)
    with pytest.raises(StoreError) as caught:
        open_store(filled, writing)
    assert "atlas index" in caught.value.hint and str(filled) in caught.value.message
    store = open_store(filled, writing=True, reset=True)
    await store.open_project(PROJECT, "/")
    await store.apply([unit("a.py", [node("a.one")])])
    await store.aclose()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
async def test_a_truncated_file(filled: Path, share: float) -> None:
    data = (filled / "atlas.db").read_bytes()
    (filled / "atlas.db").write_bytes(data[: int(len(data) * share)])
    try:
        store = open_store(filled)
    except StoreError:
        return
    errors = await ask_everything(store)
    assert errors and all(isinstance(error, StoreError) and error.hint for error in errors)
    await store.aclose()


@pytest.mark.parametrize("filling", [b"\0", b"\xff", b"\x0d"])
async def test_a_damaged_page_is_an_error_or_not_looked_at(filled: Path, filling: bytes) -> None:
    data = (filled / "atlas.db").read_bytes()
    pages = len(data) // 4096
    failures = 0
    for page in range(2, pages, max(pages // 40, 1)):
        damaged = bytearray(data)
        damaged[page * 4096 : (page + 1) * 4096] = filling * 4096
        (filled / "atlas.db").write_bytes(damaged)
        try:
            store = open_store(filled)
        except StoreError:
            failures += 1
            continue
        errors = await ask_everything(store)
        assert all(isinstance(error, StoreError) and error.hint for error in errors)
        failures += bool(errors)
        await store.aclose()
    assert failures


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("here first")
    with pytest.raises(ConfigError, match="not a folder") as caught:
        open_store(tmp_path / "data", writing=True)
    assert caught.value.hint
    assert (tmp_path / "data").read_text() == "here first"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o500)
    with pytest.raises(StoreError):
        open_store(folder, writing=True)


async def test_readers_notice_a_store_that_was_started_anew(filled: Path) -> None:
    reader = open_store(filled)
    assert len(await reader.search_vector(query(1, 0, 0, 0), Filter(), 5)) == 5
    writer = open_store(filled, writing=True, reset=True)
    await writer.open_project("other", "/")
    row = node("a.one", project="other")
    await writer.apply([unit("a.py", [row], project="other")])
    assert [stats.project for stats in await reader.stats()] == ["other"]
    assert await reader.search_vector(query(1, 0, 0, 0), Filter(), 5) == []
    await writer.put_vectors("other", MODEL, [vector(row, 0, 1, 0, 0)])
    assert [hit.uid for hit in await reader.search_vector(query(1, 0, 0, 0), Filter(), 5)] == [row.uid]
    await writer.aclose()
    await reader.aclose()


async def test_a_store_that_vanished_is_not_an_empty_one(filled: Path) -> None:
    reader = open_store(filled)
    assert await reader.manifest(PROJECT)
    (filled / "atlas.db").unlink()
    with pytest.raises(NotFound):
        await reader.manifest(PROJECT)
    await reader.aclose()
