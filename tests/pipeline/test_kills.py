"""I1 under kill -9: the daemon, its bus server, or both die at any moment, while the tree lives on; then compare whole."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

from atlas.runtime.process.daemon import find_running
from tests.pipeline.polyglot import Life, tree
from tests.pipeline.trees import dump, index, write_tree
from tests.surfaces.daemons import Home, home, until

KILLS = int(os.environ.get("ATLAS_TEST_KILLS", "20"))
SEED = int(os.environ.get("ATLAS_TEST_SEED", "20261122"))
COMPARED = 5
"""Number of kills after which the whole graph is compared."""


MOMENTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5)
"""Longest seconds between the edits and the kill: tier 1, between writing and answering, a long batch, vectors."""


def start(place: Home, chance: random.Random) -> None:
    """Start a daemon; three of five times go on when it is ready, else at any moment since it has its bus."""
    place.foreground("--detached")
    until(lambda: place.socket.exists() and server_of(place), "a bus server", 60)
    if chance.random() < 0.6:
        until(lambda: phase(place) == "ready", "a daemon that is ready", 60)
    else:
        time.sleep(chance.random())


def phase(place: Home) -> str:
    running = find_running(place.data)
    return running.phase if running is not None else ""


def server_of(place: Home) -> int:
    """Process of the bus server; 0 when it is gone: its number may be another's by now."""
    try:
        pid = place.server_pid()
    except (OSError, ValueError):
        return 0
    asked = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return pid if str(place.data) in asked.stdout else 0


def kill(place: Home, chance: random.Random) -> str:
    """Kill the daemon, its server, or both in any order; return which."""
    daemon, server = place.processes[-1], server_of(place)
    victims = chance.choice((("daemon",), ("daemon",), ("server",), ("daemon", "server"), ("server", "daemon")))
    for victim in victims:
        if victim == "daemon":
            daemon.kill()
        elif server:
            with contextlib.suppress(ProcessLookupError):
                os.kill(server, signal.SIGKILL)
    if "daemon" in victims:
        daemon.communicate()
    return " and ".join(victims)


def settle(place: Home) -> None:
    """Let the daemon come to rest: a look at everything, and all vectors."""
    until(lambda: phase(place) == "ready", "a daemon that is ready", 60)
    assert place.processes[-1].poll() is None, "another daemon than the one that was started"
    place.run("index")


def test_whatever_is_killed_the_graph_ends_clean(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    first = tree(70, chance)
    with home(tmp_path) as place:
        shutil.rmtree(place.root)
        write_tree(place.root, first)
        life = Life(place.root, first, chance)
        start(place, chance)
        history: list[str] = []
        for number in range(1, KILLS + 1):
            life.live(chance.randint(1, 8))
            time.sleep(chance.choice(MOMENTS) * chance.random())
            history.append(kill(place, chance))
            if chance.random() < 0.3:
                life.live(chance.randint(1, 4))
            if "daemon" in history[-1]:
                start(place, chance)
            if number % COMPARED == 0 or number == KILLS:
                settle(place)
                fresh = tmp_path / "fresh"
                asyncio.run(index(place.root, fresh))
                assert dump(place.data) == dump(fresh), f"after {number} kills (seed {SEED}): {history[-COMPARED:]}"
                shutil.rmtree(fresh)
        assert len(history) == KILLS
