"""Random moves of folders under a real daemon: `python -m tests.bench.directory_moves [--moves N] [--seed N] [--every N]`.

Moves, replaces, deletes and edits folders of a small tree with manifests of every kind, ignore rules and a nested
repository; after every few moves, when the daemon is idle and says that nothing is stale, its index is compared with
a clean one of the same tree. Vectors are left out: the daemon puts some off; the list of what is not indexed is written
when the daemon is at rest, and compared at the end. Exits with 1 when anything differs.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from atlas_bench.compare import Comparison
from atlas_bench.compose import compare_indexes
from atlas_bench.observer import until
from atlas_bench.process import run

from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.app.bus import connect_bus_of_running_daemon
from atlas.code.index.daemon_client import is_drained
from atlas.core.contracts import Bus
from atlas.parsing import VectorIndex, content_digest
from atlas.runtime.config.load import load_settings
from tests.pipeline.moves import Mover, make_tree
from tests.pipeline.trees import index

STREAMS = (("file-changed", "graph"), ("ast-dirty", "ast"), ("embed-dirty", "embed"))
PATIENCE = 120.0
REST_SECONDS = 20.0
LATER = ("vectors", "skipped")
"""What is not written together with the graph."""
QUIET_SECONDS = 0.3
"""So long nothing may be waiting: folders that are watched from now on are reported once more."""
SECOND_LOOK_SECONDS = 2.0
LAST_WORDS = 12


@dataclass
class Found:
    """What the comparisons said."""

    compared: int = 0
    late: int = 0
    """Differences that were gone at a second look although nothing was waiting at the first."""
    lasting: list[str] = field(default_factory=list[str])


class Watched:
    """A tree under a daemon, and what its index must be equal to."""

    def __init__(self, root: Path, data: Path, store: EmbeddedStore, bus: Bus) -> None:
        self.root, self.data, self.store, self.bus = root, data, store, bus
        self.project = root.name
        self._marks = 0

    async def settle(self) -> None:
        """Return when the daemon has taken in all that happened before, and nothing waits."""
        self._marks += 1
        text = f"MARK = {self._marks}\n"
        (self.root / "mark.py").write_text(text)
        digest = content_digest(text.encode())

        async def marked() -> bool:
            record = (await self.store.manifest(self.project)).get("mark.py")
            return record is not None and record.digest == digest and not record.stale

        await until(marked, "mark", PATIENCE)
        since = time.monotonic()
        while time.monotonic() - since < QUIET_SECONDS:
            for stream, group in STREAMS:
                if not await is_drained(self.bus, f"atlas:{stream}", group):
                    await until(partial(is_drained, self.bus, f"atlas:{stream}", group), stream, PATIENCE)
                    since = time.monotonic()
            await asyncio.sleep(0.03)

    async def compare(self, found: Found, said: list[str]) -> None:
        """Compare with a clean index; what differs is looked at once more, and kept when it lasts."""
        found.compared += 1
        comparison = await self._differing()
        if not _lines(comparison):
            return
        await asyncio.sleep(SECOND_LOOK_SECONDS)
        await self.settle()
        again = await self._differing()
        if not _lines(again):
            found.late += 1
            print("  late:", *_lines(comparison), *said[-LAST_WORDS:], sep="\n    ", flush=True)
            return
        (stats,) = await self.store.stats(self.project)
        found.lasting.append(f"after {len(said)} changes, {stats.stale_files} files stale")
        print(f"  DIFFERENT {found.lasting[-1]}:", *_lines(again), *said[-LAST_WORDS:], sep="\n    ", flush=True)

    async def rest(self, found: Found) -> None:
        """Compare what is left out, once the daemon had the time to write it."""
        ends = time.monotonic() + REST_SECONDS
        while lines := _lines(await self._differing(), of="skipped"):
            if time.monotonic() > ends:
                found.lasting.append("what is left out differs")
                print("  DIFFERENT at rest:", *lines, sep="\n    ", flush=True)
                return
            await asyncio.sleep(1)

    async def _differing(self) -> Comparison:
        clean = self.data.with_name("clean")
        shutil.rmtree(clean, ignore_errors=True)
        await index(self.root, clean)
        return await asyncio.to_thread(compare_indexes, self.data, clean)


def _lines(comparison: Comparison, of: str = "") -> list[str]:
    """Return what differs in one kind of rows, or in all but those that are written later."""
    return [
        line
        for kind in comparison.kinds
        if not kind.equal and (kind.kind == of if of else kind.kind not in LATER)
        for line in (f"{kind.kind}: {kind.only_a} only here, {kind.only_b} only in a clean index", *kind.samples)
    ]


async def move_and_compare(place: Watched, mover: Mover, moves: int, every: int) -> Found:
    """Do so many moves, with edits between them and pauses of a few milliseconds."""
    found = Found()
    started = time.perf_counter()
    for number in range(1, moves + 1):
        await asyncio.to_thread(mover.move)
        if mover.dice.random() < 0.3:
            mover.edit()
        if mover.dice.random() < 0.5:
            await asyncio.sleep(0.04 * mover.dice.random())
        if number % every == 0 or number == moves:
            await place.settle()
            await place.compare(found, mover.done)
        if number % 50 == 0:
            print(
                f"{number} moves, {time.perf_counter() - started:.0f} s, {len(found.lasting)} differences", flush=True
            )
    await place.rest(found)
    return found


async def main(moves: int, seed: int, every: int) -> int:
    with tempfile.TemporaryDirectory(prefix="atlas-moves-") as scratch:
        root, data = Path(scratch) / "shop", Path(scratch) / "data"
        make_tree(root)
        words = ["--project", str(root), "--data-dir", str(data)]
        await asyncio.to_thread(run, ["daemon", "start", *words])
        settings = load_settings(str(root), str(data), environment={})
        bus = await connect_bus_of_running_daemon(settings)
        assert bus is not None
        store = EmbeddedStore.open(data, writing=False, vector_index=VectorIndex)
        try:
            place = Watched(root, data, store, bus)
            await place.settle()
            found = await move_and_compare(place, Mover(root, Path(scratch) / "outside", seed), moves, every)
        finally:
            await store.aclose()
            await bus.aclose()
            await asyncio.to_thread(run, ["daemon", "stop", *words])
    print(
        f"seed {seed}: {moves} moves, {found.compared} comparisons, {len(found.lasting)} with a difference, "
        f"{found.late} with one that went by itself"
    )
    return int(bool(found.lasting))


if __name__ == "__main__":
    asked = argparse.ArgumentParser()
    asked.add_argument("--moves", type=int, default=500)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--every", type=int, default=3)
    given = asked.parse_args()
    sys.exit(asyncio.run(main(given.moves, given.seed, given.every)))
