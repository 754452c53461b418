"""What the answers of a health check mean: state and advice, without any server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from atlas.code.tools.state import health_checks as judge
from atlas.code.tools.state.daemon import DaemonStatus
from atlas.core.errors import Unavailable
from atlas.core.model import ModelInfo


@dataclass(frozen=True)
class Bus:
    version: str = "8.1"
    used_bytes: int = 10 << 20
    cap_bytes: int = 0
    logs: bool = True
    log_problem: str = ""


@dataclass(frozen=True)
class Server:
    agent: str = "Neo4j/5.26"
    indexes: int = 4
    missing: tuple[str, ...] = ()


RUNNING, GONE = DaemonStatus("running", "", ""), DaemonStatus("gone", "", "atlas daemon start")


@pytest.mark.parametrize(
    ("facts", "daemon", "state", "word"),
    [
        (Bus(), RUNNING, "ok", "log on disk"),
        (Bus(logs=False), RUNNING, "ok", "scans everything"),
        (Bus(cap_bytes=11 << 20), RUNNING, "warning", "nearly full"),
        (Bus(cap_bytes=100 << 20), RUNNING, "ok", "of 100"),
        (Bus(log_problem="aof_last_write_status is err"), RUNNING, "warning", "aof_last_write_status is err"),
        (None, RUNNING, "warning", "does not answer"),
        (None, GONE, "ok", "does not answer"),
    ],
)
def test_the_bus(facts: Bus | None, daemon: DaemonStatus, state: str, word: str) -> None:
    check = judge.bus_check(facts, daemon, "own server")
    assert (check.name, check.state) == ("bus", state)
    assert word in check.detail


def test_an_error_keeps_its_hint() -> None:
    refused = judge.bus_failure(Unavailable("away", "start it"), "configured server", 1.0)
    silent = judge.bus_failure(TimeoutError(), "own server", 1.0)
    assert (refused.detail, refused.fix) == ("configured server: away", "start it")
    assert (silent.detail, silent.fix) == ("own server: no answer within 1 s", "see `atlas daemon logs`")
    assert judge.store_failure(Unavailable("away", "start it"), "x", 10).fix == "start it"
    assert judge.embedder_failure(Unavailable("away", "start it"), "TEI").fix == "start it"


def test_the_store_server() -> None:
    assert judge.store_check(Server(), "bolt://x", "atlas index").state == "ok"
    assert judge.store_check(Server(indexes=0), "bolt://x", "atlas index").state == "missing"
    broken = judge.store_check(Server(missing=("a", "b", "c", "d")), "bolt://x", "atlas index")
    assert (broken.state, broken.detail) == ("broken", "Neo4j/5.26 at bolt://x: 4 indexes missing: a, b, c")


def test_disk_and_model() -> None:
    assert judge.disk_check(Path("/x"), 1 << 40, writable=False).state == "broken"
    assert judge.disk_check(Path("/x"), judge.MIN_FREE_BYTES - 1, writable=True).state == "missing"
    assert judge.disk_check(Path("/x"), judge.MIN_FREE_BYTES, writable=True).state == "ok"
    made, stored = ModelInfo("tei", "b", 384, "2"), ModelInfo("static", "a", 256, "1")
    assert judge.model_checks(made, None, "atlas index") == judge.model_checks(made, made, "atlas index") == []
    assert [check.state for check in judge.model_checks(made, stored, "atlas index")] == ["warning"]
