"""Worker processes for tests: on a Valkey of their own and the run's Neo4j, on one host or on several, and never left behind."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from atlas.adapters.buses.valkey.server import ManagedServer
from atlas.adapters.opening.embedder import make_embedder
from atlas.adapters.stores.bolt.connection import Address, BoltConnection, Transaction
from atlas.adapters.stores.bolt.store import BoltStore
from atlas.app.bus import connect_bus
from atlas.code.index.cluster.project_bus import ProjectBus
from atlas.code.index.events import EMBED_DIRTY, FILE_CHANGED, WHOLE_PROJECT
from atlas.core.contracts import Bus
from atlas.core.events import Event
from atlas.runtime.config.load import load_settings
from tests.neo4j.empty import empty_neo4j, reopened_neo4j
from tests.neo4j.server import open_uri
from tests.surfaces.processes import COMMAND, environment

LEASE_SECONDS = 2
PROJECT = "shop"


@dataclass
class Worker:
    """A process that may be killed and started again."""

    words: Sequence[str]
    env: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] = field(init=False)
    starts: int = 0

    def start(self) -> None:
        self.starts += 1
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.words, env=self.env, stdout=log, stderr=log)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def signal(self, kind: signal.Signals) -> None:
        self.process.send_signal(kind)

    def said(self) -> str:
        return self.log.read_text("utf8", "replace") if self.log.exists() else ""


@dataclass
class Servers:
    """A bus and a store, and the workers on them."""

    folder: Path
    valkey: ManagedServer
    workers: list[Worker] = field(default_factory=list[Worker])

    @property
    def env(self) -> dict[str, str]:
        """What every process on this host needs to know; short times, so that little is waited for."""
        return {
            "ATLAS_STORE_URL": open_uri(),
            "ATLAS_STORE_WRITE_SECONDS": "5",
            "ATLAS_BUS_URL": f"unix://{self.valkey.url}",
            "ATLAS_DAEMON_LEASE_SECONDS": str(LEASE_SECONDS),
        }

    def worker(self, *words: str, before: Sequence[str] = (), **env: str) -> Worker:
        """Start a worker; `before` stands before its command."""
        log = self.folder / f"worker{len(self.workers)}.log"
        made = Worker([*before, *COMMAND, "worker", *words], environment(**(self.env | env)), log)
        self.workers.append(made)
        made.start()
        return made

    @contextmanager
    def asked(self) -> Generator[Asked]:
        """Ask bus and store from here."""
        runner = asyncio.Runner()
        settings = load_settings(str(self.folder), str(self.folder / "asked"), environment=self.env)
        store = runner.run(reopened_neo4j())
        bus = connect_bus(settings, settings.bus_address, runner.run(store.identity()))
        try:
            yield Asked(runner, store, ProjectBus(bus, PROJECT, closes=True))
        finally:
            runner.run(bus.aclose())
            runner.run(store.aclose())
            runner.close()

    def everything_said(self) -> str:
        return "".join(f"--- {worker.log.name}\n{worker.said()[-3000:]}" for worker in self.workers)


@dataclass
class Asked:
    """Answers of bus and store, each asked now."""

    runner: asyncio.Runner
    store: BoltStore
    bus: Bus

    def reports(self) -> list[dict[str, Any]]:
        """What the workers tell of themselves."""
        return [json.loads(text) for text in self.runner.run(self.bus.heartbeats()).values()]

    def holder(self) -> int:
        """Process that keeps the project; 0 when none says so. What a paused one said stays for a while."""
        said = [(one["heartbeat_at"], one["pid"]) for one in self.reports() if PROJECT in one["holds"]]
        return max(said, default=(0.0, 0))[1]

    def until_holder(self, among: Sequence[Worker], seconds: float = 30) -> int:
        """Return the process among these that keeps the project, as soon as there is one."""
        pids = [worker.process.pid for worker in among]
        end = time.monotonic() + seconds
        while (pid := self.holder()) not in pids:
            assert time.monotonic() < end, f"nobody of {pids} keeps the project, but {pid}: {self.reports()}"
            time.sleep(0.05)
        return pid

    def settle(self, seconds: float = 60) -> None:
        """Have everything looked at, and wait until nothing is left to do, vectors too.

        A scan leaves the vectors of layout, comments and small changes that it finds to the next scan of the whole
        project (`significance.py`), so a second one follows when the changes of the first are written.
        """
        for is_last in (False, True):
            self.runner.run(self.bus.publish(FILE_CHANGED, [Event(PROJECT, WHOLE_PROJECT)]))
            self.wait_until_done(seconds, vectors=is_last)

    def wait_until_done(self, seconds: float = 60, *, vectors: bool = True) -> None:
        end = time.monotonic() + seconds
        while left := self.runner.run(self._left(vectors)):
            assert time.monotonic() < end, f"not done: {left}, {self.reports()}"
            time.sleep(0.1)

    async def _left(self, vectors: bool) -> str:
        states = await self.bus.states()
        kept = [state for state in states if state.stream != EMBED_DIRTY and state.waiting + state.pending]
        if kept or not any(state.stream == FILE_CHANGED for state in states):
            return f"{kept or 'nobody ever took anything'}"
        # five who died one after the other with an event in hand bury it, whatever it is about; nothing else may
        letters = [letter for letter in await self.bus.dead_letters() if "without an answer" not in letter.reason]
        assert not letters, letters[:3]
        if not vectors:
            return ""
        embedder = make_embedder(load_settings(".", environment={}))
        stale = await self.store.stale_chunks(PROJECT, await embedder.info(), 3)
        return f"vectors: {stale}" if stale else ""


@contextmanager
def servers(folder: Path) -> Generator[Servers]:
    """An empty Neo4j and a Valkey; all workers are ended afterwards."""
    asyncio.run(_emptied())
    place = Path(tempfile.mkdtemp(prefix="atlas-crew-"))
    valkey = ManagedServer.start(place)
    made = Servers(folder, valkey)
    undertaker = f"cat; kill {valkey.pid} && rm -r {place}"  # a test run that is killed must not leave the server
    watching = subprocess.Popen(["sh", "-c", undertaker], stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield made
    finally:
        for worker in made.workers:
            if worker.process.poll() is None:
                worker.kill()
        watching.kill()
        watching.communicate()
        made.valkey.stop()
        shutil.rmtree(place, ignore_errors=True)


async def _emptied() -> None:
    await (await empty_neo4j()).aclose()


def graph() -> dict[str, list[str]]:
    """All that the store holds but times, counters and decisions, as sorted lines."""
    asked = {
        "symbols": "MATCH (n:Symbol) RETURN labels(n), properties(n)",
        "entries": "MATCH (n:AtlasEntry) RETURN properties(n)",
        "edges": "MATCH (a:Symbol)-[r]->(b:Symbol) RETURN a.uid, type(r), b.uid, properties(r)",
        "waiting": "MATCH (n:AtlasPending) RETURN properties(n)",
        "units": "MATCH (n:AtlasUnit) RETURN properties(n)",
    }

    async def ask() -> dict[str, list[str]]:
        link = BoltConnection(Address(open_uri()))

        async def work(transaction: Transaction) -> dict[str, list[str]]:
            return {name: [_line(row) for row in await transaction.rows(text)] for name, text in asked.items()}

        try:
            return {name: sorted(lines) for name, lines in (await link.read(work)).items()}
        finally:
            await link.aclose()

    return asyncio.run(ask())


LEFT_OUT = ("mtime_ns", "decision")


def _line(row: tuple[Any, ...]) -> str:
    def kept(part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        return {key: value for key, value in cast("dict[str, Any]", part).items() if key not in LEFT_OUT}

    return json.dumps([kept(part) for part in row], sort_keys=True, default=str)


def differences(left: dict[str, list[str]], right: dict[str, list[str]], most: int = 5) -> list[str]:
    """Lines that only one has."""
    lines: list[str] = []
    for name in left:
        for side, one, other in (("left", left[name], right[name]), ("right", right[name], left[name])):
            only = sorted(set(one) - set(other))
            lines += [f"{name}, only {side} ({len(only)}): {line[:300]}" for line in only[:most]]
        if not lines and left[name] != right[name]:
            lines.append(f"{name}: the same lines, not as often")
    return lines
