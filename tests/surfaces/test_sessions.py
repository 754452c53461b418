"""Sessions over stdio that the daemon serves: thin processes, answers as without it, and what happens when it goes away."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from atlas.runtime.process import session_socket
from atlas.runtime.process.daemon import ServingDaemon, find_running, find_serving, stop_serving
from atlas.runtime.process.places import run_path
from atlas.runtime.process.tree_version import read_version
from atlas.server.proxy import session_options

from .daemons import until
from .processes import COMMAND, Place, atlas, environment
from .shop import write_files
from .test_hostile_stdio import Talk

WANTED = {"ATLAS_MCP_START_DAEMON": "true"}
THIN_MB = 25
WRITING = ("--toolsets", "code,claims,memory")


@contextmanager
def shop_of_sessions(folder: Path) -> Iterator[Place]:
    """The shop with an index; the daemon that its sessions start is ended afterwards."""
    made = Place(folder / "shop", folder / "data")
    write_files(made.root)
    assert atlas("index", *made.options).returncode == 0
    yield made
    while OPENED:
        OPENED.pop().end()
    atlas("daemon", "stop", *made.options)
    assert find_serving(made.data) is None


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with shop_of_sessions(tmp_path) as made:
        yield made


OPENED: list[Session] = []
"""Sessions of the running test."""


class Session(Talk):
    """A session of the shop, line by line."""

    def __init__(
        self, place: Place, *arguments: str, cwd: Path | None = None, program: Sequence[str] = COMMAND, **env: str
    ) -> None:
        super().__init__(
            subprocess.Popen(
                [*program, "mcp", *place.options, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=environment(**{**WANTED, **env}),
            )
        )
        OPENED.append(self)

    def call(self, number: object, tool: str, **arguments: object) -> dict[str, Any]:
        self.say("tools/call", number, name=tool, arguments=arguments)
        return self.heard(number)

    @property
    def is_served(self) -> bool:
        """Whether the daemon serves it: a session that serves itself has imported the SDK."""
        return resident_mb(self.process.pid) <= THIN_MB

    def end(self) -> int:
        with contextlib.suppress(BrokenPipeError, BlockingIOError):  # of a test that has filled the pipe
            self.stdin.close()
        try:
            code = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        for stream in (self.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code


def resident_mb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) >> 10 for line in lines if line.startswith("VmRSS"))


def serving(place: Place) -> ServingDaemon:
    found = find_serving(place.data)
    assert found is not None
    return found


def watched(place: Place) -> None:
    def settled() -> bool:
        version = read_version(place.data, "shop", place.root)
        return version is not None and version.noticed == version.indexed

    until(settled, "index and tree are equal")


def node_of(answer: dict[str, Any]) -> object:
    return answer["result"]["structuredContent"]["node"]


def answers_of(session: Talk) -> list[bytes]:
    """The lines that a session answers with."""
    lines: list[bytes] = []
    for number, (method, params) in enumerate(
        (
            ("tools/list", {}),
            ("prompts/list", {}),
            ("tools/call", {"name": "get_node", "arguments": {"name": "apply_discount"}}),
            ("tools/call", {"name": "hybrid_search", "arguments": {"query": "reduce the amount for customers"}}),
            ("tools/call", {"name": "get_node", "arguments": {"nme": "x"}}),
            ("tools/call", {"name": "remember", "arguments": {}}),
            ("resources/templates/list", {}),
            ("nonsense", {}),
        ),
        1,
    ):
        session.say(method, number, **params)
        lines.append(session.stdout.readline())
    for line in (b"no json\n", b'{"id": 3}\n', b"\xff\xfe\n", b'{"jsonrpc":"2.0",\r"id":77,"method":"ping"}\n'):
        session.stdin.write(line)
        session.stdin.flush()
        lines.append(session.stdout.readline())
    return lines


@pytest.mark.parametrize("arguments", [(), WRITING])
def test_answers_are_those_of_a_process_of_its_own(place: Place, arguments: tuple[str, ...]) -> None:
    served = Session(place, *arguments)
    assert served.is_well()
    watched(place)  # its first pass may count as another generation
    alone = Session(place, *arguments, TZ="Asia/Tokyo")
    assert answers_of(served) == answers_of(alone)
    assert served.is_served and not alone.is_served
    assert served.end() == alone.end() == 0


def test_sessions_share_a_daemon_that_says_who_uses_it_and_watches_from_the_first_question(place: Place) -> None:
    first, second = Session(place), Session(place)
    assert find_running(place.data) is None, "nobody has asked yet"
    assert first.call(1, "get_node", name="Cart")["result"]
    watched(place)
    told = json.loads(atlas("daemon", "status", *place.options, "--json").stdout)
    assert [(one["client"], one["project"]) for one in told["sessions"]] == [("test/1", "shop")] * 2
    assert told["pid"] == serving(place).pid and not told["stays"]
    assert "sessions 2: test/1 (shop) x 2" in atlas("daemon", "status", *place.options).stdout
    first.process.kill()
    until(lambda: len(serving(place).sessions) == 1, "a client that died is no session")
    assert second.is_well() and second.end() == 0
    first.end()
    # a person who starts the daemon keeps it
    assert "already running" in atlas("daemon", "start", *place.options).stdout
    assert serving(place).stays


def test_a_daemon_without_sessions_leaves(place: Place) -> None:
    # a second may end before the session that has started it is connected
    session = Session(place, ATLAS_DAEMON_IDLE_SECONDS="4")
    assert session.is_served
    session.end()
    until(lambda: find_serving(place.data) is None, "it has left", seconds=20)
    assert not Path(run_path(str(place.data), "sock")).exists()


def test_a_session_survives_its_daemon(place: Place) -> None:
    session = Session(place)
    before = node_of(session.call(1, "get_node", name="Cart"))
    for number in range(2, 6, 2):
        pid = serving(place).pid
        session.say("tools/call", number, name="get_node", arguments={"name": "Cart"})
        os.kill(pid, signal.SIGKILL)
        session.say("tools/call", number + 1, name="get_node", arguments={"name": "Cart"})
        got = [json.loads(session.stdout.readline()) for _ in range(2)]
        assert sorted(one["id"] for one in got) == [number, number + 1]
        assert [node_of(one) for one in got] == [before, before]
        assert session.is_served, "another daemon serves it"
    stopped = atlas("daemon", "stop", *place.options)
    assert "stopped" in stopped.stdout
    assert node_of(session.call("then", "get_node", name="Cart")) == before
    assert not session.is_served, "who stops the daemon wants none"
    assert find_serving(place.data) is None
    assert session.end() == 0


def test_a_request_that_a_daemon_may_have_died_of_is_answered_beside_it(place: Place) -> None:
    patched = "import atlas.server.proxy as p; p.MOST_LOSSES = 1; from atlas.cli.main import main; main()"
    session = Session(place, program=(sys.executable, "-P", "-c", patched))
    before = node_of(session.call(1, "get_node", name="Cart"))
    pid = serving(place).pid
    os.kill(pid, signal.SIGSTOP)
    session.say("tools/call", 2, name="get_node", arguments={"name": "Cart"})
    time.sleep(0.3)  # the daemon has the request
    os.kill(pid, signal.SIGKILL)
    assert node_of(session.heard(2)) == before
    assert node_of(session.call(3, "get_node", name="Cart")) == before
    assert serving(place).pid != pid and session.is_served, "another daemon serves what comes next"


def test_a_write_is_not_repeated(place: Place) -> None:
    """A daemon that is killed before it answers may have written; a stopped process has not, but nobody can know."""
    session = Session(place, *WRITING)
    arguments = {"entity": "Ada", "observation": "Prefers short answers."}
    assert session.call(1, "recall", query="Ada")["result"]
    pid = serving(place).pid
    os.kill(pid, signal.SIGSTOP)
    session.say("tools/call", 2, name="remember", arguments=arguments)
    session.say("tools/call", 3, name="remember", arguments={**arguments, "idempotency_key": "once"})
    session.say("tools/call", 4, name="get_node", arguments={"name": "Cart"})
    until(lambda: not _unread(session), "the session has passed them on")
    os.kill(pid, signal.SIGKILL)
    got = {one["id"]: one["result"] for one in (json.loads(session.stdout.readline()) for _ in range(3))}
    assert got[2]["isError"] and "may or may not have written" in got[2]["content"][0]["text"]
    assert not got[3].get("isError") and not got[4].get("isError")
    assert session.end() == 0


def _unread(session: Session) -> bool:
    """Whether the session has not read all that it was told."""
    import array
    import fcntl
    import termios

    waiting = array.array("i", [0])
    fcntl.ioctl(session.stdin.fileno(), termios.FIONREAD, waiting)
    return waiting[0] > 0


@pytest.mark.parametrize("env", [{"ATLAS_SCOPE_MAX_FILE_BYTES": "5000"}, {"TZ": "Asia/Tokyo"}])
def test_another_environment_is_served_by_a_process_of_its_own(place: Place, env: dict[str, str]) -> None:
    first = Session(place)
    other = Session(place, ATLAS_DEBUG="1", **env)
    assert first.is_served and not other.is_served
    assert other.is_well()
    assert other.process.stderr is not None
    assert b"other variables" in other.process.stderr.readline()
    assert first.end() == other.end() == 0


def test_settings_of_one_session_are_its_own(place: Place) -> None:
    usual = Session(place)
    brief = Session(place, ATLAS_SEARCH_LIMIT="1", ATLAS_MCP_TOOLSETS="query")
    assert usual.is_served and brief.is_served
    asked = {"query": "cart"}
    few = brief.call(1, "text_search", **asked)["result"]["structuredContent"]["hits"]
    assert len(few) == 1 < len(usual.call(1, "text_search", **asked)["result"]["structuredContent"]["hits"])
    brief.say("tools/list", 2)
    assert "index" not in {one["name"] for one in brief.heard(2)["result"]["tools"]}
    assert usual.end() == brief.end() == 0


def test_the_home_folder_is_served_and_neither_watched_nor_made_a_project(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "inner").mkdir(parents=True)
    (home / "code.py").write_text("def only_here(): pass\n")
    env = {"HOME": str(home), **WANTED}
    process = subprocess.Popen(
        [*COMMAND, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=home, env=environment(**env)
    )
    session = Talk(process)
    session.say("tools/call", 1, name="get_node", arguments={"name": "only_here"})
    assert "home folder" in json.dumps(session.heard(1))
    told = json.loads(atlas("daemon", "status", "--json", cwd=home, env=env).stdout)
    assert told["phase"] == "serving" and not Path(told["data_dir"]).exists()
    session.stdin.close()
    assert process.wait(10) == 0
    session.stdout.close()
    assert "stopped" in atlas("daemon", "stop", cwd=home, env=env).stdout


def test_the_socket_is_for_its_user_alone(place: Place) -> None:
    session = Session(place)
    path = Path(run_path(str(place.data), "sock"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for line in (b"\n", b"[]\n", b'{"asks":"session"}\n', b"x" * (2 << 20), b'{"asks":"state"'):
        with session_socket.connect(str(path)) as connected:
            connected.settimeout(5)
            try:
                connected.sendall(line)
                connected.shutdown(1)
                assert b'"accepted":true' not in connected.recv(65_536)
            except OSError:
                pass  # the daemon has closed it
    path.parent.chmod(0o755)
    try:
        other = Session(place)
        assert not other.is_served, "others may have put a socket there"
        other.end()
    finally:
        path.parent.chmod(0o700)
    assert session.is_well() and session.end() == 0


def test_a_client_that_does_not_read_keeps_no_other_one_waiting(place: Place) -> None:
    other, silent = Session(place), Session(place)
    assert node_of(other.call(1, "get_node", name="apply_discount"))
    pid = serving(place).pid
    before = resident_mb(pid)
    os.set_blocking(silent.stdin.fileno(), False)
    with pytest.raises(BlockingIOError):
        for number in range(500_000):
            os.write(silent.stdin.fileno(), b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}\n' % number)
    started = time.monotonic()
    assert node_of(other.call(2, "get_node", name="apply_discount"))
    assert time.monotonic() - started < 5
    assert resident_mb(pid) - before < 100
    silent.process.kill()


def test_a_path_that_is_too_long_for_a_socket(place: Place, tmp_path: Path) -> None:
    cache = tmp_path / ("long" * 25) / "cache"
    session = Session(place, XDG_CACHE_HOME=str(cache))
    assert session.is_served and session.is_well()
    assert session.end() == 0
    assert "stopped" in atlas("daemon", "stop", *place.options, env={"XDG_CACHE_HOME": str(cache)}).stdout


@pytest.mark.parametrize(
    ("words", "served"),
    [
        (["mcp"], True),
        (["mcp", "--project", "x", "--data-dir=y", "--toolsets", "code"], True),
        (["--project", "x", "mcp"], True),
        (["mcp", "--print-config", "codex"], False),
        (["mcp", "--transport", "http"], False),
        (["mcp", "--help"], False),
        (["search", "mcp"], False),
        (["mcp", "--project"], False),
        (["mcp", "mcp"], False),
    ],
)
def test_only_plain_sessions_go_to_the_daemon(words: list[str], served: bool) -> None:
    assert (session_options(words) is not None) == served


def test_many_sessions_and_a_daemon_that_is_killed(place: Place) -> None:
    from tests.bench.many_sessions import run

    env = environment(**WANTED)
    outcome = asyncio.run(run(place.root, place.data, ["Cart", "apply_discount"], 6, 5, 2, 0.7, **env))
    assert not outcome.errors
    assert outcome.kills == 2 and outcome.answered >= 6 * 5 * 2
    until(lambda: stop_serving(place.data, found) if (found := find_serving(place.data)) else True, "it has ended")
