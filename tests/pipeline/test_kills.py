"""I1 under kill -9: the daemon, its bus server, or both die at any moment, while the tree lives on; then compare whole."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import time
from pathlib import Path

from atlas.background import find_running
from tests.pipeline.polyglot import Life, tree
from tests.pipeline.trees import dump, index, write_tree
from tests.surfaces.daemons import Home, home, is_alive, until

KILLS = int(os.environ.get("ATLAS_TEST_KILLS", "20"))
SEED = int(os.environ.get("ATLAS_TEST_SEED", "20261122"))
COMPARED = 5
"""The whole graph is compared after so many kills."""


def start(place: Home) -> None:
    """Start a daemon and go on as soon as it has its bus: it need not have found its way back when it is killed again."""
    place.foreground()
    until(lambda: place.socket.exists() and is_alive(place.server_pid()), "a bus server")


def kill(place: Home, chance: random.Random) -> str:
    """Kill the daemon, its server, or both in any order; return which."""
    daemon, server = place.processes[-1], place.server_pid()
    victims = chance.choice((("daemon",), ("daemon",), ("server",), ("daemon", "server"), ("server", "daemon")))
    for victim in victims:
        pid = daemon.pid if victim == "daemon" else server
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)
    if "daemon" in victims:
        daemon.communicate()
    return " and ".join(victims)


def settle(place: Home) -> None:
    """Let the daemon come to rest: a look at everything, and all vectors."""
    until(lambda: (one := find_running(place.data)) is not None and one.phase == "ready", "rest", 60)
    place.run("index")


def test_whatever_is_killed_the_graph_ends_clean(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    first = tree(70, chance)
    with home(tmp_path) as place:
        shutil.rmtree(place.root)
        write_tree(place.root, first)
        life = Life(place.root, first, chance)
        start(place)
        place.running()
        history: list[str] = []
        for number in range(1, KILLS + 1):
            life.live(chance.randint(1, 8))
            time.sleep(chance.choice((0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)) * chance.random())
            history.append(kill(place, chance))
            if chance.random() < 0.3:
                life.live(chance.randint(1, 4))
            if "daemon" in history[-1]:
                start(place)
            if number % COMPARED == 0 or number == KILLS:
                settle(place)
                fresh = tmp_path / "fresh"
                asyncio.run(index(place.root, fresh))
                assert dump(place.data) == dump(fresh), f"after {number} kills (seed {SEED}): {history[-COMPARED:]}"
                shutil.rmtree(fresh)
        assert len(history) == KILLS
