"""Hosts in network namespaces of this machine: each with an address of its own, and a way to the one we are on.

Needs root and `ip`; where that is not allowed there are none.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Host:
    """A namespace, joined to us by a pair of interfaces; `ours` is our address as seen from there."""

    name: str
    interface: str
    ours: str

    @property
    def enter(self) -> Sequence[str]:
        """What stands before a command that is to run there."""
        return ("ip", "netns", "exec", self.name)

    def unplug(self) -> None:
        _ip("link", "set", self.interface, "down")

    def plug_in(self) -> None:
        _ip("link", "set", self.interface, "up")


def are_possible() -> bool:
    """Whether this machine lets us make them."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    try:
        with hosts(1):
            return True
    except subprocess.CalledProcessError:
        return False


@contextmanager
def hosts(number: int) -> Generator[list[Host]]:
    """Make this number of hosts; they are gone afterwards."""
    _clear()
    made: list[Host] = []
    try:
        for count in range(number):
            host = Host(f"atlas{os.getpid()}-{count}", f"at{os.getpid() % 10**8}-{count}", f"10.213.{count}.1")
            _ip("netns", "add", host.name)
            made.append(host)
            _ip("link", "add", host.interface, "type", "veth", "peer", "name", "eth0", "netns", host.name)
            _ip("addr", "add", f"{host.ours}/24", "dev", host.interface)
            _ip("link", "set", host.interface, "up")
            _ip("-n", host.name, "addr", "add", f"10.213.{count}.2/24", "dev", "eth0")
            for interface in ("eth0", "lo"):
                _ip("-n", host.name, "link", "set", interface, "up")
        yield made
    finally:
        for host in made:
            with suppress(subprocess.CalledProcessError):
                _ip("link", "del", host.interface)
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "del", host.name)


def _clear() -> None:
    """Remove what test runs left that were killed: their addresses would take the way to ours."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False).stdout
    for name, pid in re.findall(r"^(atlas(\d+)-\d+)\b", listed, re.MULTILINE):
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "del", name)


@dataclass
class Door:
    """Listens on our address for a host and passes all on to a server that is for this machine only."""

    address: str
    to: tuple[int, str | tuple[str, int]]
    """Family and address of the server."""
    port: int = 0
    _listener: socket.socket = field(init=False)
    _threads: list[threading.Thread] = field(default_factory=list[threading.Thread])
    _open: list[socket.socket] = field(default_factory=list[socket.socket])

    def __post_init__(self) -> None:
        self._listener = socket.create_server((self.address, 0))
        self.port = self._listener.getsockname()[1]
        self._start(self._serve)

    def close(self) -> None:
        for end in (self._listener, *self._open):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        for end in (self._listener, *self._open):
            end.close()

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(self.to[0])
            self._open += [client, server]
            with suppress(OSError):
                server.connect(self.to[1])
            for pair in ((client, server), (server, client)):
                self._start(_pass, *pair)


def _pass(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
    for end in (source, sink):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
