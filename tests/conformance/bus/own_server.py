"""The daemon's own bus server, spoken to directly and killed."""

from __future__ import annotations

import os
import signal
import socket
import time

from atlas.adapters.buses.valkey.server import ManagedServer


def say(server: ManagedServer, *words: str) -> str:
    """Send a command and return the answer as the server writes it."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect(server.url)
        client.sendall((" ".join(words) + "\r\n").encode())
        return client.recv(65536).decode()


def kill(server: ManagedServer) -> None:
    """Kill it when all that it was told is in its log: while the disk is slow it writes up to two seconds late."""
    while "aof_buffer_length:0\r\n" not in say(server, "INFO", "persistence"):
        time.sleep(0.01)
    os.kill(server.pid, signal.SIGKILL)
    while server.alive():
        time.sleep(0.005)
