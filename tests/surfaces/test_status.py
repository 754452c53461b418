"""`atlas status` and `health`: what is said of the daemon, its streams and tiers, in every state that it can be in."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from atlas._parser import count_tokens
from atlas.adapters.buses.memory import MemoryBus
from atlas.adapters.buses.valkey import paths as valkey_paths
from atlas.adapters.buses.valkey.connection import Connection
from atlas.answers.answer import structure_text, to_dict
from atlas.answers.assemble import tokens_of
from atlas.app.bus import connect_bus_of_running_daemon
from atlas.app.health import check_health, look_at_daemon
from atlas.app.toolsets import BY_NAME
from atlas.code.atlas import Atlas
from atlas.code.index.daemon_client import read_state
from atlas.code.index.events import AST_DIRTY, EMBED_DIRTY, FILE_CHANGED
from atlas.code.index.heartbeat import DAEMON
from atlas.code.tools.state.daemon import DaemonStatus, Trace, look
from atlas.code.tools.state.health import Check
from atlas.code.tools.state.index import status
from atlas.core.contracts import Bus
from atlas.core.errors import ConfigError, Unavailable
from atlas.core.events import Event, StreamState
from atlas.core.model import Decision, GraphDelta
from atlas.runtime.config.load import load_settings

from .daemons import Home, home, until
from .processes import atlas, environment
from .stage import Stage, stage, told

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the daemon needs Linux or macOS")

NOW = 1_800_000_000.0
ALIVE = Trace(4242, True, NOW - 3600)
KILLED = replace(ALIVE, alive=False)


@pytest.fixture(autouse=True)
def all_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """The own bus server knows every command: tests change its settings while it runs."""
    monkeypatch.setattr(valkey_paths, "REFUSED_COMMANDS", ())


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Stage]:
    async with stage(tmp_path) as one:
        yield one


class Deaf(MemoryBus):
    """A bus that takes every question and answers none."""

    async def states(self) -> list[StreamState]:
        await asyncio.Event().wait()
        return []


def connecting(bus: Bus | None, error: Exception | None = None) -> Callable[[], Any]:
    async def connect() -> Bus | None:
        if error is not None:
            raise error
        return bus

    return connect


async def noted(text: str) -> MemoryBus:
    bus = MemoryBus()
    await bus.publish(AST_DIRTY, [Event("shop", "a.py"), Event("shop", "b.py"), Event("shop", "c.py")])
    await bus.take(AST_DIRTY, "ast", 1, 0)
    await bus.publish(FILE_CHANGED, [Event("shop", "")])
    await bus.take(FILE_CHANGED, "graph", 1, 0)
    await bus.send_heartbeat(DAEMON, text, 60)
    return bus


async def seen(bus: Bus | None, trace: Trace, error: Exception | None = None) -> DaemonStatus:
    return await look(connecting(bus, error), trace, DAEMON, NOW, 0.2)


# --- the states of a daemon ---


async def test_without_a_trace_of_a_daemon_nothing_is_asked(tmp_path: Path) -> None:
    daemon = await seen(None, Trace(), AssertionError("somebody looked for a bus"))
    assert (daemon.state, daemon.fix) == ("off", "atlas daemon start")
    assert "not running: each answer checks the tree first" in daemon.detail


async def test_a_running_daemon_tells_of_streams_tiers_and_projects() -> None:
    daemon = await seen(await noted(json.dumps(told(Path("/shop"), NOW - 0.5))), ALIVE)
    assert (daemon.state, daemon.detail, daemon.pid, daemon.version) == ("running", "running, idle", 4242, "0.1.0")
    assert (daemon.resident_bytes >> 20, daemon.told_ago) == (180, 0.5)
    graph, ast, embed = daemon.tiers
    assert (graph.tier, graph.stream, graph.length, graph.waiting, graph.pending) == ("graph", FILE_CHANGED, 1, 0, 1)
    assert (ast.tier, ast.stream, ast.length, ast.waiting, ast.pending) == ("ast", AST_DIRTY, 3, 2, 1)
    assert (embed.tier, embed.stream, embed.length) == ("embed", EMBED_DIRTY, 0), "a tier that took nothing yet"
    assert (ast.rate, ast.events, ast.last_events, ast.last_seconds, ast.last_ago) == (0.2, 12, 2, 0.0041, 5.5)
    (project,) = daemon.projects
    assert (project.mode, project.folders, project.looked_ago, project.looked_at[:4]) == ("watching", 3, 60.5, "2027")


async def test_what_a_tier_waits_for_is_what_the_daemon_waits_for() -> None:
    note = told(Path("/shop"), NOW)
    note["tiers"][2] |= {"waits_for": "the embedder is away", "errors": 7, "last_error": "boom"}
    daemon = await seen(await noted(json.dumps(note)), ALIVE)
    assert daemon.detail == "running, waiting: the embedder is away"
    assert (daemon.tiers[2].errors, daemon.tiers[2].last_error) == (7, "boom")


@pytest.mark.parametrize(
    ("trace", "state", "words"),
    [
        (ALIVE, "stuck", "the process is alive, but it has not reported recently"),
        (replace(ALIVE, since=NOW - 3), "starting", "no report yet"),
        (replace(ALIVE, phase="waiting", detail="process 7 is writing"), "starting", "process 7 is writing"),
        (KILLED, "gone", "process 4242 ended without a clean shutdown"),
    ],
)
@pytest.mark.parametrize("note", ["", json.dumps(told(Path("/shop"), NOW - 16)), "[]", "{", '{"heartbeat_at": "now"}'])
async def test_a_daemon_that_tells_nothing_of_use(note: str, trace: Trace, state: str, words: str) -> None:
    daemon = await seen(await noted(note), trace)
    assert daemon.state == state
    assert words in daemon.detail
    assert [(tier.tier, tier.waiting, tier.told) for tier in daemon.tiers] == [("graph", 0, False), ("ast", 2, False)]
    assert daemon.fix == {"stuck": "atlas daemon restart", "gone": "atlas daemon start"}.get(state, "")


async def test_the_note_of_a_killed_daemon_is_not_believed() -> None:
    assert (await seen(await noted(json.dumps(told(Path("/shop"), NOW - 2))), KILLED)).state == "gone"


@pytest.mark.parametrize(
    ("bus", "error", "words"),
    [
        (None, None, "its bus does not answer"),
        (Deaf(), None, "its bus did not answer within 0.2 s"),
        (None, Unavailable("the bus is loading"), "the bus is loading"),
        (None, ConfigError("the bus refuses this user"), "the bus refuses this user"),
    ],
)
async def test_a_bus_that_does_not_answer_costs_no_more_than_the_deadline(
    bus: Bus | None, error: Exception | None, words: str
) -> None:
    started = time.monotonic()
    stuck = await seen(bus, ALIVE, error)
    assert (stuck.state, words in stuck.detail) == ("stuck", True), stuck
    assert (await seen(bus, KILLED, error)).state == "gone"
    assert time.monotonic() - started < 1


async def test_strange_values_in_a_note_do_no_harm() -> None:
    note = told(Path("/shop"), NOW, resident_bytes="much", version=None, looked_at=1e300, folders=[], watch=7)
    note["tiers"] = [3, {"tier": "graph", "rate": float("inf"), "last_at": -1, "busy": "yes", "last_error": "x" * 9999}]
    daemon = await seen(await noted(json.dumps(note)), ALIVE)
    assert (daemon.state, daemon.resident_bytes, daemon.version) == ("running", 0, "")
    assert (daemon.projects[0].looked_at, daemon.projects[0].mode, daemon.projects[0].folders) == ("", "", 0)
    assert (daemon.tiers[0].rate, daemon.tiers[0].last_ago, daemon.tiers[0].busy) == (0.0, -1.0, False)
    assert len(daemon.tiers[0].last_error) <= 500


# --- the tool under its budget ---


def running(**changes: Any) -> DaemonStatus:
    return asyncio.run(_running(changes))


async def _running(changes: dict[str, Any]) -> DaemonStatus:
    return await seen(await noted(json.dumps(told(Path("/shop"), NOW, **changes))), ALIVE)


RUNNING, POLLING = running(), running(watch="polling", watch_reason="too few inotify watches")
OFF = asyncio.run(look(connecting(None), Trace(), DAEMON, NOW))


async def given(daemon: DaemonStatus | None) -> DaemonStatus | None:
    return daemon


async def test_text_for_agents(shop: Atlas) -> None:
    text = (await status(shop, daemon=given(POLLING))).render()
    assert (
        "daemon running, idle (pid 4242 since 2027-01-15T07:00:00+00:00, 180 MB, version 0.1.0)\nproject shop at"
        in text
    )
    assert "\n  polling: too few inotify watches; last full scan 2027-01-15T07:59:00+00:00 in 12 ms\n" in text
    assert (
        "\ntier ast of atlas:ast-dirty: length 3, 2 waiting, 1 pending, 0 dead; 0.2 events/s, 12 events so far, "
        "last batch 2 in 4 ms, 5 s ago\n"
    ) in text
    off = (await status(shop, daemon=given(OFF))).render()
    assert "daemon not running: each answer checks the tree first -> atlas daemon start\n" in off
    assert "tier " not in off
    assert "daemon" not in (await status(shop)).render()


async def test_stale_files_symbols_and_decisions_are_counted(shop: Atlas) -> None:
    store = shop.reader.store
    record = (await store.records("shop", ["shop/cart.py"]))["shop/cart.py"]
    (uid,) = [node.row.uid for node in await store.symbols(["shop:shop.cart.apply_discount"])]
    decisions = [Decision(uid, True, "body"), Decision(uid, False, "comment"), Decision(uid, True, "body")]
    (before,) = (await status(shop)).projects
    await store.apply([GraphDelta("shop", "shop/cart.py", replace(record, stale=True), decisions=decisions)])
    (project,) = (await status(shop)).projects
    assert (before.stale_files, project.stale_files) == (0, 1)
    assert before.symbols == sum(each.count for each in before.labels if each.name in ("Class", "Function", "Method"))
    assert {each.name: each.count for each in project.decisions} == {"body": 2, "comment": 1}
    assert project.stale_symbols == 0
    text = (await status(shop)).render()
    assert "  stale: 1 file, 0 symbols without an up-to-date vector\n" in text
    assert "  changes by reason: body 2, comment 1\n" in text


@pytest.mark.parametrize("daemon", [RUNNING, POLLING, OFF, None], ids=["running", "polling", "off", "unasked"])
async def test_every_budget_is_kept_and_the_daemon_is_cut_last(shop: Atlas, daemon: DaemonStatus | None) -> None:
    whole = await status(shop, daemon=given(daemon), skipped=True, token_budget=200_000)
    assert whole.evidence.withheld == ()
    for budget in (1, 60, 120, 200, 300, 400, whole.evidence.tokens - 1, whole.evidence.tokens):
        answer = await status(shop, daemon=given(daemon), skipped=True, token_budget=budget)
        jsonschema.validate(answer.structure(), BY_NAME["status"].output_schema)
        if answer.evidence.below_floor:
            assert budget < 200
            continue
        assert max(count_tokens(answer.render()), count_tokens(structure_text(answer))) == answer.evidence.tokens
        assert answer.evidence.tokens <= budget
        assert bool(answer.evidence.withheld) is (budget < whole.evidence.tokens)
        if daemon is not None:
            assert answer.daemon is not None
            assert (answer.daemon.state, answer.daemon.detail) == (daemon.state, daemon.detail)


async def test_text_and_structure_say_the_same_for_about_the_same(shop: Atlas) -> None:
    answer = await status(shop, daemon=given(POLLING))
    text, content = answer.render(), answer.structure()
    assert 0.6 < count_tokens(structure_text(answer)) / count_tokens(text) < 1.6
    assert tokens_of(shop.reader.counter, answer) < 800
    assert content["daemon"]["resident_mb"] == 180  # type: ignore[index]
    assert content["projects"][0]["watch"].startswith("polling: too few inotify watches")  # type: ignore[index]
    assert [tier["waiting"] for tier in content["tiers"]] == [0, 2, 0]  # type: ignore[index, attr-defined]


async def test_the_json_form_has_all_of_it(shop: Atlas) -> None:
    document = to_dict(await status(shop, daemon=given(RUNNING)))
    assert isinstance(document, dict)
    daemon = document["daemon"]
    assert {
        "state",
        "detail",
        "pid",
        "version",
        "started_at",
        "resident_bytes",
        "told_ago",
        "tiers",
        "projects",
    } == set(daemon)
    assert {"tier", "stream", "length", "waiting", "pending", "dead", "rate", "last_ago", "errors"} <= set(
        daemon["tiers"][0]
    )
    assert {"project", "ready", "mode", "folders", "looked_at", "looked_ago"} <= set(daemon["projects"][0])
    assert {"files", "symbols", "edges", "stale_files", "stale_symbols", "generation"} <= set(document["projects"][0])


# --- a real bus, and a daemon that a test plays ---


async def test_streams_and_dead_letters_of_a_real_bus(here: Stage) -> None:
    await here.bury("a.py", "b.py")
    await here.bus.publish(AST_DIRTY, [Event("shop", f"{n}.py") for n in range(5)])
    await here.bus.take(AST_DIRTY, "ast", 2, 0)
    here.daemon_runs()
    await here.tell()
    document = json.loads(atlas("status", "--json", *here.options).stdout)
    ast = document["daemon"]["tiers"][1]
    assert (ast["length"], ast["waiting"], ast["pending"], ast["dead"]) == (5, 3, 2, 2)
    done = atlas("status", *here.options)
    assert done.stderr == ""
    assert "2 dead letters -> atlas dead-letters list" in done.stdout
    here.daemon_is_killed()
    gone = atlas("status", *here.options).stdout
    assert "daemon gone: process 4242 ended without a clean shutdown" in gone
    assert f"-> atlas daemon start --project {here.place.root} --data-dir {here.place.data}" in gone
    assert "length 5, 3 waiting, 2 pending, 2 dead\n" in gone


async def test_a_frozen_bus_server_is_not_waited_for(here: Stage) -> None:
    here.daemon_runs()
    await here.tell()
    os.kill(here.server.pid, signal.SIGSTOP)
    try:
        started = time.monotonic()
        daemon = await look_at_daemon(here.settings)
        assert time.monotonic() - started < 1.5
    finally:
        os.kill(here.server.pid, signal.SIGCONT)
    assert daemon.state == "stuck"
    assert "bus" in daemon.detail
    assert (await look_at_daemon(here.settings)).state == "running"


def named(checks: Sequence[Check], name: str) -> Check:
    (found,) = [check for check in checks if check.name == name]
    return found


async def test_health_of_daemon_bus_and_watching(here: Stage) -> None:
    here.daemon_runs()
    await here.tell()
    answer = await check_health(here.settings)
    assert named(answer.checks, "daemon").state == "ok"
    assert named(answer.checks, "daemon").detail.startswith("running, idle (pid 4242 since ")
    bus = named(answer.checks, "bus")
    assert bus.state == "ok"
    assert bus.detail.startswith("own server: Valkey ")
    assert bus.detail.endswith("MB of 128 MB used, log on disk")
    assert named(answer.checks, "watching") == Check("watching", "ok", "shop: 3 folders")
    assert not [check for check in answer.checks if check.name == "letters"]


async def test_health_warns_and_says_what_to_do(here: Stage) -> None:
    await here.bury("a.py")
    here.daemon_runs()
    await here.tell(watch="polling", watch_reason="too few inotify watches (fs.inotify.max_user_watches)")
    link = Connection.open(here.server.url)
    await link.call("CONFIG", "SET", "maxmemory", 600_000, "appendonly", "no")
    await link.aclose()
    answer = await check_health(here.settings)
    assert answer.state == "degraded"
    watching = named(answer.checks, "watching")
    assert watching.state == "warning"
    assert "sysctl fs.inotify.max_user_watches=" in watching.fix
    letters = named(answer.checks, "letters")
    assert (letters.state, letters.detail) == ("warning", "1 event failed permanently")
    assert letters.fix.startswith("atlas dead-letters list --project ")
    bus = named(answer.checks, "bus")
    assert bus.state == "warning"
    assert "nearly full" in bus.detail
    assert "no log on disk" in bus.detail
    shown = atlas("health", *here.options)
    assert shown.returncode == 0
    assert "\nwarning watching: shop: scanned at intervals only: too few inotify watches" in shown.stdout


async def test_health_of_a_stuck_and_of_a_killed_daemon(here: Stage) -> None:
    here.daemon_runs()
    stuck = atlas("health", *here.options)
    assert stuck.returncode == 1
    assert "health: broken\nbroken daemon: stuck: the process is alive, but it has not reported" in stuck.stdout
    assert "-> atlas daemon restart" in stuck.stdout
    here.daemon_is_killed()
    answer = await check_health(here.settings)
    daemon = named(answer.checks, "daemon")
    assert (daemon.state, answer.state) == ("warning", "degraded")
    assert "ended without a clean shutdown" in daemon.detail
    assert named(answer.checks, "bus").state == "ok", "a server that was left behind is no defect of the server"


async def test_a_configured_bus_that_is_away_is_a_warning(here: Stage) -> None:
    (here.place.root / "atlas.toml").write_text("")
    done = atlas("health", "--json", *here.options, env={"ATLAS_BUS_URL": f"unix://{here.place.data}/nobody.sock"})
    checks = [Check(**check) for check in json.loads(done.stdout)["checks"]]
    assert named(checks, "bus").state == "warning"
    assert "configured server: the bus at " in named(checks, "bus").detail
    assert named(checks, "daemon").state == "ok"


# --- no daemon ---


async def test_without_a_daemon_nothing_is_loaded_started_or_written(here: Stage) -> None:
    here.server.stop()
    # a session keeps the scanned tree for the next one, and the status its counts
    passing = (".db-wal", ".db-shm", ".bin", "counts.json")
    before = sorted(path for path in here.place.data.rglob("*") if not path.name.endswith(passing))
    done = _run_and_list_modules("status", *here.options)
    assert (done.returncode, done.stderr.strip()) == (0, "")
    assert "daemon not running: each answer checks the tree first -> atlas daemon start --project" in done.stdout
    after = sorted(path for path in here.place.data.rglob("*") if not path.name.endswith(passing))
    assert after == before
    health = json.loads(atlas("health", "--json", *here.options).stdout)
    checks = [Check(**check) for check in health["checks"]]
    assert (named(checks, "daemon").state, named(checks, "daemon").fix[:18]) == ("ok", "atlas daemon start")
    assert named(checks, "bus") == Check("bus", "ok", "the daemon starts its own server")


def _run_and_list_modules(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command and print on standard error which modules it loaded that it should not."""
    script = (
        "import sys; from atlas.cli.main import _run; code = _run(); "
        "print(*sorted(name for name in sys.modules if name.split('.')[0] in ('valkey', 'rich')), file=sys.stderr); "
        "sys.exit(code)"
    )
    return subprocess.run(
        [sys.executable, "-c", script, *arguments], env=environment(), capture_output=True, text=True, timeout=60
    )


# --- a real daemon ---


async def test_a_real_daemon_from_start_to_its_violent_end(tmp_path: Path) -> None:
    with home(tmp_path) as place:
        pid = place.ask("daemon", "start")["pid"]
        (place.root / "pkg" / "two.py").write_text("def gamma():\n    return 2\n")
        await place.until_known("gamma")
        _check_running(place, pid)
        os.kill(pid, signal.SIGKILL)
        gone = until(lambda: _daemon_line(place, "gone"), "the end of the daemon")
        assert gone.endswith("-> atlas daemon start")
        assert place.ask("health")["state"] == "degraded"
        place.run("daemon", "start")
        assert place.ask("status")["daemon"]["state"] == "running"
        os.kill(place.running().pid, signal.SIGKILL)
        until(lambda: _daemon_line(place, "gone"), "the end of the daemon")
        place.run("daemon", "stop")
        assert _daemon_line(place, "not running"), "whoever stops it knows that it is gone"
        assert not place.socket.exists()


def _check_running(place: Home, pid: int) -> None:
    document = until(lambda: _with_events(place), "tiers at work")
    daemon = document["daemon"]
    assert (daemon["state"], daemon["pid"]) == ("running", pid)
    assert daemon["version"] in atlas("--version").stdout
    assert daemon["resident_bytes"] > 1 << 20
    assert [(tier["tier"], tier["stream"], tier["told"]) for tier in daemon["tiers"]] == [
        ("graph", FILE_CHANGED, True),
        ("ast", AST_DIRTY, True),
        ("embed", EMBED_DIRTY, True),
    ]
    (watch,) = daemon["projects"]
    assert (watch["project"], watch["ready"], watch["mode"], watch["stale_files"]) == ("first", True, "watching", 0)
    assert 0 <= watch["looked_ago"] < 60
    (project,) = document["projects"]
    assert {each["name"] for each in project["decisions"]} == {"added"}
    until(lambda: place.ask("health")["state"] == "ok", "the end of the first index, which is told when it has rested")


def _with_events(place: Home) -> dict[str, Any] | None:
    document = place.ask("status")
    tiers = document["daemon"].get("tiers", [])
    return document if tiers and all(tier["last_ago"] >= 0 for tier in tiers) else None


def _daemon_line(place: Home, words: str) -> str:
    lines = place.run("status").stdout.splitlines()
    return next((line for line in lines if line.startswith(f"daemon {words}")), "")


def test_what_tests_say_for_the_daemon_is_what_it_says(tmp_path: Path) -> None:
    """The notes that the tests above make up have the keys of the real one."""
    with home(tmp_path) as place:
        place.ask("daemon", "start")
        real = asyncio.run(_real_note(place))
    made = told(tmp_path, time.time())
    assert set(made) == set(real)
    assert set(made["tiers"][0]) == set(real["tiers"][0])
    assert set(made["projects"][0]) <= set(real["projects"][0])


async def _real_note(place: Home) -> dict[str, Any]:
    bus = await connect_bus_of_running_daemon(load_settings(str(place.root), str(place.data), environment={}))
    assert bus is not None
    try:
        note = await read_state(bus)
    finally:
        await bus.aclose()
    assert note is not None
    return note
