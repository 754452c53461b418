"""Commands of `atlas` in forks of a process that has imported it: half a second of CPU for each command less.

The fork has the arguments, folder, variables and files of a process of its own, and runs `atlas.cli.main`. What belongs
to the start of an interpreter (its encoding, the seed of its hashes) is that of the process it is forked from.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.surfaces.imported"])
AT_START = ("PYTHON", "LC_", "LANG")
"""Beginnings of the names of variables that an interpreter reads when it starts."""


def can_fork(variables: Mapping[str, str]) -> bool:
    """Whether a fork reads these variables as a new process would."""
    return not any(name.startswith(AT_START) and os.environ.get(name) != variables[name] for name in variables)


def run(
    arguments: tuple[str, ...], cwd: Path | None, variables: dict[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, as `subprocess.run` does with captured text."""
    with tempfile.TemporaryDirectory(prefix="atlas-command-") as folder:
        written = [Path(folder) / name for name in ("stdout", "stderr")]
        for path in written:
            path.touch()
        process = _CONTEXT.Process(
            target=_command, args=(arguments, str(cwd or Path.cwd()), variables, written), daemon=True
        )
        process.start()
        process.join(timeout)
        ended = process.exitcode
        if ended is None:
            process.kill()
            process.join()
        process.close()
        out, err = (path.read_text("utf-8") for path in written)
        if ended is None:
            raise subprocess.TimeoutExpired(["atlas", *arguments], timeout, out, err)
        return subprocess.CompletedProcess(["atlas", *arguments], ended, out, err)


class Running:
    """A command that runs, with the part of `subprocess.Popen` that tests of servers use."""

    def __init__(self, arguments: Sequence[str], variables: dict[str, str]) -> None:
        read, write = os.pipe()
        self.stderr = os.fdopen(read, encoding="utf-8", errors="replace")
        with Connection(write, readable=False) as told:
            self._process = _CONTEXT.Process(
                target=_server, args=(arguments, str(Path.cwd()), variables, told), daemon=True
            )
            self._process.start()
        assert self._process.pid
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if (ended := self._process.exitcode) is None:
            raise subprocess.TimeoutExpired("atlas", timeout or 0)
        return ended

    def send_signal(self, kind: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, kind)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _server(arguments: Sequence[str], cwd: str, variables: dict[str, str], told: Connection) -> None:
    os.dup2(told.fileno(), 2)
    told.close()
    _main(arguments, cwd, variables)


def _command(arguments: Sequence[str], cwd: str, variables: dict[str, str], written: list[Path]) -> None:
    for descriptor, path in zip((1, 2), written, strict=True):
        file = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.dup2(file, descriptor)
        os.close(file)
    _main(arguments, cwd, variables)


def _main(arguments: Sequence[str], cwd: str, variables: dict[str, str]) -> None:
    # those of the process that it is forked from were opened on other files
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = ["atlas", *arguments]
    from atlas.cli.main import main

    main()
