"""The pace of requests to a service: one at a time and a pause between two, over all processes of this user.

A lock file in the library's folder is held while a request runs; it contains when the last one ended.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from atlas.core.errors import StoreError, Unavailable
from atlas.runtime.process.files import make_private_folder
from atlas.runtime.process.lock import LockFile

MAX_WAIT_SECONDS = 120.0
"""Beyond it other processes keep the service busy, and the caller says so."""
_LOOK_SECONDS = 0.05


class Pace:
    """Lets one request through at a time, and the next one only `pause` seconds after it."""

    def __init__(self, folder: Path, pause: float, file: str) -> None:
        """`file` is the name of the lock file, one for each service."""
        self._folder, self._pause, self._file = folder, pause, file
        self._closed = threading.Event()

    @contextmanager
    def turn(self) -> Generator[None]:
        """Wait for the turn of a request and hold it for the block. Raises Unavailable when closed or after 2 minutes.

        Raises StoreError if the folder cannot be written.
        """
        try:
            make_private_folder(self._folder)
            file = LockFile.open(self._folder / self._file)
        except OSError as error:
            raise StoreError(f"cannot write to {self._folder}: {error}", "Check papers.folder.") from error
        try:
            self._wait_for(file)
            self._sleep(self._last(file) + self._pause - time.time())
            try:
                yield
            finally:
                with contextlib.suppress(OSError):  # a full disk: the next process then waits less
                    file.write(f"{time.time():.3f}\n".encode())
        finally:
            file.close()

    def close(self) -> None:
        """End all waits; idempotent."""
        self._closed.set()

    def _wait_for(self, file: LockFile) -> None:
        until = time.monotonic() + MAX_WAIT_SECONDS
        while not file.try_lock():
            if time.monotonic() > until:
                raise Unavailable("other processes keep the paper service busy", "Try again in a minute.")
            self._sleep(_LOOK_SECONDS)

    def _last(self, file: LockFile) -> float:
        """Return when the last request ended; a time that lies ahead (a changed clock) counts as now."""
        try:
            return min(float(file.read(32).split()[0]), time.time())
        except (ValueError, IndexError):
            return 0.0

    def _sleep(self, seconds: float) -> None:
        if self._closed.wait(max(0.0, seconds)):
            raise Unavailable("the search was given up: the program ends")
