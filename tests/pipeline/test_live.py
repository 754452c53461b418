"""I1 for the warm tiers: hints doubled, reordered, late or lost, edits while a batch is at work, and always the clean index."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from atlas_bench.stepwise import LiveTiers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.main import make_source, make_writing_embedders
from atlas.code.index.events import AST_DIRTY, WHOLE_PROJECT, Window
from atlas.code.index.tiers.gate import SignificanceGate
from atlas.core.contracts import Bus
from atlas.core.errors import StoreError
from atlas.core.events import Event
from atlas.parsing import VectorIndex
from atlas.runtime.config.load import load_settings
from tests.pipeline.test_incremental import MODULES, apply_edit, edit, source
from tests.pipeline.trees import Dump, dump, index, write_tree

SEQUENCES = int(os.environ.get("ATLAS_TEST_SEQUENCES", "8"))


@asynccontextmanager
async def live(root: Path, data: Path, bus: Bus | None = None, batch: int = 2000) -> AsyncIterator[LiveTiers]:
    chosen = load_settings(project=str(root), data_dir=str(data))
    store = EmbeddedStore.open(data, writing=True, vector_index=VectorIndex)
    try:
        tiers = await LiveTiers.open(
            [make_source(chosen)],
            store,
            bus or MemoryBus(),
            SignificanceGate(store),
            make_writing_embedders(chosen),
            window=Window(0, batch, 0),
            page=7,
        )
        yield tiers
        await tiers.aclose()
    finally:
        await store.aclose()


def clean(root: Path, folder: Path) -> Dump:
    shutil.rmtree(folder, ignore_errors=True)
    asyncio.run(index(root, folder))
    return dump(folder)


async def aclean(root: Path, folder: Path) -> Dump:
    return await asyncio.to_thread(clean, root, folder)


def touched(change: tuple[str, str, str]) -> list[str]:
    kind, path, other = change
    if kind == "drop-folder":
        return [path.rpartition("/")[0]]
    return [path] if kind in ("write", "delete") else [path, other]


@settings(
    max_examples=SEQUENCES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(st.lists(edit(), min_size=1, max_size=10), st.randoms(use_true_random=False), st.data())
def test_random_edits_with_unreliable_hints(
    edits: Sequence[tuple[str, str, str]], chance: object, data: st.DataObject
) -> None:
    async def run(folder: Path) -> None:
        root, kept = folder / "project", folder / "kept"
        write_tree(root, {path: data.draw(source(path)) for path in MODULES})
        async with live(root, kept, batch=chance.randint(1, 6)) as tiers:
            await tiers.settle()
            late: list[str] = []
            for change in edits:
                apply_edit(root, change)
                hints = touched(change)
                fate = chance.choice(("told", "told", "told twice", "late", "lost"))
                if fate == "late":
                    late += hints
                elif fate != "lost":
                    await tiers.hint(hints * (2 if fate == "told twice" else 1))
                if chance.random() < 0.5:
                    await tiers.settle(sweep=False)
            chance.shuffle(late)
            await tiers.hint([*late, WHOLE_PROJECT])
            await tiers.settle()
            assert dump(kept) == await aclean(root, folder / "fresh")

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


FILES = {
    "pkg/__init__.py": "from pkg.a import f\n",
    "pkg/a.py": "from pkg.b import g\n\ndef f():\n    return g()\n",
    "pkg/b.py": "def g():\n    return 1\n",
    "web/ui.ts": "export function draw(): void {}\n",
    "pyproject.toml": "[project]\nname = 'one'\n",
}


async def test_exact_hints_are_enough(tmp_path: Path) -> None:
    """After each edit with its own hint, and no look at everything, the graph is the clean one."""
    root = tmp_path / "p"
    write_tree(root, FILES)
    steps: list[tuple[str, str | None]] = [
        ("pkg/b.py", "def h():\n    return 1\n"),
        ("pkg/a.py", "from pkg.b import h as g\n\ndef f():\n    return g()\n"),
        ("pkg/c.py", "from pkg import f\n\nclass C:\n    def run(self):\n        return f()\n"),
        ("pkg/b.py", None),
        ("pkg/b.py", "def h(:\n    broken\n"),
        ("pkg/b.py", "def h():\n    return 2\n"),
        ("web/ui.ts", "import { x } from './x';\nexport function draw(): void { x(); }\n"),
        ("web/x.ts", "export function x(): void {}\n"),
        ("pkg/__init__.py", ""),
    ]
    async with live(root, tmp_path / "d") as tiers:
        await tiers.settle()
        place = tiers.workspaces["p"]
        for path, text in steps:
            if text is None:
                (root / path).unlink()
            else:
                (root / path).write_text(text)
            await tiers.hint([path])
            await tiers.settle()
            assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh"), (path, text)
            # as a daemon does that has rested: each other step begins with a snapshot
            if len(text or "") % 2 and await place.save_linker():
                assert await place.linking.put_away()
                assert place.linking.linker is None
                assert place.linking.is_made
        assert place.scans == 1, "no step needed a look at everything"


async def test_a_folder_that_is_swapped_needs_one_hint(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write_tree(root, FILES)
    write_tree(tmp_path / "other", {"a.py": "def f():\n    return 0\n", "deep/z.py": "from pkg.a import f\n"})
    async with live(root, tmp_path / "d") as tiers:
        await tiers.settle()
        (root / "pkg").rename(tmp_path / "away")
        (tmp_path / "other").rename(root / "pkg")
        await tiers.hint(["pkg"])
        await tiers.settle()
        assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")
        shutil.rmtree(root / "pkg")
        await tiers.hint(["pkg"])
        await tiers.settle()
        assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")


async def test_ignore_rules_and_manifests_change_the_scope_and_keep_the_linker_warm(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write_tree(root, FILES)
    async with live(root, tmp_path / "d") as tiers:
        await tiers.settle()
        place = tiers.workspaces["p"]
        warm = place.linking.linker
        for path, text in (
            (".gitignore", "b.py\n"),
            (".gitignore", ""),
            (".atlasignore", "web/\n"),
            ("pkg/.gitignore", "*\n"),
        ):
            (root / path).write_text(text)
            await tiers.hint([path])
            await tiers.settle()
            assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh"), (path, text)
        assert place.linking.linker is warm, "nothing here needs another linker"
        (root / "pyproject.toml").write_text("[project]\nname = 'two'\n")
        await tiers.hint(["pyproject.toml"])
        await tiers.settle()
        assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")


async def test_events_left_by_an_earlier_process_delete_nothing(tmp_path: Path) -> None:
    """Tier 2 gets an event before tier 1 has looked at the tree."""
    root, bus = tmp_path / "p", MemoryBus()
    write_tree(root, FILES)
    await index(root, tmp_path / "d")
    before = dump(tmp_path / "d")
    await bus.publish(AST_DIRTY, [Event("p", WHOLE_PROJECT), Event("p", "pkg/a.py"), Event("unknown", "x.py")])
    async with live(root, tmp_path / "d", bus) as tiers:
        await tiers.settle()
        assert tiers.workspaces["p"].counters.removed == 0
        assert tiers.workspaces["p"].counters.parsed == 0, "facts come from the cache"
    assert dump(tmp_path / "d") == before


async def test_a_file_that_changes_while_it_is_written_ends_right(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write_tree(root, FILES)
    async with live(root, tmp_path / "d") as tiers:
        await tiers.settle()
        stop = asyncio.Event()

        async def scribble() -> None:
            for number in range(400):
                if stop.is_set():
                    break
                text = "def g():\n    return 1\n" if number % 2 else f"def g{number}():\n    return g{number - 1}()\n"
                (root / "pkg/b.py").write_text(text)
                await asyncio.sleep(0.001)

        writing = asyncio.create_task(scribble())
        for _ in range(30):
            await tiers.hint(["pkg/b.py"])
            await tiers.settle(sweep=False)
        stop.set()
        await writing
        await tiers.hint(["pkg/b.py"])
        await tiers.settle()
    assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")


async def test_a_store_that_refuses_once_is_made_good(tmp_path: Path) -> None:
    """The linker is ahead of the store after a failed write; the next batch must bring every unit."""
    root = tmp_path / "p"
    write_tree(root, FILES)
    async with live(root, tmp_path / "d") as tiers:
        await tiers.settle()
        place = tiers.workspaces["p"]
        store = tiers._store  # pyright: ignore[reportPrivateUsage]
        (root / "pkg/b.py").write_text("def other():\n    return 1\n")
        await tiers.hint(["pkg/b.py"])
        real = place.source.root
        await store.aclose()
        with pytest.raises((StoreError, RuntimeError)):
            await tiers.settle()
        assert real == root
    async with live(root, tmp_path / "d") as tiers:
        await tiers.settle()
    assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")


async def test_several_projects_share_one_store(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write_tree(one, FILES)
    write_tree(two, {"pkg/a.py": "def f():\n    return 2\n"})
    data = tmp_path / "d"
    first, second = (load_settings(project=str(root), data_dir=str(data)) for root in (one, two))
    store = EmbeddedStore.open(data, writing=True, vector_index=VectorIndex)
    sources = [make_source(first), make_source(second)]
    tiers = await LiveTiers.open(sources, store, MemoryBus(), SignificanceGate(store), make_writing_embedders(first))
    await tiers.settle()
    (two / "pkg/a.py").write_text("def f():\n    return 3\n\ndef only_in_two():\n    return f()\n")
    await tiers.hint(["pkg/a.py"], "two")
    await tiers.settle()
    counts = {stats.project: stats.files for stats in await store.stats()}
    await tiers.aclose()
    await store.aclose()
    assert counts == {"one": 5, "two": 1}
    uids = {row[0] for row in dump(data)["nodes"]}
    assert "two:pkg.a.only_in_two" in uids
    assert "one:pkg.a.only_in_two" not in uids


async def test_a_root_that_is_gone_for_a_while_keeps_its_graph(tmp_path: Path) -> None:
    root = tmp_path / "p"
    write_tree(root, FILES)
    async with live(root, tmp_path / "d") as tiers:
        await tiers.settle()
        before = dump(tmp_path / "d")
        root.rename(tmp_path / "away")
        await tiers.hint([WHOLE_PROJECT])
        await tiers.settle()
        assert dump(tmp_path / "d") == before
        assert tiers.workspaces["p"].problem == f"{root} is gone"
        (tmp_path / "away").rename(root)
        (root / "pkg/b.py").unlink()
        await tiers.hint([WHOLE_PROJECT])
        await tiers.settle()
        assert tiers.workspaces["p"].problem == ""
        assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")
