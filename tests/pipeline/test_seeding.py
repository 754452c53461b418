"""The first index of a work tree or clone from that of another tree of its repository: equal to a clean one, or none.

Trees are real work trees and clones of git; every index is in a cache of the test.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from atlas.adapters.stores.sqlite.file.connection import open_writer
from atlas.adapters.stores.sqlite.file.seeding import copy_database, copy_files, stored_tree
from atlas.adapters.stores.sqlite.rows import fetch, value
from atlas.app.main import index_project, open_atlas
from atlas.app.seeding import STAGING
from atlas.code.index.events import IndexSummary, no_progress
from atlas.core.errors import StoreError
from atlas.core.model import GraphDelta
from atlas.runtime.config.load import load_settings
from atlas.runtime.process.daemon import find_running
from atlas.runtime.process.data_folder import default_folder
from tests.pipeline.moves import git
from tests.pipeline.polyglot import tree
from tests.pipeline.trees import dump
from tests.pipeline.work_trees import Trees, age
from tests.surfaces.daemons import until
from tests.surfaces.processes import COMMAND, atlas, environment

SWITCHES = int(os.environ.get("ATLAS_TEST_SWITCHES", "16"))
"""Random switches of a work tree to another commit, each followed by a comparison with a clean index."""
SEED = int(os.environ.get("ATLAS_TEST_SEED", "20261128"))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    made = Trees(tmp_path / "trees")
    made.begin(FILES)
    return made


FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": "from shop.money import Price\n\nclass Cart:\n    def total(self):\n        return Price(1).net()\n",
    "shop/money.py": "class Price:\n    def __init__(self, n): self.n = n\n    def net(self):\n        return self.n\n",
    "README.md": "# Shop\n\nSee `Cart.total`.\n",
    "pyproject.toml": "[project]\nname = 'shop'\ndependencies = ['requests']\n",
}
CHANGED = {**FILES, "shop/money.py": FILES["shop/money.py"].replace("net", "sum"), "shop/new.py": "import shop.cart\n"}


async def indexed(root: Path, *, seed: bool = True, data: str = "") -> IndexSummary:
    settings = load_settings(str(root), data, environment={"ATLAS_INDEX_SEED": str(seed).lower()})
    return await index_project(settings, no_progress)


def data_of(root: Path) -> Path:
    return load_settings(str(root)).data_dir


async def is_clean(root: Path) -> bool:
    """Whether the index of a tree equals one that is made from its files."""
    clean = root.parent / f"{root.name}-clean"
    shutil.rmtree(clean, ignore_errors=True)
    assert not (await indexed(root, seed=False, data=str(clean))).seeded_from
    made = dump(data_of(root))
    assert made["text"] and made["vectors"], "a comparison of nothing"
    assert made == dump(clean)
    return not (data_of(root) / STAGING).exists()


async def test_a_work_tree_starts_from_the_index_of_the_main_one(trees: Trees) -> None:
    await indexed(trees.main)
    same = await indexed(root := trees.work_tree("feature"))
    assert (same.seeded_from, same.project, same.parsed, same.vectors) == (str(trees.main), "feature", 0, 0)
    assert await is_clean(root)
    trees.commit("changed", CHANGED)
    differs = await indexed(root := trees.work_tree("other", "changed"))
    assert (bool(differs.seeded_from), differs.parsed) == (True, 2)
    assert await is_clean(root)


async def test_the_nearest_index_is_taken(trees: Trees) -> None:
    await indexed(trees.main)
    trees.commit("changed", CHANGED)
    near = trees.work_tree("near", "changed")
    await indexed(near)
    git(trees.main, "checkout", "--quiet", "first")
    found = await indexed(trees.work_tree("third", "changed"))
    assert (found.seeded_from, found.parsed) == (str(near), 0)


@pytest.mark.parametrize("options", [(), ("--depth=1",), ("--filter=blob:none",), ("--bare",)])
async def test_clones(trees: Trees, options: tuple[str, ...]) -> None:
    """A bare one has no files of its own; its work trees have."""
    await indexed(trees.main)
    git(trees.main, "config", "uploadpack.allowFilter", "true")
    root = trees.clone("copy", *options)
    if options == ("--bare",):
        git(root, "worktree", "add", "--quiet", "--detach", str(root := trees.folder / "of-bare"))
        age(root)
    assert (await indexed(root)).seeded_from == str(trees.main)
    assert await is_clean(root)


async def test_a_clone_with_newer_commits_and_one_that_is_behind(trees: Trees) -> None:
    await indexed(trees.main)
    ahead, behind = trees.clone("ahead"), trees.clone("behind")
    (ahead / "more.py").write_text("def more(): pass\n")
    git(ahead, "add", "--all")
    git(ahead, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "more")
    age(ahead)
    assert (await indexed(ahead)).seeded_from == str(trees.main)
    assert await is_clean(ahead)
    trees.commit("changed", CHANGED)
    assert (await indexed(behind)).seeded_from
    assert await is_clean(behind)


async def test_two_work_trees_of_one_name(trees: Trees) -> None:
    await indexed(trees.main)
    trees.commit("changed", CHANGED)
    one, two = trees.work_tree("a/feature", "first"), trees.work_tree("b/feature", "changed")
    for root in (one, two):
        found = await indexed(root)
        assert found.seeded_from and found.project == "feature"
    assert data_of(one) != data_of(two)
    assert await is_clean(one) and await is_clean(two)


async def test_a_work_tree_whose_repository_is_gone_is_indexed_from_its_files(trees: Trees) -> None:
    await indexed(trees.main)
    root = trees.work_tree("left")
    trees.main.rename(trees.folder / "elsewhere")
    assert not (await indexed(root)).seeded_from
    assert await is_clean(root)


async def test_a_submodule_is_a_repository_of_its_own(trees: Trees) -> None:
    inner = Trees(trees.folder / "inner")
    inner.begin({"inner.py": "def inner(): pass\n"})
    await indexed(inner.main)
    await indexed(trees.main)
    allowed = ("-c", "protocol.file.allow=always", "-c", "user.name=a", "-c", "user.email=a@b")
    git(trees.main, *allowed, "submodule", "add", "--quiet", f"file://{inner.main}", "part")
    age(trees.main / "part")
    assert (await indexed(trees.main / "part")).seeded_from == str(inner.main)
    assert await is_clean(trees.main / "part")


async def test_another_repository_is_not_taken_over(trees: Trees) -> None:
    await indexed(trees.main)
    other = Trees(trees.folder / "stranger")
    other.begin({**FILES, "own.py": ""})
    assert not (await indexed(other.main)).seeded_from


async def test_a_git_file_that_points_to_a_strangers_repository_is_not_followed(trees: Trees) -> None:
    """Its tree has the same files, but git would not have made such a file."""
    await indexed(trees.main)
    root = trees.folder / "hostile"
    shutil.copytree(trees.main, root, ignore=shutil.ignore_patterns(".git"))
    for pointed in (trees.main / ".git", trees.main / ".git" / "worktrees" / "feature"):
        trees.work_tree("feature") if not pointed.exists() else None
        (root / ".git").write_text(f"gitdir: {pointed}\n")
        shutil.rmtree(data_of(root), ignore_errors=True)
        assert not (await indexed(root)).seeded_from


async def test_an_object_that_only_has_the_name_of_a_commit_is_no_proof(trees: Trees) -> None:
    await indexed(trees.main)
    head = (trees.main / ".git/refs/heads/first").read_text().strip()
    other = Trees(trees.folder / "forger")
    other.begin({**FILES, "own.py": ""})
    own = (other.main / ".git/refs/heads/first").read_text().strip()
    place = other.main / ".git/objects" / head[:2]
    place.mkdir(exist_ok=True)
    shutil.copyfile(other.main / ".git/objects" / own[:2] / own[2:], place / head[2:])
    assert own != head
    assert not (await indexed(other.main)).seeded_from


async def test_a_file_of_other_content_is_read_though_size_and_time_are_those_of_the_index(trees: Trees) -> None:
    await indexed(trees.main)
    root = trees.work_tree("feature")
    file = root / "shop/money.py"
    file.write_text(FILES["shop/money.py"].replace("net", "sum"))
    time_there = (trees.main / "shop/money.py").stat().st_mtime_ns
    os.utime(file, ns=(time_there, time_there))
    found = await indexed(root)
    assert (found.seeded_from, found.parsed) == (str(trees.main), 1)
    assert await is_clean(root)


async def test_files_that_the_tree_ignores_leave_the_copy(trees: Trees) -> None:
    """Nothing of them stays in the files of the new index, but in the one below of which the first index consists."""
    secret = "hunter2correcthorse"
    (trees.main / "private.py").write_text(f"def {secret}(): pass\n")
    await indexed(trees.main)
    root = trees.work_tree("feature")
    assert (await indexed(root)).seeded_from
    assert await is_clean(root)
    for file in data_of(root).iterdir():
        assert file.name.endswith("-base") or secret.encode() not in file.read_bytes(), file.name
    (trees.main / "private.py").unlink()
    for one in (trees.main, root):
        (one / "shop/new.py").write_text("def new(): pass\n")
        await indexed(one)
        for file in data_of(one).iterdir():
            assert one == trees.main or secret.encode() not in file.read_bytes(), file.name


async def test_a_copy_is_whole_while_the_source_is_written_to(trees: Trees, tmp_path: Path) -> None:
    """The log of the source holds commits, and checkpoints move them while the file is copied."""
    await indexed(trees.main)
    settings = load_settings(str(trees.main))
    async with open_atlas(settings, writing=True) as atlas:
        store, name = atlas.reader.store, settings.project_name
        before = dump(settings.data_dir)
        manifest = await store.manifest(name)
        for number in range(20):
            record = replace(manifest["shop/cart.py"], lines=1000 + number)
            await store.apply([GraphDelta(name, "shop/cart.py", record)])
            copy = tmp_path / f"copy{number}"
            copy.mkdir()
            await asyncio.gather(
                asyncio.to_thread(copy_database, settings.data_dir / "atlas.db", copy / "atlas.db"),
                store.apply([GraphDelta(name, "README.md", replace(manifest["README.md"], lines=number))]),
            )
            connection = open_writer(copy / "atlas.db")
            assert fetch(connection, "PRAGMA integrity_check") == [("ok",)]
            connection.close()
            made = dump(copy)
            assert {part: made[part] for part in made if part != "files"} == {
                part: before[part] for part in before if part != "files"
            }


@contextmanager
def no_file_larger_than(size: int) -> Generator[None]:
    """A full disk, as far as one file can tell."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_leaves_nothing_and_loses_nothing(trees: Trees, caplog: pytest.LogCaptureFixture) -> None:
    await indexed(trees.main)
    source = data_of(trees.main) / "atlas.db"
    root = trees.work_tree("feature")
    with caplog.at_level(logging.WARNING), no_file_larger_than(source.stat().st_size // 2):
        with pytest.raises(StoreError, match=r"cannot be copied: .*atlas\.db: File too large"):
            copy_files([(source, trees.folder / "atlas.db")])
        with pytest.raises(StoreError):  # nor is there room for a clean one
            await indexed(root)
    assert "the index is made without that of" in caplog.text
    assert not (data_of(root) / STAGING).exists()
    for left in data_of(root).glob("atlas.db*"):
        left.unlink()
    assert (await indexed(root)).seeded_from
    assert await is_clean(root)


async def test_a_damaged_source_gives_a_clean_index(trees: Trees) -> None:
    await indexed(trees.main)
    file = data_of(trees.main) / "atlas.db"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    root = trees.work_tree("feature")
    assert not (await indexed(root)).seeded_from
    assert await is_clean(root)


async def test_a_branch_that_is_switched_during_the_copy(trees: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    from atlas.app import seeding

    await indexed(trees.main)
    trees.commit("changed", CHANGED)
    root = trees.work_tree("feature", "first")
    seen = seeding.seen_files

    def switched(*arguments: object) -> object:
        found = seen(*arguments)  # type: ignore[arg-type]
        git(root, "checkout", "--quiet", "--detach", "changed")
        return found

    monkeypatch.setattr(seeding, "seen_files", switched)
    assert (await indexed(root)).seeded_from
    assert await is_clean(root)


async def test_it_can_be_turned_off_and_is_not_done_for_a_full_pass(trees: Trees) -> None:
    await indexed(trees.main)
    root = trees.work_tree("one")
    assert not (await indexed(root, seed=False)).seeded_from
    shutil.rmtree(data_of(root))
    full = await index_project(load_settings(str(root)), no_progress, full=True)
    assert not full.seeded_from


async def test_a_daemon_starts_from_it(trees: Trees) -> None:
    await indexed(trees.main)
    trees.commit("changed", CHANGED)
    root = trees.work_tree("feature", "changed")
    started = atlas("daemon", "start", str(root), "--json")
    try:
        assert started.returncode == 0, started.stderr
        until(lambda: (found := find_running(data_of(root))) is not None and found.phase == "ready", "ready", 60)
        assert f'"from": "{trees.main}"' in (data_of(root) / "logs" / "daemon.log").read_text()
    finally:
        stopped = atlas("daemon", "stop", "--project", str(root))
    assert stopped.returncode == 0, stopped.stderr
    assert await is_clean(root)


async def test_trees_share_the_vectors_of_models_that_are_cached(
    trees: Trees, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATLAS_EMBEDDER_CACHE", "on")
    await index_project(load_settings(str(trees.main)), no_progress)
    shared = cache / "code-atlas" / "embeddings" / "embeddings.db"

    def count() -> int:
        connection = apsw.Connection(str(shared))
        try:
            return value(connection, "SELECT count(*) FROM vector")
        finally:
            connection.close()

    before = count()
    assert before
    trees.commit("changed", CHANGED)
    root = trees.work_tree("feature", "changed")
    assert (await index_project(load_settings(str(root)), no_progress)).vectors
    after = count()
    assert after > before, "the vectors of a pass on a copy are kept"
    shutil.rmtree(data_of(root))
    await index_project(load_settings(str(root)), no_progress)
    assert count() == after
    assert not list((cache / "code-atlas").glob("*/seed")) and await is_clean(root)
    assert "vectors of embedding models, for all projects" in atlas("cache", "list").stdout


def killed(root: Path, seconds: float) -> bool:
    """Start `atlas index` and kill it after a while; return whether it was still at work."""
    process = subprocess.Popen(
        [*COMMAND, "index", str(root)], env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(seconds)
    was_running = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return was_running


async def test_random_switches_and_kills_end_at_the_clean_index(tmp_path: Path) -> None:
    """Work trees come, switch, are edited, killed while they are indexed, and go; each equals a clean index."""
    chance = random.Random(SEED)
    trees = Trees(tmp_path / "trees")
    files = tree(40, chance)
    trees.begin(files)
    branches = ["first"]
    for number in range(5):
        files = {path: text for path, text in files.items() if chance.random() > 0.05} | dict(
            chance.sample(sorted(tree(40, chance).items()), 8)
        )
        trees.commit(branch := f"branch{number}", files)
        branches.append(branch)
    await indexed(trees.main)
    roots, seeded, kills = [trees.main], 0, 0
    for number in range(SWITCHES):
        branch = chance.choice(branches)
        if len(roots) < 3 or chance.random() < 0.5:
            root = trees.work_tree(f"tree{number}", branch)
            roots.append(root)
        else:
            root = chance.choice(roots[1:])
            git(root, "checkout", "--quiet", "--force", "--detach", branch)
            age(root) if chance.random() < 0.5 else None
        if chance.random() < 0.3:
            kills += killed(root, chance.choice((0.2, 0.3, 0.4, 0.5, 0.6, 0.8)))
        seeded += bool((await indexed(root)).seeded_from)
        assert await is_clean(root), number
        if len(roots) > 5:
            git(trees.main, "worktree", "remove", "--force", str(gone := roots.pop(1)))
            shutil.rmtree(default_folder(gone)) if chance.random() < 0.5 else None
    assert seeded >= SWITCHES // 4
    assert stored_tree(data_of(trees.main) / "atlas.db") is not None
