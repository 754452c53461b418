"""I1 when things go wrong around the tiers: a store that is locked or full, a bus that is away or full, files that are none."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.buses.retry_policy import RetryPolicy
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.main import make_source
from atlas.code.index.events import AST_DIRTY, EMBED_DIRTY, FILE_CHANGED, WHOLE_PROJECT, Window
from atlas.code.index.project.workspace import Workspace
from atlas.code.index.tiers.ast import AstTier
from atlas.code.index.tiers.gate import SignificanceGate
from atlas.code.index.tiers.graph import GraphTier
from atlas.code.index.worker import TierReport, run_tier, run_until_idle
from atlas.core.errors import Unavailable
from atlas.core.events import Event
from atlas.core.model import GraphDelta
from atlas.parsing import VectorIndex
from atlas.runtime.config.load import load_settings
from tests.conformance.test_embedded_faults import hold_the_lock
from tests.pipeline.test_live import FILES, aclean, live
from tests.pipeline.trees import dump, write_tree

NOW = Window(0, 2000, 0)


class Queued(EmbeddedStore):
    """A store whose writes wait for their turn, as they do behind a long one."""

    turn: asyncio.Lock
    asked = 0
    loses_answer = False
    """The next write is done, and its caller gets an error."""

    async def apply(self, deltas: Sequence[GraphDelta]) -> int:
        self.asked += 1
        async with self.turn:
            generation = await super().apply(deltas)
        if self.loses_answer:
            self.loses_answer = False
            raise Unavailable("the answer was lost", "")
        return generation

    async def until_asked(self, times: int) -> None:
        async with asyncio.timeout(5):
            while self.asked < times:  # noqa: ASYNC110
                await asyncio.sleep(0.001)


@pytest.mark.parametrize("is_answer_lost", [False, True])
async def test_a_mark_does_not_bring_back_what_is_being_replaced(tmp_path: Path, is_answer_lost: bool) -> None:
    """Tier 1 marks a file while tier 2 writes it again because of another one; then both files are as they were."""
    root, bus = tmp_path / "p", MemoryBus()
    write_tree(root, FILES)
    store = Queued.open(tmp_path / "d", writing=True, vector_index=VectorIndex)
    assert isinstance(store, Queued)
    store.turn = asyncio.Lock()
    source = make_source(load_settings(project=str(root), data_dir=str(tmp_path / "d")))
    places = {"p": Workspace(source, store)}
    await store.open_project("p", str(root))
    graph, ast = (
        GraphTier(places, store, bus, NOW, sweep=False),
        AstTier(places, store, bus, NOW, SignificanceGate(store)),
    )

    async def settle(path: str) -> None:
        await bus.publish(FILE_CHANGED, [Event("p", path)])
        await run_until_idle(bus, [graph, ast])

    await settle(WHOLE_PROJECT)
    caller, called = root / "pkg/a.py", root / "pkg/b.py"
    before = {file: file.read_text() for file in (caller, called)}
    called.write_text("def h():\n    return 5\n")
    await graph.handle([Event("p", "pkg/b.py")])
    async with store.turn:
        store.asked, store.loses_answer = 0, is_answer_lost
        writing = asyncio.create_task(ast.handle([Event("p", "pkg/b.py")]))
        await store.until_asked(1)
        caller.write_text(before[caller] + "# more\n")
        marking = asyncio.create_task(graph.handle([Event("p", "pkg/a.py")]))
        await asyncio.sleep(0.05)
    written, _ = await asyncio.gather(writing, marking, return_exceptions=True)
    assert isinstance(written, Unavailable) == is_answer_lost
    for file in (caller, called):
        file.write_text(before[file])
    await settle("pkg")
    await store.aclose()
    kept, clean = dump(tmp_path / "d"), await aclean(root, tmp_path / "fresh")
    assert {**kept, "vectors": []} == {**clean, "vectors": []}


async def test_what_is_undone_while_the_store_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The linker has seen the edit, the store has not, and the file is the stored one again."""
    for module in ("file.connection", "file.maintenance"):
        monkeypatch.setattr(f"atlas.adapters.stores.sqlite.{module}.BUSY_MS", 50)
    root = tmp_path / "p"
    write_tree(root, FILES)
    async with live(root, tmp_path / "d") as tiers:
        await tiers.settle()
        file, before = root / "pkg/b.py", (root / "pkg/b.py").read_text()
        file.write_text("def h():\n    return 1\n")
        await tiers.hint(["pkg/b.py"])
        await run_until_idle(tiers._bus, tiers._tiers[:1])  # pyright: ignore[reportPrivateUsage]
        with hold_the_lock(tmp_path / "d") as holder:
            with pytest.raises(Unavailable):
                await tiers.settle()
            file.write_text(before)
            holder.communicate("go\n")
        await tiers.hint(["pkg/b.py"])
        await tiers.settle()
    assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")


async def test_a_file_undone_after_a_failed_write_follows_others_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing had to be written for it, so nothing said that the store and the linker agree about it again."""
    for module in ("file.connection", "file.maintenance"):
        monkeypatch.setattr(f"atlas.adapters.stores.sqlite.{module}.BUSY_MS", 50)
    root = tmp_path / "p"
    write_tree(root, {"a.py": "from b import g\n\ndef f():\n    return g()\n", "b.py": "def g():\n    return 1\n"})
    async with live(root, tmp_path / "d") as tiers:
        await tiers.settle()
        file, before, bus = root / "a.py", (root / "a.py").read_text(), tiers._bus  # pyright: ignore[reportPrivateUsage]
        file.write_text("def f():\n    return 2\n")
        # without the marks of tier 1: the file changed after it had looked
        await bus.publish(AST_DIRTY, [Event("p", "a.py")])
        with hold_the_lock(tmp_path / "d") as holder:
            with pytest.raises(Unavailable):
                await tiers.settle()
            file.write_text(before)
            holder.communicate("go\n")
        await bus.publish(AST_DIRTY, [Event("p", "a.py")])
        await tiers.settle(sweep=False)
        (root / "b.py").write_text("def other():\n    return 1\n")
        await tiers.hint(["b.py"])
        await tiers.settle()
    assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")


BECOMES: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "folder": os.mkdir,
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "loop": lambda path: path.symlink_to(path.name),
    "outside": lambda path: path.symlink_to("/etc/hosts"),
    "gone": lambda path: None,
}


@pytest.mark.parametrize("kind", BECOMES)
@pytest.mark.parametrize("name", ["b.py", "new.py"])
async def test_what_is_no_file_any_more_when_it_is_read_holds_up_no_other(tmp_path: Path, kind: str, name: str) -> None:
    root = tmp_path / "p"
    write_tree(root, FILES)
    async with live(root, tmp_path / "d") as tiers, asyncio.timeout(20):
        await tiers.settle()
        odd = root / "pkg" / name
        odd.write_text("def h():\n    return 2\n")
        (root / "pkg/a.py").write_text("def f():\n    return 7\n")
        await tiers.hint([f"pkg/{name}", "pkg/a.py"])
        await run_until_idle(tiers._bus, tiers._tiers[:1])  # pyright: ignore[reportPrivateUsage]
        odd.unlink()
        BECOMES[kind](odd)
        await tiers.settle()
        records = tiers.workspaces["p"].manifest
        assert not records["pkg/a.py"].stale and f"pkg/{name}" not in records
        await tiers.hint([f"pkg/{name}"])
        await tiers.settle()
    assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")


async def test_an_event_that_no_store_can_hold_ends_alone_as_a_dead_letter(tmp_path: Path) -> None:
    root, bus = tmp_path / "p", MemoryBus(retry_policy=RetryPolicy(attempts=2, first_delay=0.01))
    write_tree(root, FILES)
    async with live(root, tmp_path / "d", bus) as tiers:
        await tiers.settle()
        (root / "pkg/b.py").write_text("def g():\n    return 1\n\ndef more():\n    return g()\n")
        await tiers.hint(["pkg/b.py"])
        graph, ast, embed = tiers._tiers  # pyright: ignore[reportPrivateUsage]
        await run_until_idle(bus, [graph, ast])
        await bus.publish(EMBED_DIRTY, [Event("p", "p:\udcff.f"), Event("p", "p:unknown.f")])
        report, stop = TierReport(), asyncio.Event()
        working = asyncio.create_task(run_tier(bus, embed, report, stop, lambda message, fields: None))
        async with asyncio.timeout(10):
            while not (letters := await bus.dead_letters()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        stop.set()
        await working
        assert [letter.event.key for letter in letters] == ["p:\udcff.f"]
        assert report.events >= 2
    assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")


@pytest.mark.parametrize("damage", ["removed", "overwritten", "cut", "a folder"])
async def test_a_facts_cache_that_is_damaged_under_a_running_process(tmp_path: Path, damage: str) -> None:
    root, cache = tmp_path / "p", tmp_path / "d" / "facts-p.bin"
    write_tree(root, FILES)
    async with live(root, tmp_path / "d") as tiers:
        await tiers.settle()
        size = cache.stat().st_size
        if damage == "overwritten":
            with cache.open("r+b") as file:
                file.write(os.urandom(size))
        elif damage == "cut":
            os.truncate(cache, size // 2)
        else:
            cache.unlink()
        if damage == "a folder":
            cache.mkdir()
        (root / "pkg/b.py").write_text("def h():\n    return 1\n")
        await tiers.hint(["pkg/b.py"])
        await tiers.settle()
        assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")
        tiers.workspaces["p"].invalidate()
        (root / "pkg/a.py").write_text("from pkg.b import h\n\ndef f():\n    return h()\n")
        await tiers.hint(["pkg/a.py"])
        await tiers.settle()
        assert dump(tmp_path / "d") == await aclean(root, tmp_path / "fresh")
