"""The daemon's process from outside: the lock that tells whether there is one, starting, waiting, stopping; its log."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from atlas.core.errors import AtlasError, ConfigError, NotFound, Unavailable
from atlas.runtime.process import log as daemon_log
from atlas.runtime.process.daemon import (
    LOCK_FILE,
    DaemonInstance,
    RunningDaemon,
    find_running,
    last_running,
    spawn,
    stop,
    wait_until_working,
)
from atlas.runtime.process.log import DaemonLog, read_log, readable

ABOUT = RunningDaemon(os.getpid(), 1.5, ("/a", "/b"), ("a", "b"), "valkey://h", "starting", "")

DAEMON = """
import signal, sys, time, os
from pathlib import Path
from atlas.runtime.process.daemon import DaemonInstance, RunningDaemon
{before}
lock = DaemonInstance.take(Path(sys.argv[1]), RunningDaemon(os.getpid(), time.time(), ("/a",), ("a",)))
{then}
time.sleep(30)
"""
"""A process that holds the lock; what else it does is put in."""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts a process as a daemon is started, and ends it after the test."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(before: str = "", then: str = "") -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", DAEMON.format(before=before, then=then), str(tmp_path)]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        started.append(spawn(command, tmp_path, tmp_path / "out", environment))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.wait()


def said_nothing(text: str) -> None:
    raise AssertionError(text)


def test_one_holds_the_lock_and_others_read_what_it_says(tmp_path: Path) -> None:
    assert find_running(tmp_path) is None
    instance = DaemonInstance.take(tmp_path, ABOUT)
    assert instance is not None
    assert DaemonInstance.take(tmp_path, ABOUT, seconds=0.05) is None
    assert find_running(tmp_path) == ABOUT
    instance.report_status("indexing", "1,000 files")
    instance.report_status("ready")
    running = find_running(tmp_path)
    assert running is not None
    assert (running.phase, running.detail, running.roots) == ("ready", "", ("/a", "/b"))
    instance.release()
    instance.release()
    assert find_running(tmp_path) is None
    assert last_running(tmp_path) is None, "one that ended in order left nothing"
    again = DaemonInstance.take(tmp_path, ABOUT)
    assert again is not None
    again.release()


def test_the_lock_goes_with_its_process_and_what_it_wrote_stays(
    tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    process = start()
    running = wait(lambda: find_running(tmp_path))
    assert running.pid == process.pid
    process.kill()
    process.wait()
    assert find_running(tmp_path) is None, "a pid in the file is no daemon"
    last = last_running(tmp_path)
    assert last is not None
    assert last.pid == process.pid


def test_a_removed_lock_file_is_noticed_by_its_holder(tmp_path: Path) -> None:
    instance = DaemonInstance.take(tmp_path, ABOUT)
    assert instance is not None
    assert instance.is_valid()
    (tmp_path / LOCK_FILE).unlink()
    assert not instance.is_valid()
    other = DaemonInstance.take(tmp_path, ABOUT)
    assert other is not None
    assert not instance.is_valid()
    assert other.is_valid()
    instance.release()
    other.release()


@pytest.mark.parametrize("text", ["", "1234\n", "[]", '{"pid": "x"}', '{"pid": 3}', "\0" * 100])
def test_a_lock_file_with_anything_in_it_is_no_daemon_unless_it_is_held(tmp_path: Path, text: str) -> None:
    (tmp_path / LOCK_FILE).write_text(text)
    assert find_running(tmp_path) is None
    assert last_running(tmp_path) is None
    assert stop(tmp_path, said_nothing) is None
    instance = DaemonInstance.take(tmp_path, ABOUT)
    assert instance is not None
    assert find_running(tmp_path) == ABOUT
    instance.release()


def test_links_of_a_repository_are_not_followed(tmp_path: Path) -> None:
    victim, data = tmp_path / "victim", tmp_path / "data"
    victim.write_text("precious")
    data.mkdir()
    (data / LOCK_FILE).symlink_to(victim)
    with pytest.raises(ConfigError, match="cannot use"):
        DaemonInstance.take(data, ABOUT)
    assert find_running(data) is None
    (data / "logs").mkdir()
    (data / "logs" / "daemon.log").symlink_to(victim)
    with pytest.raises(ConfigError, match="is a link"):
        DaemonLog(data, echo=False)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "logs").symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="not a folder of this user"):
        DaemonLog(tmp_path / "other", echo=False)
    assert victim.read_text() == "precious"


def test_a_daemon_that_ends_on_the_signal_is_not_killed(
    tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    process = start()
    wait(lambda: find_running(tmp_path))
    reaper = threading.Thread(target=process.wait)
    reaper.start()
    stopped = stop(tmp_path, said_nothing, seconds=10)
    reaper.join()
    assert stopped is not None
    assert (stopped[0].pid, stopped[1]) == (process.pid, False)
    assert process.returncode == -signal.SIGTERM


def test_a_daemon_that_does_not_end_is_killed_with_a_word(
    tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    process = start("signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    wait(lambda: find_running(tmp_path))
    said: list[str] = []
    stopped = stop(tmp_path, said.append, seconds=0.2)
    assert stopped is not None
    assert stopped[1]
    assert said == [f"process {process.pid} has not ended within 0.2 seconds: killing it"]
    assert process.wait() == -signal.SIGKILL


def test_waiting_ends_when_the_daemon_follows_changes_or_is_ready(
    tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    process = start(then="lock.report_status('indexing', '7 files')\ntime.sleep(0.5)\nlock.report_status('ready')")
    began = time.monotonic()
    early = wait_until_working(tmp_path, process, tmp_path / "out", 20, 0.0, lambda text: None)
    assert (early.pid, early.phase, early.detail) == (process.pid, "indexing", "7 files")
    late = wait_until_working(tmp_path, process, tmp_path / "out", 20, 10.0, lambda text: None)
    assert late.phase == "ready"
    assert time.monotonic() - began < 10


def test_waiting_says_what_for_and_gives_up_while_the_daemon_goes_on(
    tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    process = start(then="lock.report_status('waiting', 'process 7 is writing')")
    said: list[str] = []
    with pytest.raises(Unavailable, match=r"not working after 1\.5 seconds: waiting process 7 is writing"):
        wait_until_working(tmp_path, process, tmp_path / "out", 1.5, 0.0, said.append)
    assert said == ["waiting process 7 is writing"]
    assert process.poll() is None


@pytest.mark.parametrize(
    ("before", "error", "message"),
    [
        (
            """print('{"error": {"kind": "ConfigError", "message": "no", "hint": "do", "exit_code": 2}}'); sys.exit(2)""",
            ConfigError,
            "^no$",
        ),
        ("print('one'); print('two'); sys.exit(3)", AtlasError, r"ended with code 3: one \| two"),
        ("os.kill(os.getpid(), 9)", AtlasError, "ended by signal 9"),
        ("""print('{"error": {"kind": "exit"}}'); sys.exit(4)""", AtlasError, "ended with code 4"),
    ],
)
def test_a_daemon_that_does_not_start_tells_why(
    tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]], before: str, error: type[AtlasError], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        wait_until_working(tmp_path, start(before), tmp_path / "out", 20, 0.0, lambda text: None)
    assert type(caught.value) is error
    assert caught.value.hint


def test_the_log_is_json_lines_with_the_crash_and_the_warnings_of_libraries(tmp_path: Path) -> None:
    log = DaemonLog(tmp_path, echo=False)
    try:
        log.log("look", {"project": "a", "files": 3})
        log.log("waiting", {"error": "away\nfar"})
        logging.getLogger("library").info("nobody needs this")
        logging.getLogger("library").warning("careful")
        try:
            raise ValueError("boom")
        except ValueError:
            log.crash("crashed")
    finally:
        log.close()
    entries = [json.loads(line) for line in (tmp_path / "logs" / "daemon.log").read_text().splitlines()]
    assert [(entry["level"], entry["message"]) for entry in entries] == [
        ("info", "look"),
        ("warning", "waiting"),
        ("warning", "careful"),
        ("error", "crashed"),
    ]
    assert entries[0]["fields"] == {"project": "a", "files": 3}
    assert entries[2]["fields"] == {"logger": "library"}
    assert "ValueError: boom" in entries[3]["fields"]["traceback"]
    assert readable(entries[0]).endswith(" look project=a files=3")
    assert "ValueError: boom" in readable(entries[3])


def test_the_log_is_rotated_and_read_across_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon_log, "MAX_BYTES", 1000)
    with pytest.raises(NotFound, match="no log"):
        next(read_log(tmp_path, 5, follow=False))
    log = DaemonLog(tmp_path, echo=False)
    try:
        for number in range(50):
            log.log("entry", {"number": number})
        names = sorted(path.name for path in (tmp_path / "logs").iterdir())
        assert names == ["daemon.log", "daemon.log.1", "daemon.log.2"]
        assert all(path.stat().st_size <= 1000 for path in (tmp_path / "logs").iterdir())
        numbers = [json.loads(line)["fields"]["number"] for line in read_log(tmp_path, 15, follow=False)]
        assert numbers == list(range(35, 50))
        following = read_log(tmp_path, 1, follow=True)
        assert json.loads(next(following))["fields"]["number"] == 49
        for number in range(50, 56):
            log.log("entry", {"number": number})
        assert [json.loads(next(following))["fields"]["number"] for _ in range(6)] == list(range(50, 56))
    finally:
        log.close()


def wait(ask: Callable[[], RunningDaemon | None]) -> RunningDaemon:
    end = time.monotonic() + 10
    while (answer := ask()) is None:
        assert time.monotonic() < end
        time.sleep(0.02)
    return answer
