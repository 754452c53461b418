"""What leaves the index leaves the bytes of its files: searched for in the files, not asked of the store."""

from __future__ import annotations

import asyncio
import os
import zlib
from collections.abc import Iterable
from pathlib import Path

import pytest

from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.model import Direction
from tests.conformance.rows import MODEL, PROJECT, PythonVectorIndex, edge, gone, node, unit, vector
from tests.pipeline.trees import index, write_tree
from tests.raw_database import raw

MARKER = "zq7c41f09be2d8a356"
NOISE = {f"m{number}.py": f"def f{number}():\n    return f{number + 1}()\n" for number in range(60)}
SECRET = f'''"""Docstring with {MARKER}doc."""

import {MARKER}package


class C{MARKER}:
    """About {MARKER}class."""

    def m{MARKER}(self, token="{MARKER}token"):
        return {MARKER}package.call{MARKER}()
'''


def stored_bytes(folder: Path) -> dict[str, bytes]:
    """The files of the store; the cache of facts is not one of them."""
    return {path.name: path.read_bytes() for path in folder.glob("atlas.db*")}


def found(folder: Path, needles: Iterable[bytes]) -> list[tuple[str, bytes]]:
    return [(name, needle[:40]) for name, data in stored_bytes(folder).items() for needle in needles if needle in data]


def needles(folder: Path) -> list[bytes]:
    """The marker without its first letters, which an index of words may share with the word before; blobs as stored."""
    connection = raw(folder / "atlas.db", writing=False)
    blobs = connection.execute(
        "SELECT data FROM content JOIN file ON file.id = content.file WHERE path LIKE '%secret%' "
        "UNION ALL SELECT v.data FROM vector v JOIN node n USING (id) JOIN file f ON f.id = n.file WHERE f.path LIKE '%secret%'"
    ).fetchall()
    connection.close()
    assert len(blobs) > 3
    # a blob that spans pages is stored in pieces
    pieces = [blob[start : start + 64] for (blob,) in blobs for start in range(0, len(blob) - 63, 512)]
    return [MARKER[6:].encode(), MARKER[6:].upper().encode(), b"secret", *pieces]


@pytest.mark.parametrize("how", ["deleted", "small and deleted", "ignored", "deleted beside a reader"])
async def test_no_byte_of_a_file_that_left_is_in_the_files(tmp_path: Path, how: str) -> None:
    root, data = tmp_path / "p", tmp_path / "d"
    more = 0 if how == "small and deleted" else 300
    secret = SECRET + "\n".join(f"K{n} = '{os.urandom(60).hex()}'" for n in range(more))
    write_tree(root, {**NOISE, "pkg/secret_keys.py": secret, "user.py": "from pkg import secret_keys\n"})
    await index(root, data)
    wanted = needles(data)
    assert len(found(data, wanted)) > 5
    reader = None
    if how == "deleted beside a reader":
        reader = raw(data / "atlas.db", writing=False)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM node").fetchall()
    if how == "ignored":
        (root / ".atlasignore").write_text("pkg/\n")
    else:
        (root / "pkg" / "secret_keys.py").unlink()
    (root / "user.py").write_text("from pkg import other\n")
    await index(root, data)
    if reader is not None:
        assert found(data, wanted), "the reader still sees what was there"
        reader.close()
        await index(root, data)
    assert found(data, wanted) == []


async def test_names_are_forgotten_with_their_last_use(tmp_path: Path) -> None:
    store = EmbeddedStore.open(tmp_path, writing=True, vector_index=PythonVectorIndex)
    await store.open_project(PROJECT, "/")
    caller, called = node("a.caller", "a.py"), node("b.called", "b.py")
    await store.apply(
        [unit("a.py", [caller], [edge("a.caller", "b.called"), edge("a.nobody", "b.stray")]), unit("b.py", [called])]
    )

    def names() -> set[str]:
        connection = raw(tmp_path / "atlas.db", writing=False)
        rows = connection.execute("SELECT uid FROM symbol_id").fetchall()
        connection.close()
        return {uid for (uid,) in rows}

    assert names() == {caller.uid, called.uid}, "an edge that is not the unit's interns nothing"
    await store.apply([gone("b.py")])
    assert names() == {caller.uid, called.uid}, "an edge still leads there"
    await store.apply([unit("b.py", [called])])
    assert [found.row.target for found in await store.edges([caller.uid], Direction.OUT)] == [called.uid]
    await store.apply([gone("b.py")])
    await store.apply([unit("a.py", [caller])])
    assert names() == {caller.uid}
    await store.apply([gone("a.py")])
    assert names() == set()
    await store.aclose()


async def test_changed_text_is_erased_when_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atlas.adapters.stores.sqlite.writer.QUIET_SECONDS", 0.05)
    store = EmbeddedStore.open(tmp_path, writing=True, vector_index=PythonVectorIndex)
    await store.open_project(PROJECT, "/")
    row = node("a.one", docstring=MARKER)
    await store.apply([unit("a.py", [row], content=zlib.compress(MARKER.encode()))])
    await store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0)])
    await store.apply([unit("a.py", [node("a.one")])])
    async with asyncio.timeout(20):
        while found(tmp_path, [MARKER[6:].encode()]):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await store.aclose()
    assert found(tmp_path, [MARKER[6:].encode()]) == [], "closing the store writes nothing of it again"


async def test_changed_text_is_erased_after_some_passes(tmp_path: Path) -> None:
    root, data = tmp_path / "p", tmp_path / "d"
    write_tree(root, {**NOISE, "a.py": f"def one():\n    return '{MARKER}'\n"})
    await index(root, data)
    (root / "a.py").write_text("def one():\n    return ''\n")
    for _ in range(12):
        await index(root, data)
    assert found(data, [MARKER[6:].encode()]) == []


async def test_statistics_hold_no_values(tmp_path: Path) -> None:
    write_tree(tmp_path / "p", NOISE)
    await index(tmp_path / "p", tmp_path / "d")
    connection = raw(tmp_path / "d" / "atlas.db", writing=False)
    assert connection.execute("SELECT count(*) FROM sqlite_stat4").fetchall() == [(0,)]
    connection.close()
