"""Real daemons for tests: started by the command line, asked over their files, and never left behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from atlas.app.bus import connect_bus_of_running_daemon
from atlas.app.daemon import stop_orphaned_server
from atlas.app.main import open_atlas
from atlas.code.index.daemon_client import read_state
from atlas.core.model import Filter
from atlas.runtime.config.load import load_settings
from atlas.runtime.process import daemon
from atlas.runtime.process.daemon import RunningDaemon, find_running
from atlas.runtime.process.data_folder import default_folder

from .processes import COMMAND, atlas, environment

Result = TypeVar("Result")


def until(ask: Callable[[], Result], what: str, seconds: float = 10.0) -> Result:
    """Return the first true answer; fail when there is none in time."""
    end = time.monotonic() + seconds
    while not (answer := ask()):
        assert time.monotonic() < end, f"not within {seconds:g} s: {what}"
        time.sleep(0.02)
    return answer


@dataclass
class Home:
    """A folder of projects with one data folder."""

    root: Path
    data: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    servers: set[int] = field(default_factory=set)

    def run(self, *words: str, code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
        """Run an `atlas` command on this project that must end with `code`."""
        done = atlas(*words, cwd=self.root, env=env, timeout=60)
        assert done.returncode == code, done.stdout + done.stderr + self.log_text()
        return done

    def ask(self, *words: str, code: int = 0, **env: str) -> dict[str, Any]:
        """Run a command with --json and return its document."""
        document = json.loads(self.run(*words, "--json", code=code, **env).stdout)
        assert isinstance(document, dict)
        return document

    def foreground(self, *words: str, **env: str) -> subprocess.Popen[bytes]:
        """Start a daemon as a child of the test."""
        process = subprocess.Popen(
            [*COMMAND, "daemon", "start", "--foreground", *words],
            cwd=self.root,
            env=environment(**env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.processes.append(process)
        return process

    def running(self, phase: str = "ready") -> RunningDaemon:
        """Return the daemon as soon as it is in this phase."""

        def found() -> RunningDaemon | None:
            one = find_running(self.data)
            return one if one is not None and one.phase == phase else None

        return until(found, f"a daemon that is {phase}")

    @property
    def socket(self) -> Path:
        return self.data / "valkey" / "valkey.sock"

    def server_pid(self) -> int:
        pid = int((self.data / "valkey" / "valkey.pid").read_text())
        self.servers.add(pid)
        return pid

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log_text().splitlines()]

    def log_text(self) -> str:
        path = self.data / "logs" / "daemon.log"
        return path.read_text() if path.exists() else ""

    async def knows(self, name: str, root: Path | None = None) -> bool:
        """Whether a symbol is in the index."""
        settings = load_settings(str(root or self.root), str(self.data), environment={})
        async with open_atlas(settings) as opened:
            found = await opened.resolve(name, Filter(project=settings.project_name))
            return bool(found.nodes)

    async def until_known(self, name: str, root: Path | None = None, seconds: float = 10.0) -> None:
        end = time.monotonic() + seconds
        while not await self.knows(name, root):
            assert time.monotonic() < end, f"{name} is not in the index: {self.log_text()}"
            await asyncio.sleep(0.05)

    async def until_busy(self) -> None:
        """Wait until a tier of the daemon is at work."""
        bus = await connect_bus_of_running_daemon(load_settings(str(self.root), str(self.data), environment={}))
        assert bus is not None
        try:
            end = time.monotonic() + 10
            while not any(tier["busy"] for tier in (await read_state(bus) or {"tiers": []})["tiers"]):
                assert time.monotonic() < end, "no tier is at work"
                await asyncio.sleep(0.02)
        finally:
            await bus.aclose()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with contextlib.suppress(FileNotFoundError):
        # a zombie has ended
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return not Path("/proc/self").exists()


@contextmanager
def home(folder: Path) -> Iterator[Home]:
    """A project with one file; whatever runs on its data folder is ended afterwards."""
    root = folder / "first"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "one.py").write_text("def alpha():\n    return beta()\n\n\ndef beta():\n    return 1\n")
    place = Home(root, default_folder(root))
    try:
        yield place
    finally:
        for process in place.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate()
        daemon.stop(place.data, print, seconds=5.0)
        if (serving := daemon.find_serving(place.data)) is not None:
            daemon.stop_serving(place.data, serving, seconds=5.0)
        stop_orphaned_server(place.data)
        for pid in filter(is_alive, place.servers):
            os.kill(pid, signal.SIGKILL)
