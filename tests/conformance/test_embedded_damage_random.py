"""Random damage of the store's files, at rest and after a crash: a pass finds it, or ends at the graph of a clean one."""

from __future__ import annotations

import asyncio
import random
import shutil
from pathlib import Path

import pytest

from atlas.adapters.stores.sqlite.file.page_checks import PARTS
from atlas.app.main import open_atlas
from atlas.core.errors import StoreError
from atlas.runtime.config.load import load_settings
from atlas.runtime.process.data_folder import check_folder
from tests.pipeline.trees import Dump, differences, dump, index, write_tree
from tests.raw_database import raw

FILES = {
    f"pkg/m{number}.py": f'"""Module {number}."""\n\nfrom pkg.m{(number + 1) % 30} import f{(number + 1) % 30}\n\n\n'
    + "\n\n".join(
        f'def f{number if k == 0 else f"{number}_{k}"}(x):\n    """Do {k}."""\n    return f{(number + 1) % 30}(x + {k})'
        for k in range(8)
    )
    + "\n"
    for number in range(30)
}
PAGE = 4096
FRAME = PAGE + 24


def copy_folder(source: Path, target: Path) -> None:
    """Copy a data folder and vouch for the copy, which the marker in it does not."""
    shutil.copytree(source, target)
    check_folder(target, trust=True)


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damage")


@pytest.fixture(scope="module")
def images(trees: Path) -> dict[str, Path]:
    return asyncio.run(make_images(trees))


async def make_images(trees: Path) -> dict[str, Path]:
    """Data folders: closed; killed with a log of which nothing, a part and everything was copied into the database."""
    root = trees / "p"
    write_tree(root, FILES)
    await index(root, trees / "closed")
    made = {"closed": trees / "closed"}
    copy_folder(trees / "closed", trees / "open")
    settings = load_settings(project=str(root), data_dir=str(trees / "open"))
    async with open_atlas(settings, writing=True) as atlas:
        for name in ("nothing", "part", "everything"):
            reader = raw(trees / "open" / "atlas.db", writing=False)
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM node").fetchall()
            for number in range(6):
                file = root / "pkg" / f"m{number}.py"
                file.write_text(file.read_text() + f"\n\ndef added_{name}_{number}():\n    return f{number}(1)\n")
                await atlas.index()
            checkpoint = raw(trees / "open" / "atlas.db")
            if name == "everything":
                reader.execute("ROLLBACK")
                reader.execute("BEGIN")
                assert reader.execute("SELECT count(*) FROM node").fetchall()
            checkpoint.execute("PRAGMA wal_checkpoint(passive)")
            made[name] = trees / name
            made[name].mkdir()
            for suffix in ("", "-wal"):
                shutil.copy(trees / "open" / f"atlas.db{suffix}", made[name])
            assert (made[name] / "atlas.db-wal").stat().st_size > 3 * FRAME
            checkpoint.close()
            reader.close()
    return made


@pytest.fixture(scope="module")
def clean(trees: Path, images: dict[str, Path]) -> Dump:
    """What a clean index of the changed tree holds."""
    (trees / "p" / "pkg" / "m7.py").write_text("def f7(x):\n    return x\n")
    asyncio.run(index(trees / "p", trees / "clean"))
    return dump(trees / "clean")


def damage(file: Path, unit: int, source: random.Random) -> str:
    """Change the file at random, in pages or frames; return how."""
    data = bytearray(file.read_bytes())
    units = max(len(data) // unit, 1)
    kind = source.choice(["flip", "flips", "zeros", "ones", "swap", "truncate", "shorten", "shift"])
    at = source.randrange(units) * unit
    if kind == "flip":
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)
    elif kind == "flips":
        for _ in range(20):
            data[source.randrange(len(data))] ^= 1 << source.randrange(8)
    elif kind in ("zeros", "ones"):
        length = source.choice([16, 512, unit])
        data[at : at + length] = (b"\0" if kind == "zeros" else b"\xff") * len(data[at : at + length])
    elif kind == "swap":
        other = source.randrange(units) * unit
        data[at : at + unit], data[other : other + unit] = data[other : other + unit], data[at : at + unit]
    elif kind == "truncate":
        del data[at:]
    elif kind == "shorten":
        del data[source.randrange(len(data)) :]
    else:
        data[at:at] = bytes(source.randrange(1, 64))
    file.write_bytes(data)
    return kind


@pytest.mark.parametrize("seed", range(64))
async def test_damage_is_found_or_does_not_matter(
    trees: Path, images: dict[str, Path], clean: Dump, tmp_path: Path, seed: int
) -> None:
    source = random.Random(seed)
    image = sorted(images)[seed % len(images)]
    data = tmp_path / "data"
    copy_folder(images[image], data)
    log = image != "closed" and source.random() < 0.6
    kind = damage(data / ("atlas.db-wal" if log else "atlas.db"), FRAME if log else PAGE, source)
    try:
        await index(trees / "p", data)
    except StoreError as error:
        assert "--full" in error.hint, (kind, error)
        with pytest.raises(StoreError):
            await index(trees / "p", data)
        settings = load_settings(project=str(trees / "p"), data_dir=str(data))
        async with open_atlas(settings, writing=True, reset=True) as atlas:
            await atlas.index(full=True)
    assert differences(dump(data), clean) == [], (image, log, kind)


async def test_undamaged_images_need_no_rebuild(
    trees: Path, images: dict[str, Path], clean: Dump, tmp_path: Path
) -> None:
    for name, image in images.items():
        copy_folder(image, tmp_path / name)
        await index(trees / "p", tmp_path / name)
        assert differences(dump(tmp_path / name), clean) == [], name


async def test_a_log_of_which_pages_were_copied_is_needed(trees: Path, images: dict[str, Path], tmp_path: Path) -> None:
    """SQLite's own recovery takes what is left of such a log for all there was: old pages hide new ones."""
    copy_folder(images["everything"], tmp_path / "data")
    log = tmp_path / "data" / "atlas.db-wal"
    log.write_bytes(log.read_bytes()[: 32 + 3 * FRAME])
    with pytest.raises(StoreError, match="damaged") as caught:
        await index(trees / "p", tmp_path / "data")
    assert "--full" in caught.value.hint


@pytest.mark.parametrize("log", ["gone", "another"])
async def test_a_database_into_which_pages_were_being_copied_needs_its_log(
    trees: Path, images: dict[str, Path], tmp_path: Path, log: str
) -> None:
    """As a process leaves it that is killed while it copies: marked on page 1 before the first page is copied."""
    data = tmp_path / "data"
    copy_folder(images["everything"], data)
    file = bytearray((data / "atlas.db").read_bytes())
    frames = int.from_bytes(file[PAGE - 12 : PAGE - 8], "big")
    assert 0 < frames < 1 << 31, "pages were copied"
    file[PAGE - 12 : PAGE - 8] = (frames | 1 << 31).to_bytes(4, "big")
    (data / "atlas.db").write_bytes(file)
    whole = tmp_path / "whole"
    copy_folder(data, whole)
    await index(trees / "p", whole)
    if log == "gone":
        (data / "atlas.db-wal").unlink()
    else:
        shutil.copy(images["nothing"] / "atlas.db-wal", data)
    with pytest.raises(StoreError, match="damaged") as caught:
        await index(trees / "p", data)
    assert "--full" in caught.value.hint


async def test_a_bit_that_changed_without_a_trace_is_found_in_time(
    trees: Path, images: dict[str, Path], tmp_path: Path
) -> None:
    """A disk that loses a bit changes no time of the file. A sixteenth of the file is verified with every pass."""
    data = tmp_path / "data"
    copy_folder(images["closed"], data)
    await index(trees / "p", data)
    found = 0
    for page in (2, 9, 17, -1):
        file = bytearray((data / "atlas.db").read_bytes())
        whole = bytes(file)
        file[page * PAGE + 200] ^= 1
        for attempt in range(PARTS + 1):
            note = (data / "atlas.db-closed").read_text().split()
            (data / "atlas.db").write_bytes(file)
            status = (data / "atlas.db").stat()
            numbers = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, note[-1])
            (data / "atlas.db-closed").write_text(" ".join(map(str, numbers)))
            try:
                await index(trees / "p", data)
            except StoreError as error:
                assert "damaged" in error.message and "--full" in error.hint, attempt
                found += 1
                break
            file = bytearray((data / "atlas.db").read_bytes())
            whole = bytes(file)
            file[page * PAGE + 200] ^= 1
        (data / "atlas.db").write_bytes(whole)
        await index(trees / "p", data)
    assert found == 4
