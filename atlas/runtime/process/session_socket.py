"""The socket on which a daemon serves sessions: its place, who may connect, and the first line in each direction.

After these two lines a connection carries MCP as over stdio, one message a line. Both ends check that the other one is
a process of the same user. Imports little: see `places`.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import stat
import struct
import sys

from atlas import __version__
from atlas.runtime.process import places

TYPE_CHECKING = False  # `typing` is not imported for a session's proxy
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LONGEST_PATH = 103 if sys.platform == "darwin" else 107
"""Bytes: the operating system's `sun_path` without its final zero."""
LONGEST_LINE = 1 << 20
"""Bytes of a first line."""
BACKLOG = 256
CLOSING = b'{"atlas":"closing"}\n'
"""The last line of a daemon that ends in order: its sessions do not start another one."""
RESTING = b'{"atlas":"resting"}\n'
"""The last line of a daemon that rests: it has begun with none of the messages that it has not answered."""

SESSION_SETTINGS = ("ATLAS_MCP_", "ATLAS_SEARCH_")
"""Variables that only the session's own settings read: a daemon serves sessions that differ in them."""
PER_CALL = ("ATLAS_PROJECT", "ATLAS_DATA_DIR", "ATLAS_DEBUG")
SURROUNDINGS = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TZ")
KEYS = ("_KEY", "_TOKEN", "_SECRET", "_PROXY", "_BASE", "_URL", "_CERT_FILE", "_CERT_DIR", "_CA_BUNDLE", "_PROFILE")
"""Endings of variables that clients of servers read, in any case."""


def open_run_folder() -> str:
    """Create the folder of sockets for this user only, and return it. Raises OSError if it is not the user's own."""
    folder = os.path.join(places.cache_root(), places.RUN_FOLDER)
    _make(folder)
    _check_folder(folder)
    return folder


def _make(folder: str) -> None:
    # not with `makedirs`, which gives parents the mode 0777: others could then replace the folder
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    except FileNotFoundError:
        _make(os.path.dirname(folder))
        _make(folder)


def _check_folder(folder: str) -> None:
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise PermissionError(1, "not a private folder of this user", folder)


def listen(path: str) -> socket.socket:
    """Return a socket that listens at a path, of mode 0600, in place of one that a killed daemon left.

    The caller holds the lock beside it. Raises OSError.
    """
    open_run_folder()
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        if os.path.lexists(path):
            os.unlink(path)
        _at(path, listening.bind)
        listening.listen(BACKLOG)
    except BaseException:  # also an interrupt: the socket has no other owner
        listening.close()
        raise
    finally:
        os.umask(before)
    return listening


def take_lock(path: str) -> int:
    """Return a descriptor that holds the lock of the process which serves sessions, -1 if another one does."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    if try_lock(lock):
        return lock
    os.close(lock)
    return -1


def try_lock(lock: int) -> bool:
    """Take the lock of an open file; return whether that succeeded. Never waits."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def connect(path: str) -> socket.socket:
    """Return a connection to the daemon at a path. Raises OSError without one, and for one of another user."""
    _check_folder(os.path.dirname(path))
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _at(path, connected.connect)
        if peer_of(connected) != os.geteuid():
            raise PermissionError(1, "the daemon belongs to another user", path)
    except BaseException:  # also an interrupt
        connected.close()
        raise
    return connected


def peer_of(connected: socket.socket) -> int:
    """Return the user id of the process at the other end. Raises OSError."""
    if sys.platform == "linux":
        return struct.unpack("3i", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
    # LOCAL_PEERCRED of the BSDs and macOS: struct xucred begins with its version and the user id
    return struct.unpack("2I", connected.getsockopt(0, 1, 76)[:8])[1]


def surroundings() -> str:
    """Return a digest of what must be equal for a daemon to answer as a process of the session's own would."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in SURROUNDINGS
        or (name.startswith("ATLAS_") and not name.startswith(SESSION_SETTINGS) and name not in PER_CALL)
    }
    umask = os.umask(0o077)
    os.umask(umask)
    root = os.stat("/")
    try:  # a container that shares the cache sees other files at the same paths
        namespace = os.readlink("/proc/self/ns/mnt")
    except OSError:
        namespace = ""
    return places.digest(json.dumps([kept, umask, root.st_dev, root.st_ino, namespace], sort_keys=True))


def keys_of_servers() -> str:
    """Return a digest of the variables that clients of servers read: keys, addresses, proxies, certificates."""
    kept = {name: value for name, value in os.environ.items() if name.upper().endswith(KEYS)}
    return places.digest(json.dumps(kept, sort_keys=True))


def identity() -> dict[str, object]:
    """Return what names this program: its version, and which installation it is."""
    return {
        "atlas": __version__,
        "installation": os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
    }


def hello(asks: str, project: str = "", data_dir: str = "", toolsets: str = "", here: str = "") -> dict[str, object]:
    """Return the first line of a connection: what it asks for, and what the settings of a session are made of.

    `asks`: "session"; "index" for a pass; "state" of the daemon; "stay" without a session.
    """
    variables = {
        name: value for name, value in os.environ.items() if name.startswith("ATLAS_") and name != "ATLAS_MCP_TOKEN"
    }
    return {
        **identity(),
        "asks": asks,
        "project": project,
        "data_dir": data_dir,
        "toolsets": toolsets,
        "here": here or os.getcwd(),
        "environment": variables,
        "surroundings": surroundings(),
        "keys": keys_of_servers(),
    }


def line_of(document: Mapping[str, object]) -> bytes:
    """Return a document as one line."""
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def ask(path: str, document: Mapping[str, object], seconds: float) -> dict[str, Any]:
    """Send one line to the daemon at a path and return its answer. Raises OSError, and ValueError for no answer."""
    connected = connect(path)
    try:
        return exchange(connected, document, seconds)
    finally:
        connected.close()


def exchange(connected: socket.socket, document: Mapping[str, object], seconds: float) -> dict[str, Any]:
    """Send the first line and return the other end's, within this time. Raises OSError and ValueError."""
    connected.settimeout(seconds)
    connected.sendall(line_of(document))
    answer = bytearray()
    while not answer.endswith(b"\n"):
        # nothing follows the daemon's first line before the client's next one
        part = connected.recv(65_536)
        answer += part
        if not part:
            raise ConnectionResetError("the daemon ended before its answer")
        if len(answer) > LONGEST_LINE:
            raise ValueError("the daemon's answer is too long")
    parsed: Any = json.loads(answer)
    if not isinstance(parsed, dict):
        raise ValueError("the daemon did not answer with an object")
    answered: dict[str, Any] = parsed  # pyright: ignore[reportUnknownVariableType] `cast` needs the import of typing
    return answered  # pyright: ignore[reportUnknownVariableType]


def _at(path: str, work: Any) -> None:
    """Bind or connect at a path, by a path relative to its folder if it is too long for the system."""
    if len(os.fsencode(path)) <= LONGEST_PATH:
        work(path)
        return
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(os.path.dirname(path))
        work(os.path.basename(path))
    finally:
        os.fchdir(here)
        os.close(here)
