"""Indexes of work trees that share a file below them, on a file system that shares no blocks itself.

Each index equals a clean one whatever happens to the others, and what all of them delete leaves the shared file.
"""

from __future__ import annotations

import fcntl
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from atlas.adapters.stores.sqlite.file import cloning
from atlas.adapters.stores.sqlite.file.cloning import BASE_SUFFIX, LENT_SUFFIX, OWN_SUFFIX
from atlas.adapters.stores.sqlite.file.seeding import copy_database, copy_files, stored_tree
from atlas.app.main import open_atlas
from atlas.core.errors import StoreError
from atlas.runtime.config.load import load_settings
from tests.pipeline.test_seeding import data_of, indexed, is_clean
from tests.pipeline.trees import dump
from tests.pipeline.work_trees import Trees, age
from tests.surfaces.processes import COMMAND, environment

WORDS = random.Random(3).sample([f"{a}{b}" for a in ("cart", "price", "order", "stock") for b in range(400)], 900)
FILES = {
    f"shop/part{number}.py": "".join(
        f"def {word}(value):\n    '''Return the {word} of {WORDS[(at + 7) % 900]}.'''\n    return {WORDS[at - 3]}(value)\n\n"
        for at, word in enumerate(WORDS[number * 15 : number * 15 + 15], number * 15)
    )
    for number in range(60)
}
LEAK = "hunter2correcthorse"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    probe = tmp_path / "probe"
    probe.write_bytes(b"x" * 4096)
    copy_files([(probe, tmp_path / "copy")], layers=True)
    if not (tmp_path / f"copy{OWN_SUFFIX}").exists():
        pytest.skip("this file system shares blocks, or can give none back")
    made = Trees(tmp_path / "trees")
    made.begin(FILES)
    return made


def files_of(root: Path) -> list[Path]:
    return [data_of(root) / "atlas.db", data_of(root) / f"facts-{root.name}.bin"]


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def disk(path: Path) -> int:
    return path.stat().st_blocks * 512


def holds_leak(path: Path) -> bool:
    return LEAK.encode() in path.read_bytes()


def start_index(root: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*COMMAND, "index", str(root)], env=environment(), stdout=subprocess.DEVNULL)


async def seeded(trees: Trees, *names: str) -> list[Path]:
    await indexed(trees.main)
    roots = [trees.work_tree(name) for name in names]
    for root in roots:
        assert (await indexed(root)).seeded_from
    return roots


async def test_copies_have_one_file_below_them_and_their_own_blocks(trees: Trees) -> None:
    await indexed(trees.main)
    roots = [trees.work_tree(f"feature{number}") for number in range(3)]
    for number, root in enumerate(roots):
        (root / "shop/part3.py").write_text(FILES["shop/part3.py"] + f"def added{number}(): pass\n")
        age(root)
        assert (await indexed(root)).seeded_from
    for at, source in enumerate(files_of(trees.main)):
        below = [beside(files_of(root)[at], BASE_SUFFIX) for root in roots]
        assert {path.stat().st_ino for path in below} == {beside(source, LENT_SUFFIX).stat().st_ino}
        assert below[0].stat().st_nlink == 4
        assert all(disk(files_of(root)[at]) < 0.7 * disk(source) for root in roots)
    for root in roots:
        assert await is_clean(root)
    assert await is_clean(trees.main)


async def test_an_index_stands_when_its_source_and_the_others_are_gone(trees: Trees) -> None:
    one, two = await seeded(trees, "one", "two")
    shutil.rmtree(data_of(trees.main))
    three = trees.work_tree("three")
    assert (await indexed(three)).seeded_from in {str(one), str(two)}
    (three / "shop/part1.py").write_text("def alone(): pass\n")
    shutil.rmtree(data_of(one))
    shutil.rmtree(data_of(two))
    await indexed(three)
    assert await is_clean(three)
    assert beside(files_of(three)[0], BASE_SUFFIX).stat().st_nlink == 1


async def test_what_all_indexes_delete_leaves_the_shared_file(trees: Trees) -> None:
    (trees.main / "shop/part30leak.py").write_text(f"def {LEAK}(): pass\n")
    trees.commit("leaks", {**FILES, "shop/part30leak.py": f"def {LEAK}(): pass\n"})
    one, two = await seeded(trees, "one", "two")
    below = [beside(path, BASE_SUFFIX) for path in files_of(one)]
    for root in (trees.main, one):
        (root / "shop/part30leak.py").unlink()
        await indexed(root)
        assert not any(map(holds_leak, files_of(root)))
        assert any(map(holds_leak, below)), "the index of the last tree consists of it"
        assert await is_clean(two)
    (two / "shop/part30leak.py").unlink()
    await indexed(two)
    assert not any(map(holds_leak, (*below, *files_of(two))))
    for root in (one, two):
        assert await is_clean(root)


async def test_what_only_a_removed_index_consisted_of_leaves_the_shared_file(trees: Trees) -> None:
    trees.commit("leaks", {**FILES, "shop/part30leak.py": f"def {LEAK}(): pass\n"})
    one, two = await seeded(trees, "one", "two")
    below = beside(files_of(one)[0], BASE_SUFFIX)
    for root in (one, trees.main):
        (root / "shop/part30leak.py").unlink()
        await indexed(root)
        assert holds_leak(below)
    shutil.rmtree(data_of(two))
    (one / "shop/part1.py").write_text("def other(): pass\n")
    await indexed(one)
    assert not holds_leak(below)
    assert await is_clean(one)
    shutil.rmtree(data_of(one))
    (trees.main / "shop/part1.py").write_text("def other(): pass\n")
    await indexed(trees.main)
    assert not any(beside(path, LENT_SUFFIX).exists() for path in files_of(trees.main)), "nobody reads it any more"


@pytest.mark.parametrize("because", ["the source is as it was", "a copy is made", "a link that is not known"])
async def test_nothing_is_given_back(trees: Trees, tmp_path: Path, because: str) -> None:
    trees.commit("leaks", {**FILES, "shop/part30leak.py": f"def {LEAK}(): pass\n"})
    await indexed(trees.main)
    for path in files_of(trees.main):
        os.utime(path, (10**9, 10**9))
    (one,) = await seeded(trees, "one")
    below = beside(files_of(one)[0], BASE_SUFFIX)
    for root in (one,) if because == "the source is as it was" else (trees.main, one):
        (root / "shop/part30leak.py").unlink()
    with below.open("rb") as file:
        if because == "a copy is made":
            fcntl.flock(file, fcntl.LOCK_SH)
        elif because == "a link that is not known":
            (tmp_path / "elsewhere").hardlink_to(below)
        for root in (trees.main, one):
            await indexed(root)
        assert holds_leak(below)
    (tmp_path / "elsewhere").unlink(missing_ok=True)
    for root in (trees.main, one):
        (root / "shop/part30leak.py").unlink(missing_ok=True)
        (root / "shop/part1.py").write_text("def other(): pass\n")
        await indexed(root)
    assert not holds_leak(below)
    assert await is_clean(one)


async def test_a_copy_after_the_source_has_changed_has_the_same_file_below(trees: Trees) -> None:
    (one,) = await seeded(trees, "one")
    (trees.main / "shop/part5.py").write_text("def changed(): pass\n")
    await indexed(trees.main)
    two = trees.work_tree("two")
    (two / "shop/part5.py").write_text("def changed(): pass\n")
    age(two)
    assert (await indexed(two)).seeded_from == str(trees.main)
    assert beside(files_of(one)[0], BASE_SUFFIX).samefile(beside(files_of(two)[0], BASE_SUFFIX))
    assert await is_clean(two) and await is_clean(one)


async def test_a_source_that_has_changed_by_half_gets_a_new_file_below(trees: Trees) -> None:
    (one,) = await seeded(trees, "one")
    changed = {path: text.replace("value", "amount") + "# more\n" for path, text in FILES.items()}
    trees.commit("far", changed)
    await indexed(trees.main)
    two = trees.work_tree("two")
    assert (await indexed(two)).seeded_from == str(trees.main)
    assert not beside(files_of(one)[0], BASE_SUFFIX).samefile(beside(files_of(two)[0], BASE_SUFFIX))
    assert await is_clean(two) and await is_clean(one)


async def test_a_whole_copy_of_an_index_in_two_layers(trees: Trees, tmp_path: Path) -> None:
    """As it is published."""
    (one,) = await seeded(trees, "one")
    (tmp_path / "whole").mkdir()
    copy_database(data_of(one) / "atlas.db", tmp_path / "whole" / "atlas.db")
    assert dump(tmp_path / "whole") == dump(data_of(one))
    copy_files([(files_of(one)[1], tmp_path / "facts")])
    assert not beside(tmp_path / "whole" / "atlas.db", BASE_SUFFIX).exists()
    assert len((tmp_path / "facts").read_bytes()) == files_of(one)[1].stat().st_size


async def test_what_is_left_beside_a_removed_database_counts_for_nothing(trees: Trees) -> None:
    (one,) = await seeded(trees, "one")
    for path in files_of(one):
        path.unlink()
    assert not (await indexed(one, seed=False)).seeded_from
    assert not any(beside(path, suffix).exists() for path in files_of(one) for suffix in (BASE_SUFFIX, OWN_SUFFIX))
    assert await is_clean(one)


async def test_an_index_that_is_begun_anew_leaves_the_shared_file(trees: Trees) -> None:
    one, two = await seeded(trees, "one", "two")
    async with open_atlas(load_settings(str(one)), writing=True, reset=True) as made:
        await made.index()
    assert not beside(files_of(one)[0], BASE_SUFFIX).exists()
    assert await is_clean(one) and await is_clean(two)


async def test_a_process_that_cannot_read_layers_is_refused(trees: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = await seeded(trees, "one")
    monkeypatch.setattr("atlas.adapters.stores.sqlite.file.hardened.register_page_checks", lambda: False)
    with pytest.raises(StoreError, match="cannot load the page checks"):
        stored_tree(files_of(one)[0])


async def test_a_damaged_shared_file_is_noticed(trees: Trees) -> None:
    (one,) = await seeded(trees, "one")
    below = beside(files_of(one)[0], BASE_SUFFIX)
    content = bytearray(below.read_bytes())
    for at in range(100, len(content), 4096):
        content[at] ^= 1
    below.write_bytes(content)
    (one / "shop/part1.py").write_text("def other(): pass\n")
    with pytest.raises(StoreError, match="damaged"):
        await indexed(one)


def test_a_killed_copy_and_one_that_fails_leave_no_half_of_it(tmp_path: Path) -> None:
    """Only whole files have bits, so that a reader never takes a half for a whole."""
    source = tmp_path / "atlas.db"
    source.write_bytes(os.urandom(4096 * 50))
    command = [sys.executable, "-I", "-S", cloning.__file__, "--layers", str(source), str(tmp_path / "copy")]
    subprocess.run(["bash", "-c", 'ulimit -f 100; exec "$@"', "bash", *command], check=False, capture_output=True)
    assert [path.name for path in tmp_path.glob("copy*")] in ([], ["copy"])


async def test_readers_are_right_while_indexes_change_and_blocks_are_given_back(trees: Trees) -> None:
    """Another process indexes both trees and is killed now and then; every state that is read is a whole one."""
    one, two = await seeded(trees, "one", "two")
    below = beside(files_of(one)[0], BASE_SUFFIX)
    before, chosen = disk(below), random.Random(5)
    for step in range(8):
        for root in (trees.main, one, two):
            path = root / f"shop/part{chosen.randrange(60)}.py"
            path.write_text(path.read_text(encoding="utf-8") + f"def step{step}(): pass\n")
        root = (one, two, trees.main)[step % 3]
        process = start_index(root)
        is_killed, seen = step % 4 == 3, 0
        while process.poll() is None:
            read = dump(data_of(root))
            files = {row[0] for row in read["files"]}
            assert len(read["nodes"]) > 900 and {row[1] for row in read["nodes"]} <= files
            seen += 1
            if is_killed and seen == 2:
                process.kill()
        assert is_killed or process.returncode == 0
    for root in (one, two, trees.main):
        await indexed(root)
        assert await is_clean(root)
    assert disk(below) < before
