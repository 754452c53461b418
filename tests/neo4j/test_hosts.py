"""Workers on hosts of their own, in network namespaces: other addresses, other folders, a cable that is pulled."""

from __future__ import annotations

import random
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.neo4j.hosts import Door, Host, are_possible, hosts
from tests.neo4j.server import open_uri
from tests.neo4j.worker_processes import PROJECT, Servers, Worker, graph, servers
from tests.pipeline.polyglot import tree
from tests.pipeline.trees import write_tree


def worker_on(place: Servers, host: Host, doors: list[Door], root: Path) -> Worker:
    """A worker that knows both servers by addresses that only its host has."""
    bolt = urlsplit(open_uri())
    store = Door(host.ours, (socket.AF_INET, (str(bolt.hostname), int(bolt.port or 0))))
    bus = Door(host.ours, (socket.AF_UNIX, place.valkey.url))
    doors += [store, bus]
    env = {
        "ATLAS_STORE_URL": f"bolt://{host.ours}:{store.port}",
        "ATLAS_BUS_URL": f"valkey://{host.ours}:{bus.port}",
    }
    return place.worker("--project", str(root), before=host.enter, **env)


@pytest.mark.skipif(not are_possible(), reason="no network namespaces: needs root and `ip`")
def test_a_host_that_is_cut_off_is_followed_and_comes_back(tmp_path: Path) -> None:
    files = tree(20, random.Random(1))
    roots = [tmp_path / name / PROJECT for name in ("one", "two")]
    for root in roots:
        write_tree(root, files)
    doors: list[Door] = []
    with hosts(2) as (here, there), servers(tmp_path) as place, place.asked() as asked:
        try:
            first = worker_on(place, here, doors, roots[0])
            asked.until_holder([first])
            second = worker_on(place, there, doors, roots[1])
            asked.settle()
            before = graph()
            here.unplug()
            cut = time.monotonic()
            asked.until_holder([second])
            assert time.monotonic() - cut < 30
            (roots[1] / "later.py").write_text("def later():\n    return 1\n")
            asked.settle()
            here.plug_in()
            time.sleep(3)
            (roots[1] / "last.py").write_text("def last():\n    return 1\n")
            asked.settle()
            after = graph()
            assert asked.holder() == second.process.pid
            assert first.process.poll() is None, first.said()
            assert {"later", "last"} <= {
                line.split('"qualified_name": "')[1].split('"')[0] for line in after["symbols"]
            }
            assert {line for line in before["entries"]} <= set(after["entries"])
        finally:
            for door in doors:
                door.close()
