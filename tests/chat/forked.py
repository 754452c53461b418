"""Chats at a terminal in forks of one process that has imported LiteLLM, which takes 4 CPU s; started by tests.

`python -m tests.chat.forked SOCKET` forks a chat for each message on the socket (arguments and variables, with the
terminal), answers with its process id, and then with how it ended.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
LARGEST = 1 << 18


class Chat:
    """A chat that runs, with the part of `subprocess.Popen` that tests use."""

    def __init__(self, told: socket.socket) -> None:
        self._told = told
        self.returncode: int | None = None
        self.pid = int(told.recv(100))

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float = 60) -> int:
        ended = self._ended(timeout)
        assert ended is not None, "the chat does not end"
        return ended

    def send_signal(self, kind: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, kind)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def close(self) -> None:
        self._told.close()

    def _ended(self, timeout: float) -> int | None:
        if self.returncode is None and select.select([self._told], [], [], timeout)[0]:
            self.returncode = int(self._told.recv(100))
        return self.returncode


class Forks:
    """The process that chats are forked from."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control

    def chat(self, arguments: Sequence[str], variables: Mapping[str, str], terminal: int) -> Chat:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            asked = json.dumps([[*arguments], dict(variables), str(Path.cwd())]).encode()
            socket.send_fds(self._control, [asked], [terminal, theirs.fileno()])
        return Chat(ours)


@cache
def forks() -> Forks:
    """The process of this process of tests; it ends with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    variables = {name: value for name, value in os.environ.items() if not name.startswith("ATLAS_")}
    with theirs:
        command = [sys.executable, "-m", "tests.chat.forked", str(theirs.fileno())]
        process = subprocess.Popen(command, cwd=REPOSITORY, env=variables, pass_fds=[theirs.fileno()])

    def end() -> None:
        ours.close()
        process.wait(30)

    atexit.register(end)
    return Forks(ours)


def serve(control: socket.socket) -> None:
    """Fork chats until the other end is closed."""
    running: dict[int, socket.socket] = {}
    while True:
        if select.select([control], [], [], 0.02 if running else None)[0]:
            asked, descriptors, _, _ = socket.recv_fds(control, LARGEST, 2)
            if not asked:
                return
            told = socket.socket(fileno=descriptors[1])
            if not (pid := os.fork()):
                control.close()
                _chat(*json.loads(asked), descriptors[0])
            os.close(descriptors[0])
            told.send(str(pid).encode())
            running[pid] = told
        for pid in [*running]:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                with running.pop(pid) as told, contextlib.suppress(OSError):
                    told.send(str(os.waitstatus_to_exitcode(status)).encode())


def _chat(arguments: list[str], variables: dict[str, str], folder: str, terminal: int) -> None:
    os.setsid()
    # a test run under nohup ignores SIGHUP, and so would its children
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for descriptor in range(3):
        os.dup2(terminal, descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.stdin, sys.stdout, sys.stderr = open(0, closefd=False), open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    sys.argv = ["atlas", *arguments]
    from atlas.cli.main import main

    main()


if __name__ == "__main__":
    from atlas.runtime.process.litellm_library import load_litellm

    load_litellm()
    for name in ("atlas.cli.app", "atlas.cli.chat.chat", "prompt_toolkit", "mcp"):
        importlib.import_module(name)
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))
