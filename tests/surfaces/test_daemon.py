"""The daemon as a process: start, status, stop, what it survives, and what it leaves behind."""

from __future__ import annotations

import configparser
import json
import os
import plistlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas._parser import VectorIndex
from atlas.adapters.buses.valkey.server import ManagedServer
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.runtime.process.daemon import find_running
from atlas.runtime.process.data_folder import make_folder
from tests.raw_database import raw

from .daemons import Home, home, is_alive, until
from .processes import environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the daemon needs Linux or macOS")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Home]:
    with home(tmp_path) as one:
        yield one


async def test_start_work_stop(place: Home) -> None:
    started = place.ask("daemon", "start")
    assert started["started"] is True
    assert started["roots"] == [str(place.root)]
    # on a busy machine a first index may take longer than the command waits
    assert started["phase"] in ("indexing", "ready")
    place.running("ready")
    server = place.server_pid()
    again = place.ask("daemon", "start")
    assert (again["started"], again["pid"]) == (False, started["pid"])
    assert f"already running: process {started['pid']}" in place.run("daemon", "start", str(place.root)).stdout

    status = place.ask("daemon", "status")
    assert (status["running"], status["pid"], status["phase"]) == (True, started["pid"], "ready")
    assert status["resident_bytes"] > 1_000_000
    (project,) = status["projects"]
    assert (project["project"], project["ready"], project["files"]) == ("first", True, 1)

    (place.root / "pkg" / "two.py").write_text("def gamma():\n    return 2\n")
    await place.until_known("gamma")
    assert "gamma() pkg/two.py:1" in place.run("search", "gamma").stdout

    stopped = place.run("daemon", "stop")
    assert f"stopped: process {started['pid']}" in stopped.stdout
    until(lambda: not is_alive(started["pid"]), "the end of the process", 0.5)
    assert not is_alive(server)
    assert not place.socket.exists()
    assert place.ask("daemon", "status", code=3) == {"running": False, "data_dir": str(place.data)}
    assert "not running" in place.run("daemon", "stop").stdout

    log = place.log()
    assert [entry["message"] for entry in (log[0], log[-1])] == ["start", "end"]
    assert all(set(entry) == {"time", "level", "message", "fields"} for entry in log)
    assert not [entry for entry in log if entry["level"] != "info"]
    shown = place.run("daemon", "logs", "-n", "2").stdout.splitlines()
    assert len(shown) == 2
    assert shown[1].endswith(" end")
    assert json.loads(place.run("daemon", "logs", "-n", "1", "--json").stdout) == log[-1]


async def test_a_killed_daemon_is_followed_by_one_that_takes_its_server_over(place: Home) -> None:
    first = place.ask("daemon", "start")["pid"]
    server = place.server_pid()
    os.kill(first, signal.SIGKILL)
    until(lambda: find_running(place.data) is None, "the lock is free")
    assert is_alive(server)
    assert place.ask("daemon", "status", code=3)["running"] is False
    (place.root / "pkg" / "two.py").write_text("def gamma():\n    return 2\n")
    second = place.ask("daemon", "start")
    assert second["started"] is True
    assert second["pid"] != first
    assert place.server_pid() == server
    await place.until_known("gamma")
    os.kill(second["pid"], signal.SIGKILL)
    until(lambda: find_running(place.data) is None, "the lock is free")
    assert "ended a bus server" in place.run("daemon", "stop").stdout
    assert not is_alive(server)
    assert not place.socket.exists()


async def test_a_bus_server_that_is_killed_comes_back_and_nothing_is_lost(place: Home) -> None:
    place.ask("daemon", "start")
    server = place.server_pid()
    os.kill(server, signal.SIGKILL)
    (place.root / "pkg" / "two.py").write_text("def gamma():\n    return 2\n")
    await place.until_known("gamma")
    until(lambda: place.server_pid() != server and is_alive(place.server_pid()), "another server")
    assert [entry for entry in place.log() if "restarting it" in entry["message"]]


def test_index_beside_a_daemon_is_done_by_it(place: Home, tmp_path: Path) -> None:
    place.ask("daemon", "start")
    for number in range(5):
        (place.root / "pkg" / f"more{number}.py").write_text(f"def many{number}():\n    return {number}\n")
    summary = place.ask("index")
    assert (summary["by"], summary["project"], summary["files"]) == ("daemon", "first", 6)
    assert "many4" in place.run("node", "many4").stdout
    (place.root / "pkg" / "more4.py").unlink()
    quick = place.run("index", PYTHONPROFILEIMPORTTIME="1")
    assert "by the daemon" in quick.stdout
    place.run("node", "many4", code=3)
    assert not {"typer", "pydantic", "rich", "asyncio", "valkey"} & set(re.split(r"[\s|.]+", quick.stderr))
    # a form that the option parser reads goes over the bus
    parsed = place.run("index", "--no-wait").stdout.splitlines()
    again = place.run("index").stdout.splitlines()
    assert [line for line in again if "CPU s" not in line] == [line for line in parsed if "CPU s" not in line]

    refused = place.run("index", "--full", code=7)
    assert "atlas daemon stop" in refused.stderr
    other = tmp_path / "other"
    other.mkdir()
    refused = place.run("index", str(other), "--data-dir", str(place.data), code=7)
    assert "serves first, not other" in refused.stderr
    assert "restart" in refused.stderr
    assert "stop" in refused.stderr


async def test_a_daemon_waits_for_an_index_run_and_ends_in_order_on_a_signal(place: Home) -> None:
    store = EmbeddedStore.open(place.data, writing=True, vector_index=VectorIndex)
    process = place.foreground()
    try:
        assert f"process {os.getpid()} is writing" in place.running("waiting").detail
    finally:
        await store.aclose()
    assert place.running().pid == process.pid
    server = place.server_pid()
    process.send_signal(signal.SIGTERM)
    output, log = process.communicate(timeout=20)
    assert (process.returncode, output) == (0, b"")
    lines = log.decode().splitlines()
    assert " start version=" in lines[0]
    assert any(" waiting for=process" in line for line in lines)
    assert lines[-1].endswith(" end")
    assert not is_alive(server)
    assert not place.socket.exists()


async def test_a_second_signal_ends_it_at_once(place: Home) -> None:
    process = place.foreground()
    place.running()
    server = place.server_pid()
    blocker = raw(place.data / "atlas.db")
    blocker.execute("BEGIN IMMEDIATE")
    try:
        (place.root / "pkg" / "two.py").write_text("def gamma():\n    return 2\n")
        await place.until_busy()
        process.send_signal(signal.SIGINT)
        until(lambda: "stopping" in place.log_text(), "the first signal")
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=4) == 130
    finally:
        blocker.close()
    assert not is_alive(server)
    assert find_running(place.data) is None


async def test_two_projects_in_one_daemon(place: Home, tmp_path: Path) -> None:
    second = tmp_path / "second"
    second.mkdir()
    (second / "main.py").write_text("def omega():\n    return 3\n")
    started = place.ask("daemon", "start", str(place.root), str(second))
    assert started["roots"] == [str(place.root), str(second)]
    assert started["data_dir"] == str(place.data)
    (second / "late.py").write_text("def latecomer():\n    return 4\n")
    await place.until_known("latecomer", second)
    assert await place.knows("omega", second)
    assert await place.knows("alpha")
    assert place.ask("daemon", "start")["started"] is False
    refused = place.run("daemon", "start", str(place.root), code=1)
    assert "atlas daemon restart" in refused.stderr
    again = place.ask("daemon", "restart")
    assert again["started"] is True
    assert again["roots"] == started["roots"]
    assert again["pid"] != started["pid"]
    one = place.ask("daemon", "restart", str(place.root))
    assert one["roots"] == [str(place.root)]


def test_a_daemon_whose_data_folder_is_taken_away_ends(place: Home) -> None:
    process = place.foreground()
    place.running()
    server = place.server_pid()
    shutil.rmtree(place.data)
    _, log = process.communicate(timeout=20)
    assert process.returncode == 5
    assert b"was removed or replaced" in log
    assert b"Traceback" not in log
    assert not is_alive(server)


def test_a_bus_of_ones_own_is_used_and_left_running(place: Home, tmp_path: Path) -> None:
    server = ManagedServer.start(tmp_path / "elsewhere")
    try:
        url = f"unix://{server.url}"
        assert place.ask("daemon", "start", ATLAS_BUS_URL=url)["bus"] == server.url
        assert place.ask("index", ATLAS_BUS_URL=url)["by"] == "daemon"
        assert not (place.data / "valkey").exists()
        place.run("daemon", "stop")
        assert server.alive()
        gone = "unix:///nowhere/bus.sock"
        assert "cannot be reached" in place.run("daemon", "start", code=7, ATLAS_BUS_URL=gone).stderr
        secret = "valkey://user:hidden@127.0.0.1:1/0"
        done = place.run("daemon", "start", code=7, ATLAS_BUS_URL=secret)
        shown = place.run("config", "show", ATLAS_BUS_URL=secret).stdout
        assert "user:***@127.0.0.1:1" in shown
        assert "hidden" not in done.stdout + done.stderr + shown + place.log_text()
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "no such folder: nowhere"),
        (["pkg/one.py"], "not a folder: pkg/one.py"),
        ([".", "--data-dir", "pkg/one.py"], "is not a folder"),
        ([".", "copy/first"], "two projects are named first"),
        ([".", "--project", "."], "both ROOT and --project"),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_is_made(place: Home, words: list[str], message: str) -> None:
    (place.root / "copy" / "first").mkdir(parents=True)
    done = place.run("daemon", "start", *words, code=2)
    assert message in done.stderr
    assert "hint: " in done.stderr
    assert not place.data.exists()


def test_a_folder_where_no_socket_can_be_made_is_an_error_with_a_hint(place: Home) -> None:
    make_folder(place.data, place.root)
    (place.data / "valkey").write_text("in the way")
    done = place.run("daemon", "start", code=2)
    assert str(place.data / "valkey") in done.stderr
    assert "hint: " in done.stderr
    assert find_running(place.data) is None
    (ended,) = [entry for entry in place.log() if entry["message"] == "ended"]
    assert ended["level"] == "warning"


def test_a_crash_is_in_the_log_with_its_traceback_and_leaves_nothing_behind(place: Home, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "valkey.py").write_text("raise RuntimeError('broken library')\n")
    path = os.pathsep.join([str(broken), environment()["PYTHONPATH"]])
    done = place.run("daemon", "start", code=1, PYTHONPATH=path)
    assert "RuntimeError: broken library" in done.stderr
    assert "Traceback" not in done.stderr
    (crash,) = [entry for entry in place.log() if entry["level"] == "error"]
    assert crash["message"] == "crashed"
    assert "RuntimeError: broken library" in crash["fields"]["traceback"]
    (server,) = [entry for entry in place.log() if entry["message"] == "bus server"]
    assert not is_alive(server["fields"]["pid"])
    assert find_running(place.data) is None
    place.ask("daemon", "start")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_data_folder_that_cannot_be_written_is_an_error_with_a_hint(place: Home) -> None:
    place.data.mkdir(mode=0o500)
    done = place.run("daemon", "start", code=2)
    assert "cannot write to the data folder" in done.stderr
    assert "--data-dir" in done.stderr


def test_what_install_prints_is_what_the_system_reads(place: Home, tmp_path: Path) -> None:
    root = tmp_path / 'a "quoted" $HOME 100% folder'
    root.mkdir()
    done = place.run("daemon", "install", "--print", "--systemd", str(root))
    unit = configparser.RawConfigParser()
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(done.stdout)
    words = [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(unit["Service"]["ExecStart"])]
    command = [sys.executable, "-P", "-m", "atlas", "daemon", "start", "--foreground", "--", str(root)]
    assert words == command
    assert "systemctl --user" in done.stderr
    done = place.run("daemon", "install", "--print", "--launchd", str(root), ATLAS_BUS_URL="valkey://u:hidden@h")
    agent = plistlib.loads(done.stdout.encode())
    assert agent["ProgramArguments"] == command
    assert "ATLAS_BUS_URL" in done.stderr
    assert "hidden" not in done.stderr + done.stdout
    before = sorted(tmp_path.rglob("*"))
    assert "--print" in place.run("daemon", "install", code=2).stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_logs_follow_the_file(place: Home) -> None:
    assert "there is no log" in place.run("daemon", "logs", code=3).stderr
    place.ask("daemon", "start")
    following = subprocess.Popen(
        [sys.executable, "-P", "-m", "atlas", "daemon", "logs", "-n", "1", "--follow"],
        cwd=place.root,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    place.processes.append(following)  # type: ignore[arg-type]
    assert following.stdout is not None
    assert following.stdout.readline()
    place.run("daemon", "stop")
    seen = [following.stdout.readline() for _ in range(2)]
    assert "stopping" in seen[0]
    assert seen[1].rstrip().endswith(" end")
