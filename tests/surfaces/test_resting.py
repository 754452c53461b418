"""A daemon at rest: it lets its memory go, misses no change and no client, and is the same process when it is back."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from atlas.runtime.process.daemon import find_running, find_serving
from atlas.runtime.process.lock import LOCK_FILE, LockFile
from atlas.runtime.process.places import run_path
from atlas.runtime.process.resting import RestingDaemon

from .daemons import Home, home, is_alive, until
from .processes import Place, atlas
from .test_sessions import WRITING, Session, resident_mb, serving, shop_of_sessions

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="changes wait in a queue of the kernel on Linux only")

SOON = {"ATLAS_DAEMON_REST_SECONDS": "1"}
RESTING_MB = 16
READY_SECONDS = 30.0


@pytest.fixture
def first(tmp_path: Path) -> Iterator[Home]:
    with home(tmp_path) as place:
        yield place


def rests(data: Path) -> int:
    """Wait until the daemon rests, and return its process."""

    def pid() -> int:
        running = find_running(data)
        return running.pid if running is not None and running.phase == "resting" and is_light(running.pid) else 0

    return until(pid, "it rests", seconds=READY_SECONDS)


def is_light(pid: int) -> bool:
    return b"atlas.runtime.process.resting" in Path(f"/proc/{pid}/cmdline").read_bytes()


def resting(place: Home) -> int:
    place.run("daemon", "start", str(place.root), **SOON)
    return rests(place.data)


def save(place: Home, name: str) -> None:
    (place.root / "pkg" / f"m_{name}.py").write_text(f"def {name}():\n    return 1\n")


async def test_an_idle_daemon_lets_go_and_finds_the_next_change(first: Home) -> None:
    pid = resting(first)
    assert resident_mb(pid) <= RESTING_MB
    assert not (first.data / "valkey" / "valkey.sock").exists(), "its bus server has ended, too"
    save(first, "gamma")
    await first.until_known("gamma", seconds=READY_SECONDS)
    assert rests(first.data) == pid, "the same process rests again"


async def test_no_change_is_lost_at_any_moment_of_the_way_to_rest_and_back(first: Home) -> None:
    pid = resting(first)
    names = [f"at_{number}" for number in range(8)]
    for number, name in enumerate(names):
        rests(first.data) if number % 2 else None
        save(first, name)
        # a rest begins about 1.3 to 1.6 s after the last work
        await asyncio.sleep(2.2 + 0.15 * number)
    for name in names:
        await first.until_known(name, seconds=READY_SECONDS)
    assert rests(first.data) == pid


def test_the_status_neither_disturbs_the_rest_nor_hides_it(first: Home) -> None:
    pid = resting(first)
    told = first.ask("daemon", "status")
    assert (told["phase"], told["pid"], told["sessions"], told["stays"]) == ("resting", pid, [], True)
    assert 0 < told["resident_bytes"] >> 20 <= RESTING_MB
    assert "resting" in first.run("daemon", "status").stdout
    assert "resting" in first.run("health").stdout
    assert is_light(pid)


def test_a_question_to_a_resting_daemon_is_answered_from_the_files_of_now(first: Home) -> None:
    pid = resting(first)
    save(first, "delta")
    assert "def delta" in first.run("node", "delta", **SOON).stdout
    assert rests(first.data) == pid
    (first.root / "pkg" / "m_delta.py").unlink()
    assert "not found" in first.run("node", "delta", code=3, **SOON).stdout
    save(first, "epsilon")
    assert first.ask("index", **SOON)["files"] == 2
    assert "def epsilon" in first.run("node", "epsilon", **SOON).stdout


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGTERM])
async def test_a_daemon_that_ends_in_its_rest_leaves_nothing_in_the_way(first: Home, kind: int) -> None:
    pid = resting(first)
    os.kill(pid, kind)
    until(lambda: not is_alive(pid), "it has ended")
    first.run("daemon", "status", code=3)
    assert find_running(first.data) is None
    gone = first.run("health").stdout
    assert ("without a clean shutdown" in gone) == (kind == signal.SIGKILL)
    save(first, "zeta")
    assert "def zeta" in first.run("node", "zeta").stdout
    assert resting(first) != pid
    save(first, "eta")
    await first.until_known("eta", seconds=READY_SECONDS)


def test_a_resting_daemon_is_stopped_and_restarted(first: Home) -> None:
    pid = resting(first)
    assert first.ask("daemon", "stop") == {"stopped": True, "pid": pid, "killed": False}
    assert not Path(run_path(str(first.data), "sock")).exists() and not is_alive(pid)
    pid = resting(first)
    assert first.run("daemon", "start", str(first.root), **SOON).stdout.startswith("already running")
    restarted = first.ask("daemon", "restart", **SOON)
    assert restarted["pid"] != pid and restarted["started"] and not is_alive(pid)


def test_what_does_not_concern_the_index_does_not_disturb_the_rest(first: Home) -> None:
    subprocess.run(["git", "init", "-q"], cwd=first.root, check=True)
    pid = resting(first)
    (first.root / ".git" / "FETCH_HEAD").write_text("x\n")
    (first.root / ".atlas").mkdir()
    time.sleep(1)
    assert is_light(pid)
    (first.root / ".git" / "info" / "exclude").write_text("pkg/one.py\n")
    until(lambda: not is_light(pid), "the rules have changed")
    until(
        lambda: "not found" in atlas("node", "alpha", cwd=first.root).stdout, "an excluded file", seconds=READY_SECONDS
    )


async def test_a_root_that_goes_and_comes_back_is_watched_again(first: Home) -> None:
    pid = resting(first)
    first.root.rename(aside := first.root.with_name("aside"))
    await asyncio.sleep(6)
    assert is_light(pid), "it waits for the root"
    (aside / "pkg" / "theta.py").write_text("def theta(): pass\n")
    aside.rename(first.root)
    await first.until_known("theta", seconds=READY_SECONDS)


async def test_a_root_that_is_away_when_the_daemon_returns_is_watched_once_it_is_back(first: Home) -> None:
    second = first.root.with_name("second")
    (second / "pkg").mkdir(parents=True)
    (second / "pkg" / "two.py").write_text("def iota(): pass\n")
    first.run("daemon", "start", str(first.root), str(second), **SOON)
    await first.until_known("iota", second, seconds=READY_SECONDS)
    pid = rests(first.data)
    second.rename(aside := first.root.with_name("aside"))
    save(first, "kappa")
    await first.until_known("kappa", seconds=READY_SECONDS)  # it has returned without the second root
    told = first.ask("daemon", "status")
    assert (told["pid"], told["roots"], told["away"]) == (pid, [str(first.root), str(second)], [str(second)])
    assert f"{second} (away: " in first.run("daemon", "status").stdout
    assert rests(first.data) == pid, "it rests with a root that is away"
    (aside / "pkg" / "lambda_.py").write_text("def lambda_(): pass\n")
    aside.rename(second)
    await first.until_known("lambda_", second, seconds=READY_SECONDS)
    assert first.ask("daemon", "status")["away"] == []
    assert rests(first.data) == pid


async def test_a_restart_without_its_first_root_keeps_the_index_and_takes_the_root_up_again(first: Home) -> None:
    second = first.root.with_name("second")
    (second / "pkg").mkdir(parents=True)
    first.run("daemon", "start", str(first.root), str(second))
    first.root.rename(aside := first.root.with_name("aside"))
    options = ("--project", str(second), "--data-dir", str(first.data))
    restarted = json.loads(atlas("daemon", "restart", "--json", *options, cwd=second).stdout)
    assert (restarted["data_dir"], restarted["away"]) == (str(first.data), [str(first.root)])
    (aside / "pkg" / "mu.py").write_text("def mu(): pass\n")
    aside.rename(first.root)
    await first.until_known("mu", seconds=READY_SECONDS)
    assert set(first.ask("daemon", "status")["roots"]) == {str(first.root), str(second)}


def test_it_ends_when_its_roots_stay_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atlas.runtime.process.resting.GONE_SECONDS", 0.5)
    monkeypatch.setattr("atlas.runtime.process.resting.CHECK_SECONDS", 0.1)
    (tmp_path / "lock").write_text("resting")
    lock = os.open(tmp_path / "lock", os.O_RDWR)
    held = {"lock": lock, "lock_path": str(tmp_path / "lock"), "ended": "ended", "serving": -1, "listening": -1}
    tree = {"root": str(tmp_path / "gone"), "device": 1, "inode": 1, "queue": -1, "rules": {}, "ignored": {}}
    resting_daemon = RestingDaemon({**held, "path": "", "leaves_at": None, "command": [], "trees": [tree]})
    began = time.monotonic()
    resting_daemon.run()
    assert 0.5 <= time.monotonic() - began < 5
    resting_daemon.end()
    os.close(lock)
    assert (tmp_path / "lock").read_text().strip() == "ended"


def test_it_ends_when_its_data_folder_is_gone(first: Home) -> None:
    pid = resting(first)
    first.data.rename(first.data.with_name("elsewhere"))
    until(lambda: not is_alive(pid), "it has ended", seconds=15)
    assert not is_alive(pid)


def test_it_does_not_rest_where_the_settings_say_so(first: Home) -> None:
    first.run("daemon", "start", str(first.root), ATLAS_DAEMON_REST_SECONDS="0")
    time.sleep(3)
    running = find_running(first.data)
    assert running is not None and running.phase == "ready" and not is_light(running.pid)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with shop_of_sessions(tmp_path) as made:
        yield made


def written(answer: dict[str, Any]) -> str:
    return answer["result"]["content"][0]["text"]


def test_silent_sessions_do_not_keep_it_awake_and_go_on_where_they_were(place: Place) -> None:
    reader, writer = Session(place, **SOON), Session(place, *WRITING, **SOON)
    assert reader.call(1, "get_node", name="Cart")["result"]
    pid = serving(place).pid
    for number in (2, 3):
        assert rests(place.data) == pid
        (place.root / "shop" / f"new{number}.py").write_text(f"def fresh{number}(): pass\n")
        # a call that writes must not be repeated: none has been begun by the daemon that went to rest
        said = writer.call(number, "remember", entity="Ada", observation=f"Prefers answer {number}.")
        assert "error" not in said and not said["result"].get("isError"), said
        assert f"fresh{number}" in written(reader.call(number, "get_node", name=f"fresh{number}"))
        assert serving(place).pid == pid and reader.is_served and writer.is_served
        assert len(serving(place).sessions) == 2
    assert reader.end() == writer.end() == 0


def test_a_daemon_of_sessions_ends_in_its_rest(place: Place) -> None:
    session = Session(place, ATLAS_DAEMON_IDLE_SECONDS="6", **SOON)
    assert session.is_well()
    session.end()
    pid = rests(place.data)
    until(lambda: not is_alive(pid), "it has left", seconds=20)
    assert not Path(run_path(str(place.data), "sock")).exists()
    assert find_running(place.data) is None and find_serving(place.data) is None
    lock = LockFile.open(place.data / LOCK_FILE)
    with contextlib.closing(lock):
        assert lock.try_lock()
