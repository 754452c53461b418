"""The daemon seen from outside: find the one of a data folder, start one, stop it.

A daemon holds the lock on `daemon.lock` of its data folder for as long as it lives; the file's content describes it.
This module does not know what a daemon does.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self, cast

from atlas.core import errors
from atlas.core.errors import AtlasError, ConfigError, Unavailable
from atlas.runtime.process import session_socket
from atlas.runtime.process.files import open_file
from atlas.runtime.process.lock import LockFile
from atlas.runtime.process.places import run_path

LOCK_FILE = "daemon.lock"
LAUNCH_FILE = "launch.lock"
"""Held by a daemon that a session has launched, from before its process exists until that has ended."""

ENDED = "ended"
RESTING = "resting"

TAKE_SECONDS = 0.5
"""A process that asks whether a daemon runs holds the lock for a moment, and so does a daemon that is ending."""

POLL_SECONDS = 0.02

STOP_SECONDS = 45.0
"""A batch in progress may take 30 of them."""

KILLED_SECONDS = 5.0

TOLD_SECONDS = 5.0
"""Time for an answer about sessions."""

MAX_BYTES = 65_536
"""Upper bound for reading a lock file or the end of the output; a lock file is far smaller."""

Say = Callable[[str], None]
"""Receives a message for people about what the caller waits for."""


@dataclass(frozen=True, slots=True)
class RunningDaemon:
    """What a daemon reports about itself."""

    pid: int = 0
    since: float = 0.0
    """Unix time of its start."""
    roots: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    bus: str = ""
    """Address of the bus without its password; "" = a server of its own."""
    phase: str = "starting"
    """`waiting` for another writer, `starting`, `indexing`, `ready` (up to date and following changes), `resting` (see
    `process.resting`), or `ended`."""
    detail: str = ""
    """What the daemon waits for, or how much work is left."""
    stays: bool = True
    """Whether it goes on without a session."""


@dataclass(frozen=True, slots=True)
class ServedSession:
    """One client of a daemon."""

    client: str
    """Name and version as it says, "" before it does."""
    project: str
    since: float


@dataclass(frozen=True, slots=True)
class ServingDaemon:
    """What the process that serves the sessions of a data folder says about itself."""

    pid: int
    since: float
    stays: bool
    """Whether it goes on without a session."""
    sessions: tuple[ServedSession, ...]
    version: str = ""


class DaemonInstance:
    """The held lock of a daemon; create with `take`."""

    def __init__(self, file: LockFile, running: RunningDaemon) -> None:
        self._file, self._running = file, running

    @classmethod
    def take(cls, data_dir: Path, running: RunningDaemon, seconds: float = TAKE_SECONDS) -> Self | None:
        """Return the lock of the data folder, or None when a daemon still holds it after `seconds`.

        Raises ConfigError for a lock file that cannot be used.
        """
        path = data_dir / LOCK_FILE
        try:
            file = LockFile.open(path)
        except OSError as error:
            raise ConfigError(f"cannot use {path}: {error.strerror}", "check the permissions of the folder") from error
        end = time.monotonic() + seconds
        while not _try_lock(file):
            if time.monotonic() > end:
                file.close()
                return None
            time.sleep(POLL_SECONDS)
        instance = cls(file, running)
        instance._write()
        return instance

    @classmethod
    def inherit(cls, data_dir: Path, running: RunningDaemon, descriptor: int) -> Self:
        """Return the lock that this process has held since before it rested."""
        os.set_inheritable(descriptor, False)
        instance = cls(LockFile(data_dir / LOCK_FILE, descriptor), running)
        instance._write()
        return instance

    def rest(self, *, stays: bool) -> dict[str, object]:
        """Record that the daemon rests; return what a resting process needs of the lock, see `process.resting`."""
        self._running = replace(self._running, phase=RESTING, detail="", stays=stays)
        self._write()
        ended = json.dumps(asdict(replace(self._running, phase=ENDED, detail="")))
        return {"lock": self._file.fileno(), "lock_path": str(self._file.path), "ended": ended}

    def report_status(self, phase: str, detail: str = "") -> None:
        """Record the daemon's progress."""
        if (phase, detail) != (self._running.phase, self._running.detail):
            self._running = replace(self._running, phase=phase, detail=detail)
            self._write()

    def is_valid(self) -> bool:
        """Return whether other processes still see this lock file; its folder may have been removed."""
        return self._file.is_current()

    def release(self) -> None:
        """Record that the daemon has ended and release the lock; idempotent.

        A process that is about to exit reports `ended` and keeps the lock instead, so that a process that
        waits for the lock waits until the process is gone.
        """
        if not self._file.is_closed:
            self.report_status(ENDED)
            self._file.close()

    def _write(self) -> None:
        self._file.write(json.dumps(asdict(self._running)).encode())


def find_running(data_dir: Path) -> RunningDaemon | None:
    """Return the running daemon of a data folder, or None. Changes nothing."""
    file = _open_to_read(data_dir)
    if file is None:
        return None
    try:
        end = time.monotonic() + TAKE_SECONDS
        while time.monotonic() < end:
            if _try_lock(file, shared=True):
                return None
            running = _parsed(file.read(MAX_BYTES))
            if running is not None and running.phase != ENDED:
                return running
            time.sleep(POLL_SECONDS)
    finally:
        file.close()
    return RunningDaemon()


def find_serving(data_dir: Path) -> ServingDaemon | None:
    """Return the process that serves the sessions of a data folder, None without one that answers.

    One that rests serves no session and is not asked: a connection would bring it back.
    """
    try:
        if is_resting(find_running(data_dir)):
            return None
        told = session_socket.ask(run_path(str(data_dir), "sock"), session_socket.hello("state"), TOLD_SECONDS)
        sessions = tuple(
            ServedSession(str(one["client"]), str(one["project"]), float(one["since"])) for one in told["sessions"]
        )
        return ServingDaemon(int(told["pid"]), float(told["since"]), bool(told["stays"]), sessions, str(told["atlas"]))
    except (OSError, ValueError, TypeError, KeyError, ConfigError):
        return None


def is_resting(running: RunningDaemon | None) -> bool:
    """Return whether a daemon rests: it keeps its trees' index, but neither writes nor answers now."""
    return running is not None and running.phase == RESTING


def keep_serving(data_dir: Path) -> None:
    """Have a daemon that a session has started go on without sessions, if one runs."""
    with contextlib.suppress(OSError, ValueError):
        session_socket.ask(run_path(str(data_dir), "sock"), session_socket.hello("stay"), TOLD_SECONDS)


def stop_serving(data_dir: Path, serving: ServingDaemon, seconds: float = STOP_SECONDS) -> None:
    """End the process that serves sessions and wait until it is gone; their clients go on without it.

    It may be ending already, after another signal.
    """
    for kind, patience in ((signal.SIGTERM, seconds), (signal.SIGKILL, KILLED_SECONDS)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(serving.pid, kind)
        end = time.monotonic() + patience
        while time.monotonic() < end:
            lock = session_socket.take_lock(run_path(str(data_dir), "lock"))
            if lock >= 0:
                os.close(lock)
                return
            time.sleep(POLL_SECONDS)


def last_running(data_dir: Path) -> RunningDaemon | None:
    """Return the running or killed daemon of a data folder; None without one, or when the last one ended normally."""
    file = _open_to_read(data_dir)
    if file is None:
        return None
    try:
        running = _parsed(file.read(MAX_BYTES))
        return None if running is None or running.phase == ENDED else running
    finally:
        file.close()


def spawn(
    command: Sequence[str], folder: Path, output: Path, environment: Mapping[str, str], keep: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a process that outlives this one and its terminal, and inherits the descriptors `keep`.

    Its output replaces the content of `output`.
    """
    with os.fdopen(open_file(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            cwd=folder,
            env=environment,
            pass_fds=keep,
            start_new_session=True,
        )


def wait_until_working(
    data_dir: Path, process: subprocess.Popen[bytes], output: Path, seconds: float, settle: float, say: Say
) -> RunningDaemon:
    """Wait for a daemon to be ready, or after `settle` seconds to be indexing, and return it.

    The result may be another daemon that started first. Raises the error that the process ended with, and Unavailable
    when it is not working within `seconds`; the process then keeps running.
    """
    started = time.monotonic()
    reported = ""
    while True:
        running, waited = find_running(data_dir), time.monotonic() - started
        phase = running.phase if running is not None else ""
        if running is not None and (phase in ("ready", RESTING) or (phase == "indexing" and waited >= settle)):
            return running
        if running is None and process.poll() is not None:
            raise _failure(process.returncode, output)
        phase = f"{running.phase} {running.detail}".strip() if running is not None else "starting"
        if waited >= 1.0 and phase != reported:
            reported = phase
            say(phase)
        if waited > seconds:
            raise Unavailable(
                f"the daemon (process {process.pid}) is not working after {seconds:g} seconds: {phase}",
                "it keeps trying; see `atlas daemon logs`, or stop it with `atlas daemon stop`",
            )
        time.sleep(POLL_SECONDS)


def start_failure(data_dir: Path, process: subprocess.Popen[bytes], output: Path) -> AtlasError | None:
    """Return the error with which a started daemon has ended; None while it runs, or another one does."""
    if process.poll() in (None, 0) or find_running(data_dir) is not None:
        return None
    return _failure(process.returncode, output)


def stop(data_dir: Path, say: Say, seconds: float = STOP_SECONDS) -> tuple[RunningDaemon, bool] | None:
    """Stop the daemon of a data folder; return it and whether it had to be killed, or None when none ran.

    Clears what a killed daemon recorded, because the caller learns of it from the result. Raises AtlasError when the
    daemon belongs to another user or survives being killed.
    """
    running = find_running(data_dir)
    if running is None:
        _forget_killed(data_dir)
        return None
    for kind, patience in ((signal.SIGTERM, seconds), (signal.SIGKILL, KILLED_SECONDS)):
        if kind == signal.SIGKILL:
            say(f"process {running.pid} has not ended within {seconds:g} seconds: killing it")
        try:
            if running.pid > 1:
                os.kill(running.pid, kind)
        except ProcessLookupError:
            pass
        except PermissionError as error:
            raise AtlasError(f"process {running.pid} belongs to another user", "ask them to stop it") from error
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if (now := find_running(data_dir)) is None or now.pid != running.pid:
                _forget_killed(data_dir)
                return running, kind == signal.SIGKILL
            time.sleep(POLL_SECONDS)
    raise AtlasError(f"process {running.pid} does not end", "see `atlas daemon logs`")


def _open_to_read(data_dir: Path) -> LockFile | None:
    try:
        return LockFile.open(data_dir / LOCK_FILE, os.O_RDONLY)
    except OSError:
        return None


def _forget_killed(data_dir: Path) -> None:
    """Clear the lock file unless a daemon holds it."""
    try:
        file = LockFile.open(data_dir / LOCK_FILE, os.O_RDWR)
    except OSError:
        return
    try:
        if _try_lock(file):
            file.clear()
    finally:
        file.close()


def _failure(code: int, output: Path) -> AtlasError:
    """Return the error that a process ended with: the one it reported as JSON, or the end of its output."""
    text = output.read_bytes()[-MAX_BYTES:].decode("utf8", "replace")
    for line in reversed(text.splitlines()):
        with contextlib.suppress(ValueError, TypeError, KeyError):
            reported = json.loads(line)["error"]
            kind = getattr(errors, reported["kind"], AtlasError)
            return cast("AtlasError", kind(reported["message"], reported["hint"]))
    last = " | ".join(line.strip() for line in text.splitlines()[-3:] if line.strip())
    ended = f"by signal {-code}" if code < 0 else f"with code {code}"
    return AtlasError(f"the daemon ended {ended}{': ' if last else ''}{last}", f"see {output}")


def _parsed(data: bytes) -> RunningDaemon | None:
    try:
        reported: Any = json.loads(data)
        return RunningDaemon(
            pid=int(reported["pid"]),
            since=float(reported["since"]),
            roots=tuple(map(str, reported["roots"])),
            projects=tuple(map(str, reported["projects"])),
            bus=str(reported["bus"]),
            phase=str(reported["phase"]),
            detail=str(reported["detail"]),
            stays=bool(reported.get("stays", True)),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _try_lock(file: LockFile, *, shared: bool = False) -> bool:
    if os.name == "nt":
        raise ConfigError("the daemon needs Linux or macOS", "Use `atlas index`.")
    try:
        return file.try_lock(shared=shared)
    except OSError as error:
        hint = "choose a folder on a local disk with --data-dir"
        raise ConfigError(f"the disk of the data folder cannot lock files: {error.strerror}", hint) from error
