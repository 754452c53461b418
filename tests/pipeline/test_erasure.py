"""What leaves the scope of a project leaves the bytes of the facts cache, in a batch pass and in the tiers of a daemon."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pipeline.test_live import live
from tests.pipeline.trees import index, write_tree

SECRET = "hunter2correcthorse"
FILES = {f"pkg/m{number}.py": f"def f{number}(): return {number}\n" * 20 for number in range(20)}
WITH_SECRET = {**FILES, "pkg/leak.py": f"def {SECRET}(): pass\n"}


def delete(root: Path) -> str:
    (root / "pkg/leak.py").unlink()
    return "pkg/leak.py"


def ignore(root: Path) -> str:
    (root / ".atlasignore").write_text("leak.py\n")
    return ".atlasignore"


def clean(root: Path) -> str:
    (root / "pkg/leak.py").write_text("def f(): pass\n")
    return "pkg/leak.py"


def refuse(root: Path) -> str:
    (root / "pkg/leak.py").write_bytes(b"\x7fELF" + SECRET.encode())
    return "pkg/leak.py"


def link(root: Path) -> str:
    (root / "pkg/leak.py").unlink()
    (root / "pkg/leak.py").symlink_to("m1.py")
    return "pkg/leak.py"


def cached(data: Path) -> bytes:
    """Return the facts, and the linker's snapshot, which holds names of them."""
    return b"".join(path.read_bytes() for path in data.glob("facts-*"))


def size_of_facts(data: Path) -> int:
    return sum(path.stat().st_size for path in data.glob("facts-*.bin"))


EDITS = pytest.mark.parametrize("edit", [delete, ignore, clean, refuse, link])


@EDITS
def test_an_index_pass_erases(tmp_path: Path, edit: Callable[[Path], str]) -> None:
    root, data = tmp_path / "project", tmp_path / "data"
    write_tree(root, WITH_SECRET)
    asyncio.run(index(root, data))
    assert SECRET.encode() in cached(data)
    size = size_of_facts(data)
    edit(root)
    asyncio.run(index(root, data))
    assert SECRET.encode() not in cached(data)
    assert b"f19" in cached(data)
    assert size_of_facts(data) >= size, "one file of many is no reason to copy the others"


@EDITS
def test_the_tiers_of_a_daemon_erase_the_snapshot_of_a_pass(tmp_path: Path, edit: Callable[[Path], str]) -> None:
    root, data = tmp_path / "project", tmp_path / "data"
    write_tree(root, WITH_SECRET)
    asyncio.run(index(root, data))
    assert any(SECRET.encode() in path.read_bytes() for path in data.glob("facts-*.links"))

    async def run() -> None:
        async with live(root, data) as tiers:
            await tiers.hint([edit(root)])
            await tiers.settle()
            assert SECRET.encode() not in cached(data)

    asyncio.run(run())


@EDITS
def test_the_tiers_of_a_daemon_erase(tmp_path: Path, edit: Callable[[Path], str]) -> None:
    root, data = tmp_path / "project", tmp_path / "data"
    write_tree(root, WITH_SECRET)

    async def run() -> None:
        async with live(root, data) as tiers:
            await tiers.settle()
            assert SECRET.encode() in cached(data)
            await tiers.hint([edit(root)])
            await tiers.settle()
            assert SECRET.encode() not in cached(data)
            assert b"f19" in cached(data)

    asyncio.run(run())
