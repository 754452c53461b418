"""A chat as a person sees it, through a pseudo-terminal: commands, approval, completion, Ctrl-C, SIGTERM."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .forked import Chat, forks
from .model_server import ModelServer, Say, model_server

SERVER = Path(__file__).with_name("tool_server.py")
REPOSITORY = Path(__file__).parents[2]
NO_DAEMON = {"ATLAS_MCP_START_DAEMON": "false"}
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]")
PATIENCE = 60.0


class Person:
    """Somebody at a terminal: types, reads the screen, waits for what should appear."""

    def __init__(self, process: Chat, terminal: int) -> None:
        self.process, self._terminal = process, terminal
        self._shown = ""
        self._read = 0

    def types(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def sees(self, text: str) -> str:
        """Wait until a text appears behind what was seen before; returns everything up to it."""
        end = time.monotonic() + PATIENCE
        while (at := self._shown.find(text, self._read)) < 0:
            assert time.monotonic() < end, f"{text!r} does not appear: {self._shown[self._read :]!r}"
            self._take(0.2)
        seen, self._read = self._shown[self._read : at + len(text)], at + len(text)
        return seen

    def waits_for_the_end(self) -> int:
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, f"it does not end: {self._shown[self._read :]!r}"
            self._take(0.1)
        return self.process.returncode

    def _take(self, seconds: float) -> None:
        if select.select([self._terminal], [], [], seconds)[0]:
            try:
                block = os.read(self._terminal, 65536).decode(errors="replace")
            except OSError:  # Linux reports the end of a terminal like this
                time.sleep(0.05)
                return
            if "\x1b[6n" in block:  # the editor asks for the position of the cursor
                os.write(self._terminal, b"\x1b[1;1R")
            self._shown += ESCAPE.sub("", block)


@contextmanager
def person(stub: ModelServer, folder: Path, *options: str, waits: bool = True) -> Iterator[Person]:
    config = folder / "servers.json"
    config.write_text(json.dumps({"mcpServers": {"tools": {"command": sys.executable, "args": [str(SERVER)]}}}))
    (folder / "project").mkdir(exist_ok=True)
    leader, follower = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ATLAS_")}
    environment |= {
        "PYTHONPATH": str(REPOSITORY),
        **NO_DAEMON,
        "TERM": "xterm",
        "COLUMNS": "120",
        "OPENAI_API_KEY": "k",
    }
    words = ["chat", "--model", "openai/stub", "--api-base", stub.openai, "--config", str(config)]
    process = forks().chat([*words, "--project", str(folder / "project"), *options], environment, follower)
    os.close(follower)
    try:
        one = Person(process, leader)
        if waits:
            one.sees("/help lists the commands")
            one.sees("»")
        yield one
    finally:
        process.kill()
        process.wait()
        process.close()
        os.close(leader)


def until_runs(mark: Path) -> None:
    """Wait until the tool `slow` runs in its server."""
    end = time.monotonic() + PATIENCE
    while not mark.exists():
        assert time.monotonic() < end, "the tool is not called"
        time.sleep(0.02)


def children_of(pid: int) -> list[str]:
    listed = subprocess.run(["ps", "-A", "-o", "ppid=,args="], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.split()[0] == str(pid)]


def test_a_conversation(tmp_path: Path) -> None:
    written = tmp_path / "written.txt"
    call = ("write", json.dumps({"path": str(written), "text": "x"}))
    steps = (Say("", [call]), Say("# Title\n\nall *written*\n"), Say("", [call]), Say("not this time"))
    with model_server(*steps) as stub, person(stub, tmp_path, "--transcript", str(tmp_path / "t.json")) as one:
        one.types("/tools echo\r")
        one.sees("Return the text.")
        one.types("/toolz\r")
        one.sees("unknown command /toolz")
        one.sees("near:  tools")
        one.types("please write\r")
        one.sees("call it? [y]es, [a]lways, [n]o, ne[v]er:")
        assert not written.exists()
        one.types("y\r")
        one.sees("all written")
        assert written.read_text() == "x"
        written.unlink()
        one.types("again\r")
        one.sees("call it?")
        one.types("v\r")
        one.sees("not this time")
        assert not written.exists()
        one.types("/prompt review name=main.py\r")
        one.sees("that is all")
        one.types("/cost\r")
        one.sees("5 requests, 2 tool calls")
        one.types(f"/save {tmp_path / 'saved.md'}\r")
        one.sees("saved to")
        one.types("exit\r")
        assert one.waits_for_the_end() == 0
    assert "## You\n\nplease write" in (tmp_path / "saved.md").read_text()
    roles = [message["role"] for message in json.loads((tmp_path / "t.json").read_text())]
    assert roles.count("user") == 3


def test_completion_comes_from_the_servers(tmp_path: Path) -> None:
    with model_server() as stub, person(stub, tmp_path) as one:
        one.types("see @topic(topic=bio\t")
        one.sees("logy")
        one.types(")\r")
        one.sees("that is all")
        assert "All about biology." in str(stub.requests[-1]["messages"][-1]["content"])
        one.sees("»")
        one.types("/quit\r")
        assert one.waits_for_the_end() == 0


@pytest.mark.parametrize("leaving", ["quit\r", "exit\r", "\x04"])
def test_a_chat_that_has_had_answers_ends_with_its_servers(tmp_path: Path, leaving: str) -> None:
    with model_server(Say("The answer.")) as stub, person(stub, tmp_path) as one:
        one.types("what?\r")
        one.sees("The answer.")
        one.sees("»")
        children = pids_of_children(one.process.pid)
        assert children
        one.types(leaving)
        assert one.waits_for_the_end() == 0
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]


def test_an_interrupt_cancels_the_answer_and_the_chat_goes_on(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    call = ("slow", json.dumps({"seconds": 60, "mark": str(mark)}))
    with model_server(Say("", [call]), Say("here again")) as stub, person(stub, tmp_path) as one:
        one.types("wait\r")
        one.sees("> slow")
        until_runs(mark)
        one.process.send_signal(signal.SIGINT)
        one.sees("cancelled")
        one.types("and now\r")
        one.sees("here again")
        assert mark.read_text() == "cancelled"
        children = children_of(one.process.pid)
        assert children
        one.process.send_signal(signal.SIGTERM)
        assert one.waits_for_the_end() == 143
        assert not children_of(one.process.pid)


def test_the_servers_end_with_the_terminal(tmp_path: Path) -> None:
    with model_server() as stub, person(stub, tmp_path) as one:
        children = pids_of_children(one.process.pid)
        assert len(children) >= 2
        one.process.send_signal(signal.SIGHUP)
        assert one.waits_for_the_end() == 129
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]


def test_an_interrupt_ends_a_chat_that_is_being_started(tmp_path: Path) -> None:
    with model_server() as stub, person(stub, tmp_path, "--config", hanging(tmp_path), waits=False) as one:
        one.sees("tools: ")  # the others are ready
        children = pids_of_children(one.process.pid)
        one.process.send_signal(signal.SIGINT)
        assert one.waits_for_the_end() == 130
    assert children and not [pid for pid in children if Path(f"/proc/{pid}").exists()]


def hanging(folder: Path) -> str:
    """Return a file with a server that never answers."""
    file = folder / "hanging.json"
    server = {"command": sys.executable, "args": [str(SERVER), "--hang"]}
    file.write_text(json.dumps({"mcpServers": {"mute": server}}))
    return str(file)


def pids_of_children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if line.split()[1] == str(pid)]


def test_an_interrupt_cancels_a_call_that_was_asked_about(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    call = ("slow_change", json.dumps({"seconds": 60, "mark": str(mark)}))
    with model_server(Say("", [call])) as stub, person(stub, tmp_path) as one:
        one.types("wait\r")
        one.sees("call it?")
        one.types("y\r")
        until_runs(mark)
        one.process.send_signal(signal.SIGINT)
        one.sees("cancelled; the question is forgotten")
        one.sees("»")
        one.process.send_signal(signal.SIGINT)  # at the prompt it clears the line
        one.sees("»")
        one.types("/cost\r")
        one.sees("1 request, 1 tool call")
        one.types("/quit\r")
        assert one.waits_for_the_end() == 0
    assert mark.read_text() == "cancelled"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "openai/x"), "a chat needs a terminal"),
        (("--once", "hello"), "no language model is named"),
        (("--once", " ", "--model", "openai/x"), "the question is empty"),
        (("--model", "openai/x", "--json"), "--json needs --once"),
        (("--once", "x", "--model", "openai/x", "--config", "none.json"), "no such file: none.json"),
        (("--once", "x", "--model", "openai/x", "--import", "cursor"), "cursor has no configuration of servers"),
    ],
)
def test_what_cannot_work_says_so(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ATLAS_")}
    environment |= {"PYTHONPATH": str(REPOSITORY), **NO_DAEMON, "HOME": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "atlas", "chat", "--project", str(tmp_path), *options],
        capture_output=True, text=True, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip
    assert ended.returncode == 2
    assert message in ended.stderr + ended.stdout
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(("model", "local"), [("openai/gpt-4o-mini", False), ("openai/local", True)])
def test_a_key_is_needed_only_for_servers_that_want_one(tmp_path: Path, model: str, local: bool) -> None:
    environment = {name: value for name, value in os.environ.items() if "ATLAS_" not in name and "API_KEY" not in name}
    environment |= {"PYTHONPATH": str(REPOSITORY), **NO_DAEMON}
    with model_server(Say("The answer.")) as stub:
        options = ["--api-base", stub.openai] if local else []
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "atlas", "chat", "--project", str(tmp_path), "--model", model, *options,
             "--once", "what?"],
            capture_output=True, text=True, env=environment, timeout=120,
        )  # fmt: skip
    if local:
        assert (ended.returncode, ended.stdout) == (0, "The answer.\n"), ended.stderr
    else:
        assert ended.returncode == 2, ended.stderr
        assert "Set OPENAI_API_KEY in the environment." in ended.stderr
        assert "asking again" not in ended.stderr


def test_one_question_as_json(tmp_path: Path) -> None:
    config = tmp_path / "servers.json"
    config.write_text(json.dumps({"mcpServers": {"tools": {"command": sys.executable, "args": [str(SERVER)]}}}))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ATLAS_")}
    environment |= {"PYTHONPATH": str(REPOSITORY), **NO_DAEMON, "OPENAI_API_KEY": "k"}
    with model_server(Say("", [("echo", '{"text": "x"}')]), Say("The answer.")) as stub:
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "atlas", "chat", "--project", str(tmp_path), "--model", "openai/stub",
             "--api-base", stub.openai, "--config", str(config), "--once", "-", "--json"],
            capture_output=True, text=True, env=environment, input="what?", timeout=120,
        )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert document["answer"] == "The answer."
    assert [call["tool"] for call in document["calls"]] == ["echo"]
    assert document["usage"]["input_tokens"] == 200
    assert document["servers"] == {"code-atlas": "ready", "tools": "ready"}
