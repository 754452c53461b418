"""Workers on one Valkey and one Neo4j: whichever worker is killed or paused, the graph ends as that of a clean index."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest

from atlas.adapters.buses.valkey.server import ManagedServer
from atlas.code.tools.state.report import SILENT
from tests.conformance.rows import MODEL, node, unit, vector
from tests.neo4j.empty import empty_neo4j
from tests.neo4j.server import open_uri
from tests.neo4j.worker_processes import LEASE_SECONDS, PROJECT, Asked, Servers, differences, graph, servers
from tests.pipeline.polyglot import Life, tree
from tests.pipeline.trees import write_tree
from tests.surfaces.processes import atlas

KILLS = int(os.environ.get("ATLAS_TEST_WORKER_KILLS", "6"))
SEED = int(os.environ.get("ATLAS_TEST_SEED", "20261122"))
FILES = 40


class Hosts:
    """The same tree on two hosts, in folders of their own; what happens to one happens to the other."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.roots = [folder / host / PROJECT for host in ("here", "there")]
        first = tree(FILES, random.Random(seed))
        self._lives: list[Life] = []
        for root in self.roots:
            write_tree(root, first)
            self._lives.append(Life(root, first, random.Random(seed)))

    def live(self, edits: int) -> None:
        for life in self._lives:
            life.live(edits)


def clean_index(root: Path, data: Path) -> dict[str, list[str]]:
    """The graph of this tree, made by one command on an empty server."""
    copy = data / PROJECT
    shutil.copytree(root, copy, symlinks=True)
    with servers(data):
        done = atlas("index", str(copy), env={"ATLAS_STORE_URL": open_uri()})
        assert done.returncode == 0, done.stderr
        return graph()


def strike(place: Servers, asked: Asked, chance: random.Random) -> str:
    """Kill a worker, most often the one that writes, or pause it until another has followed; return what was done."""
    holder = asked.holder()
    victims = [worker for worker in place.workers if worker.process.pid == holder] or place.workers
    victim = chance.choice(victims if chance.random() < 0.7 else place.workers)
    if chance.random() < 0.3:
        victim.signal(signal.SIGSTOP)
        time.sleep(LEASE_SECONDS + 1.5)
        victim.signal(signal.SIGCONT)
        return f"paused {victim.log.stem}"
    victim.kill()
    time.sleep(chance.random())
    victim.start()
    return f"killed {victim.log.stem}"


def test_whoever_is_killed_the_graph_ends_clean(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    hosts = Hosts(tmp_path, SEED)
    here, there = hosts.roots
    with servers(tmp_path) as place:
        for root in (here, here, there):
            place.worker("--project", str(root))
        with place.asked() as asked:
            asked.until_holder(place.workers)
            history: list[str] = []
            for _ in range(KILLS):
                hosts.live(chance.randint(1, 6))
                time.sleep(2.5 * chance.random())
                history.append(strike(place, asked, chance))
                hosts.live(chance.randint(0, 3))
            asked.until_holder(place.workers)
            asked.settle()
        assert all(worker.process.poll() is None for worker in place.workers), place.everything_said()
        found = graph()
    assert differences(found, clean_index(here, tmp_path / "fresh")) == [], f"seed {SEED}: {history}"


def test_a_paused_writer_writes_no_more(tmp_path: Path) -> None:
    """It wakes up when another one keeps the project, and the first thing it wants to write is refused or not begun."""
    hosts = Hosts(tmp_path, SEED)
    here, there = hosts.roots
    with servers(tmp_path) as place, place.asked() as asked:
        first = place.worker("--project", str(here))
        asked.until_holder([first])
        second = place.worker("--project", str(there))
        asked.settle()
        hosts.live(3)
        first.signal(signal.SIGSTOP)
        paused = time.monotonic()
        asked.until_holder([second])
        assert time.monotonic() - paused < 10 * LEASE_SECONDS
        time.sleep(max(0.0, paused + SILENT + 1 - time.monotonic()))
        shown = atlas("status", cwd=there, env=place.env).stdout
        assert f":{second.process.pid} leads {PROJECT}" in shown and "killed, paused or disconnected?" in shown, shown
        (there / "part0" / "late.py").write_text("def said_by_the_second():\n    return 1\n")
        asked.settle()
        (here / "part0" / "late.py").write_text("def said_by_the_first():\n    return 1\n")
        first.signal(signal.SIGCONT)
        time.sleep(2 * LEASE_SECONDS)
        asked.settle()
        names = {line for line in graph()["symbols"] if "said_by" in line}
        assert len(names) == 1 and "said_by_the_second" in names.pop(), place.everything_said()
        assert asked.holder() == second.process.pid
        assert first.process.poll() is None


def test_commands_beside_workers(tmp_path: Path) -> None:
    """Who keeps the project does what `atlas index` asks for; without anybody the command takes the lease itself."""
    root = tmp_path / PROJECT
    write_tree(root, {"one.py": "def alpha():\n    return beta()\n\n\ndef beta():\n    return 1\n"})
    with servers(tmp_path) as place, place.asked() as asked:
        none = json.loads(atlas("status", "--json", cwd=root, env=place.env).stdout)
        assert none["daemon"]["state"] == "off" if "daemon" in none else none["error"]["kind"] == "NotFound"
        keeper = place.worker("--project", str(root), "--tiers", "graph,ast")
        helper = place.worker("--tiers", "embed")
        asked.until_holder([keeper])
        asked.settle()
        (root / "two.py").write_text("from one import alpha\n\n\ndef gamma():\n    return alpha()\n")
        done = atlas("index", "--json", cwd=root, env=place.env)
        assert json.loads(done.stdout)["by"] == "daemon", done.stderr
        status = json.loads(atlas("status", "--json", cwd=root, env=place.env).stdout)["daemon"]
        assert (status["state"], status["pid"]) == ("running", keeper.process.pid)
        workers = {worker["worker"].rpartition(":")[2]: worker for worker in status["workers"]}
        assert workers[str(keeper.process.pid)]["keeps"] == [PROJECT]
        assert workers[str(helper.process.pid)]["embedded"] > 0
        shown = atlas("status", cwd=root, env=place.env).stdout
        assert f":{keeper.process.pid} leads {PROJECT}" in shown and "vectors: 5 of 5" in shown, shown
        for worker in (keeper, helper):
            worker.signal(signal.SIGTERM)
            assert worker.process.wait(20) == 0, worker.said()
        (root / "three.py").write_text("def delta():\n    return 1\n")
        done = atlas("index", "--json", cwd=root, env=place.env)
        summary = json.loads(done.stdout)
        assert (summary["by"], summary["parsed"]) == ("", 1), done.stderr


async def test_a_worker_that_only_embeds_does_not_choose_the_model(tmp_path: Path) -> None:
    store = await empty_neo4j()
    row = node("a.one")
    await store.open_project(PROJECT, "/x")
    await store.apply([unit("a.py", [row], project=PROJECT)])
    await store.put_vectors(PROJECT, MODEL, [vector(row, 1, 0, 0, 0)])
    await store.aclose()
    valkey = await asyncio.to_thread(ManagedServer.start, tmp_path)
    try:
        env = {"ATLAS_STORE_URL": open_uri(), "ATLAS_BUS_URL": f"unix://{valkey.url}"}
        words = ("worker", "--tiers", "embed")
        done = await asyncio.to_thread(atlas, *words, cwd=tmp_path, env=env)
        assert (done.returncode, "the vectors in the store are of tiny" in done.stderr) == (2, True), done.stderr
    finally:
        await asyncio.to_thread(valkey.stop)


@pytest.mark.parametrize("words", [("--tiers", "graph"), ("--tiers", "ast,embed"), ("--tiers", "")])
def test_graph_and_ast_go_together(tmp_path: Path, words: tuple[str, ...]) -> None:
    env = {"ATLAS_STORE_URL": "bolt://127.0.0.1:1", "ATLAS_BUS_URL": "valkey://127.0.0.1:1"}
    done = atlas("worker", *words, "--project", str(tmp_path), env=env)
    assert (done.returncode, "--tiers graph,ast,embed" in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({}, "a worker needs a store on a server"),
        ({"ATLAS_STORE_URL": "bolt://127.0.0.1:1"}, "a worker needs a bus on a server"),
    ],
)
def test_what_a_worker_needs(tmp_path: Path, env: dict[str, str], said: str) -> None:
    done = atlas("worker", "--project", str(tmp_path), env=env)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
