"""A data folder with a real bus server and a daemon's traces, but no daemon: each test says what the daemon told."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atlas._parser import VectorIndex
from atlas.adapters.buses.retry_policy import RetryPolicy
from atlas.adapters.buses.valkey.bus import ValkeyBus
from atlas.adapters.buses.valkey.server import ManagedServer
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.code.index.events import AST_DIRTY, EMBED_DIRTY, FILE_CHANGED
from atlas.code.index.heartbeat import DAEMON, HEARTBEAT_TTL
from atlas.core.events import Event
from atlas.runtime.config.load import load_settings
from atlas.runtime.config.settings import Settings
from atlas.runtime.process.daemon import DaemonInstance, RunningDaemon

from .processes import Place
from .shop import fill, write_files

TIERS = {"graph": FILE_CHANGED, "ast": AST_DIRTY, "embed": EMBED_DIRTY}


def told(root: Path, now: float, **changes: Any) -> dict[str, Any]:
    """Return what a daemon that is at rest tells of itself; `changes` are of its only project or of the whole."""
    tiers = [
        {
            "tier": tier,
            "stream": stream,
            "events": 12,
            "batches": 3,
            "rate": 0.2,
            "busy": False,
            "waits_for": "",
            "errors": 0,
            "last_error": "",
            "last_events": 2,
            "last_seconds": 0.0041,
            "last_at": now - 5,
        }
        for tier, stream in TIERS.items()
    ]
    project = {
        "project": "shop",
        "root": str(root),
        "ready": True,
        "watch": "watching",
        "watch_reason": "",
        "folders": 3,
        "files": 6,
        "stale_files": 0,
        "looks": 1,
        "looked_at": now - 60,
        "look_seconds": 0.012,
        "parsed": 6,
        "written": 7,
        "removed": 0,
        "vectors": 9,
    }
    whole: dict[str, Any] = {
        "version": "0.1.0",
        "pid": 4242,
        "started_at": now - 3600,
        "heartbeat_at": now,
        "host": "here",
        "embeds": True,
        "resident_bytes": 180 << 20,
        "tiers": tiers,
        "projects": [project | {key: value for key, value in changes.items() if key in project}],
    }
    return whole | {key: value for key, value in changes.items() if key not in project}


@dataclass
class Stage:
    """A place with a bus. `instance` is the daemon's lock, held by the test."""

    place: Place
    settings: Settings
    bus: ValkeyBus
    server: ManagedServer
    instance: DaemonInstance | None = None

    @property
    def options(self) -> list[str]:
        return self.place.options

    def daemon_runs(self, phase: str = "ready", since: float = 3600.0) -> None:
        """From now on there is a process that holds the daemon's lock."""
        running = RunningDaemon(
            4242, time.time() - since, (str(self.place.root),), ("shop",), phase=phase, detail="somebody"
        )
        self.instance = DaemonInstance.take(self.place.data, running)
        assert self.instance is not None

    def daemon_is_killed(self) -> None:
        """The lock is free, but what the daemon wrote down stays."""
        assert self.instance is not None
        written = (self.place.data / "daemon.lock").read_bytes()
        self.instance.release()
        (self.place.data / "daemon.lock").write_bytes(written)
        self.instance = None

    async def tell(self, **changes: Any) -> None:
        """Leave the daemon's note."""
        note = json.dumps(told(self.place.root, time.time(), **changes))
        await self.bus.send_heartbeat(DAEMON, note, HEARTBEAT_TTL)

    async def bury(self, *keys: str, reason: str = "ValueError: no such luck") -> list[str]:
        """Make a dead letter of tier 2 of each key; return their ids, oldest first."""
        before = {letter.id for letter in await self.bus.dead_letters()}
        await self.bus.publish(AST_DIRTY, [Event("shop", key) for key in keys])
        for delivery in await self.bus.take(AST_DIRTY, "ast", len(keys), 1):
            await self.bus.nack(AST_DIRTY, "ast", [delivery.id], reason)
        return [letter.id for letter in await self.bus.dead_letters() if letter.id not in before]


@asynccontextmanager
async def stage(folder: Path) -> AsyncIterator[Stage]:
    """The shop project with an index, and a bus server as the daemon would start it."""
    place = Place(folder / "shop", folder / "data")
    write_files(place.root)
    store = EmbeddedStore.open(place.data, writing=True, vector_index=VectorIndex)
    await fill(store, place.root)
    await store.aclose()
    server = ManagedServer.start(place.data)
    settings = load_settings(str(place.root), str(place.data), environment={})
    one = Stage(place, settings, ValkeyBus.open(server.url, retry_policy=RetryPolicy(attempts=1)), server)
    try:
        yield one
    finally:
        await one.bus.aclose()
        if one.instance is not None:
            one.instance.release()
        server.stop()
