"""Folders that are moved, replaced or deleted with all that they hold: the graph afterwards is that of a clean index."""

from __future__ import annotations

import asyncio
import math
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.code.index.daemon import Daemon
from atlas.code.index.events import AST_DIRTY, WHOLE_PROJECT
from atlas.code.index.watch.debounce import Debounce
from atlas.core.errors import Unavailable
from atlas.core.events import Event
from atlas.parsing import load_languages
from atlas.parsing.scanning import scan_project
from tests.pipeline.moves import TREE, Mover, git, make_repository, make_tree, write_all
from tests.pipeline.test_daemon_run import project, running, until
from tests.pipeline.test_live import aclean, live
from tests.pipeline.trees import Dump, dump, index, write_tree

QUIET_SECONDS = 0.06 if sys.platform == "linux" else 0.6
"""So long nothing may be under way; elsewhere the system tells of changes later."""
RANDOM_SECONDS = 7.0
LANGUAGES = load_languages()

Move = Callable[[Path, Path], None]
"""(root, a folder outside) -> None"""


def to(old: str, new: str) -> Move:
    """A folder gets another path; "../" leads to the folder outside."""

    def move(root: Path, outside: Path) -> None:
        places = [outside / path[3:] if path.startswith("../") else root / path for path in (old, new)]
        places[1].parent.mkdir(parents=True, exist_ok=True)
        places[0].rename(places[1])

    return move


def several(*moves: Move) -> Move:
    def move(root: Path, outside: Path) -> None:
        for one in moves:
            one(root, outside)

    return move


def bring_in(root: Path, outside: Path) -> None:
    write_all(outside / "new", {"package.json": '{"name": "@shop/near"}\n', "src/index.ts": "export const z = 1;\n"})
    make_repository(outside / "new/nested")
    (outside / "new").rename(root / "web/new")


def take_the_place(root: Path, outside: Path) -> None:
    shutil.rmtree(root / "libs/util")
    (root / "libs/util").mkdir()
    (root / "libs/twin").rename(root / "libs/util")


def make_again(root: Path, outside: Path) -> None:
    """The same paths, sizes and times with what another folder held."""
    shutil.rmtree(root / "libs/util/src")
    shutil.copytree(root / "libs/twin/src", root / "libs/util/src")


def become_a_file(root: Path, outside: Path) -> None:
    (root / "rs/one").rename(outside / "one")
    (root / "rs/one").write_text("no folder\n")


def become_a_link(root: Path, outside: Path) -> None:
    (root / "web/core").rename(outside / "core")
    (root / "web/core").symlink_to(outside / "core", target_is_directory=True)


def write_while_moving(root: Path, outside: Path) -> None:
    with (root / "shop/pricing/tax.py").open("a") as file:
        file.write("\n\ndef more():\n")
        file.flush()
        (root / "shop").rename(root / "store")
        file.write("    return taxed(1)\n")
    (root / "store/pricing/late.py").write_text("def late():\n    return 1\n")


MOVES: dict[str, Move] = {
    "npm": to("web/core", "web/kern"),
    "parent of manifests": to("web", "front"),
    "go, into another folder": to("svc", "libs/deep/svc"),
    "python, out of the root": to("libs/util", "../util"),
    "out and back": several(to("svc", "../svc"), to("../svc", "svc/again")),
    "rust, swapped": several(to("rs/one", "rs/x"), to("rs/two", "rs/one"), to("rs/x", "rs/two")),
    "swapped, equal in sizes and times": several(
        to("libs/util/src", "../x"), to("libs/twin/src", "libs/util/src"), to("../x", "libs/twin/src")
    ),
    "maven and php, twice": several(to("java", "a"), to("a", "b"), to("php", "a"), to("a", "java")),
    "dotnet, name of another case": to("net", "Net"),
    "made elsewhere": bring_in,
    "in the place of another": take_the_place,
    "deleted and made again": make_again,
    "a file instead": become_a_file,
    "a link instead": become_a_link,
    "while a file is written": write_while_moving,
    "becomes ignored": to("libs/util", "build/util"),
    "is ignored no longer": to("build", "made"),
    "loses the marker above it": to("env/lib", "lib"),
    "into a folder that moves": several(to("rs/one", "svc/one"), to("svc", "web/svc")),
    "a repository": to("vendor/nested", "nested"),
    "holds ignore rules": to("notes", "shop/notes"),
}


async def idle(daemon: Daemon) -> None:
    """Return when nothing is noticed, waiting or at work, and was not for a while."""
    (kept,) = daemon._projects.values()  # pyright: ignore[reportPrivateUsage]
    since, before = time.monotonic(), (0, 0)
    async with asyncio.timeout(60):
        while time.monotonic() - since < QUIET_SECONDS:
            await asyncio.sleep(0.01)
            states = await daemon._bus.states()  # pyright: ignore[reportPrivateUsage]
            noticed = kept.watcher._batch.due() < math.inf  # pyright: ignore[reportPrivateUsage]
            done = (kept.workspace.counters.parsed, kept.workspace.counters.written)
            if noticed or done != before or any(state.waiting or state.pending for state in states):
                since, before = time.monotonic(), done


def graph(data: Path) -> Dump:
    """Return what the store holds but vectors, which follow the graph when there is time."""
    return Dump({part: rows for part, rows in dump(data).items() if part != "vectors"})


async def clean_graph(root: Path, folder: Path) -> Dump:
    shutil.rmtree(folder, ignore_errors=True)
    await index(root, folder)
    return graph(folder)


@pytest.mark.parametrize("kind", MOVES)
async def test_a_moved_folder_under_a_daemon(tmp_path: Path, kind: str) -> None:
    root, outside = tmp_path / "p", tmp_path / "outside"
    make_tree(root)
    outside.mkdir()
    async with running(root, tmp_path / "d") as (daemon, _, said):
        await idle(daemon)
        looks = len(said)
        await asyncio.to_thread(MOVES[kind], root, outside)
        await idle(daemon)
        assert graph(tmp_path / "d") == await clean_graph(root, tmp_path / "fresh")
        assert project(daemon)["stale_files"] == 0
        # what came with the folder is watched
        for place in scan_project(root, LANGUAGES).folders:
            (root / place / "last.py").write_text(f"def last():\n    return {place!r}\n")
        await idle(daemon)
        assert graph(tmp_path / "d") == await clean_graph(root, tmp_path / "fresh")
        assert "timer" not in "".join(said[looks:])


@pytest.mark.parametrize("seed", [1, 2])
async def test_random_moves_under_a_daemon(tmp_path: Path, seed: int) -> None:
    """As many moves as fit into some seconds; `python -m tests.bench.directory_moves` does more of them."""
    root = tmp_path / "p"
    make_tree(root)
    mover, ends = Mover(root, tmp_path / "outside", seed), time.monotonic() + RANDOM_SECONDS
    async with running(root, tmp_path / "d") as (daemon, _, _):
        await idle(daemon)
        while time.monotonic() < ends:
            for _ in range(mover.dice.choice((1, 2, 5))):
                await asyncio.to_thread(mover.move)
                if mover.dice.random() < 0.3:
                    mover.edit()
                if mover.dice.random() < 0.5:
                    await asyncio.sleep(0.04 * mover.dice.random())
            await idle(daemon)
            assert graph(tmp_path / "d") == await clean_graph(root, tmp_path / "fresh"), mover.done[-10:]
            assert project(daemon)["stale_files"] == 0


async def test_random_moves_that_are_looked_at_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bursts name no paths: what took the place of another folder is found although sizes and times are the same."""
    monkeypatch.setattr("atlas.code.index.watch.watcher.Debounce", lambda: Debounce(burst=1, burst_quiet=0.02))
    root = tmp_path / "p"
    write_all(root, alike())
    mover = Mover(root, tmp_path / "outside", 5)
    async with running(root, tmp_path / "d") as (daemon, _, said):
        await idle(daemon)
        for _ in range(8):
            await asyncio.to_thread(mover.move)
            await asyncio.to_thread(mover.move)
            await idle(daemon)
            assert graph(tmp_path / "d") == await clean_graph(root, tmp_path / "fresh"), mover.done[-4:]
        assert any("burst" in line for line in said)


async def test_random_moves_between_passes(tmp_path: Path) -> None:
    """`atlas index` without a daemon, every pass as a new process would do it."""
    root = tmp_path / "p"
    write_all(root, alike())
    write_all(root, TREE)
    mover = Mover(root, tmp_path / "outside", 3)
    await index(root, tmp_path / "d")
    for _ in range(15):
        for _ in range(2):
            mover.move()
        await index(root, tmp_path / "d")
        assert graph(tmp_path / "d") == await clean_graph(root, tmp_path / "fresh"), mover.done[-4:]


def alike() -> dict[str, str]:
    """Files of one name and size in many folders, which differ in what they define."""
    return {f"{one}/{two}/m.py": f"def {one}{two}():\n    return 1\n" for one in "abcdef" for two in "uvwxyz"}


# --- what else a move changes ---


async def test_a_pass_sees_a_manifest_that_is_no_indexed_file(tmp_path: Path) -> None:
    """Nothing else has changed when a package gets another name, or a manifest comes or goes."""
    root = tmp_path / "p"
    write_all(root, TREE)
    await index(root, tmp_path / "d")
    assert (await index(root, tmp_path / "d")).written == 0
    for change in (
        lambda: (root / "web/core/package.json").write_text('{"name": "@shop/kern"}\n'),
        lambda: (root / "svc/go.mod").unlink(),
        lambda: write_all(root, {"docs/package.json": '{"name": "@shop/docs"}\n'}),
        lambda: (root / "docs/package.json").rename(root / "docs/guide/package.json"),
    ):
        change()
        await index(root, tmp_path / "d")
        assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")
    before = dump(tmp_path / "d")
    assert (await index(root, tmp_path / "d")).written == 0
    assert dump(tmp_path / "d") == before


@pytest.mark.parametrize("whole", [False, True])
async def test_equal_sizes_and_times_hide_no_exchange(tmp_path: Path, whole: bool) -> None:
    root = tmp_path / "p"
    write_all(root, {"a/m.py": "def one():\n    return 1\n", "b/m.py": "def two():\n    return 2\n"})
    async with live(root, tmp_path / "d") as tiers:
        await tiers.settle()
        several(to("a", "x"), to("b", "a"), to("x", "b"))(root, tmp_path)
        await tiers.hint([WHOLE_PROJECT] if whole else ["a", "b", "x"])
        await tiers.settle()
        assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")


async def test_all_below_the_old_and_the_new_place_is_marked(tmp_path: Path) -> None:
    """Tier 1 marks what left and what was replaced before tier 2 has seen any of it."""
    root = tmp_path / "p"
    write_all(root, TREE)
    async with live(root, tmp_path / "d") as tiers:
        await tiers.settle()
        several(to("libs/util/src", "../x"), to("libs/twin/src", "libs/util/src"), to("svc", "go"))(root, tmp_path)
        await tiers.hint(["libs/util/src", "libs/twin/src", "svc", "go"])
        tier = tiers._tiers[0]  # pyright: ignore[reportPrivateUsage]
        await tier.handle([Event("p", key) for key in ("libs/util/src", "libs/twin/src", "svc", "go")])
        files = ("__init__.py", "deep.py")
        libs = {f"libs/{name}/src/util/{file}" for name in ("util", "twin") for file in files}
        assert tiers.workspaces["p"].stale == {*libs, "svc/go.mod", "svc/main.go", "svc/stock/stock.go"}
        assert tiers.workspaces["p"].must_relink, "a manifest has moved"
        await tiers.settle()
        assert not tiers.workspaces["p"].stale
        assert not tiers.workspaces["p"].must_relink
        assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")


class FullOnce(MemoryBus):
    """A bus that is away when tier 2 is to be told for the first time after `fails` was set."""

    fails = False

    async def publish(self, stream: str, events: list[Event]) -> int:  # type: ignore[override]
        if self.fails and stream == AST_DIRTY:
            self.fails = False
            raise Unavailable("the bus is away", "")
        return await super().publish(stream, events)


async def test_new_sub_projects_and_exchanged_files_outlive_a_failure_between_the_tiers(tmp_path: Path) -> None:
    root, bus = tmp_path / "p", FullOnce()
    write_all(root, TREE)
    async with live(root, tmp_path / "d", bus) as tiers:
        await tiers.settle()
        several(to("libs/util/src", "../x"), to("libs/twin/src", "libs/util/src"), to("web/core", "web/kern"))(
            root, tmp_path
        )
        await tiers.hint([WHOLE_PROJECT])
        bus.fails = True
        with pytest.raises(Unavailable):
            await tiers.settle()
        await tiers.settle()
        assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")


async def test_what_is_left_out_moves_with_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also files that are refused by their content, and without a look at everything."""
    monkeypatch.setattr("atlas.code.index.daemon.SETTLE_SECONDS", 0.05)
    root = tmp_path / "p"
    write_tree(root, {"a/x.py": "def f():\n    return 1\n", "a/n/.env": "{}", "z.py": ""})
    (root / "a/data.py").write_bytes(b"\x00\x01binary\x00")

    async def left_out(store: EmbeddedStore) -> set[str]:
        return {skip.path for skip in await store.skipped("p")}

    async with running(root, tmp_path / "d") as (daemon, store, said):
        await idle(daemon)
        looks = len(said)
        for old, new, expected in (
            ("a", "b", {"b/data.py", "b/n/.env"}),
            ("b", "node_modules", {"node_modules/"}),
            ("node_modules", "a", {"a/data.py", "a/n/.env"}),
        ):
            (root / old).rename(root / new)
            async with asyncio.timeout(20):
                while await left_out(store) != expected:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
        shutil.rmtree(root / "a")
        async with asyncio.timeout(20):
            while await left_out(store):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert said[looks:] == []


async def test_hints_while_the_root_is_away_for_a_moment(tmp_path: Path) -> None:
    """What was asked for then is looked at when the root is back, though the watcher saw no other root."""
    home = tmp_path / "home"
    root = home / "p"
    write_tree(root, {"a/x.py": "def f():\n    return 1\n"})
    async with running(root, tmp_path / "d") as (daemon, _, _):
        await idle(daemon)
        (kept,) = daemon._projects.values()  # pyright: ignore[reportPrivateUsage]
        # as if the parent were back before the root is asked for the next time
        kept.watcher._next_root = math.inf  # pyright: ignore[reportPrivateUsage]
        home.rename(tmp_path / "away")
        (tmp_path / "away/p/a").rename(tmp_path / "away/p/b")
        await until(lambda: bool(project(daemon)["problem"]))
        (tmp_path / "away").rename(home)
        await until(lambda: not project(daemon)["problem"])
        await idle(daemon)
        assert graph(tmp_path / "d") == await clean_graph(root, tmp_path / "fresh")


async def test_a_folder_that_git_moves(tmp_path: Path) -> None:
    """Its ignored but tracked file stays indexed: the index of git is written after the folder has moved."""
    root = tmp_path / "p"
    make_repository(root)
    async with running(root, tmp_path / "d") as (daemon, _, _):
        await idle(daemon)
        git(root, "mv", "nested", "moved")
        await until(lambda: "moved/tracked.gen.py" in {record[0] for record in dump(tmp_path / "d")["files"]})
        await idle(daemon)
        assert graph(tmp_path / "d") == await clean_graph(root, tmp_path / "fresh")
        (root / ".gitignore").write_text("moved/\n")
        (root / "moved").rename(root / "again")
        await idle(daemon)
        assert graph(tmp_path / "d") == await clean_graph(root, tmp_path / "fresh")


def test_a_scan_tells_files_of_one_path_apart(tmp_path: Path) -> None:
    write_all(tmp_path, {"a.py": "one", "b.py": "two"})

    def identity() -> int:
        (file,) = scan_project(tmp_path, LANGUAGES, only=["a.py"]).files
        return file.identity

    first = identity()
    assert identity() == first
    (tmp_path / "b.py").replace(tmp_path / "a.py")
    second = identity()
    assert second != first
    before = (tmp_path / "a.py").stat()
    time.sleep(0.02)  # longer than the grain of the file system's clock
    (tmp_path / "a.py").write_text("six")
    os.utime(tmp_path / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert identity() != second
