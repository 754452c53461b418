"""The single write connection of the embedded store, with its thread, its lock, and maintenance between writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, TypeVar

import apsw

from atlas.adapters.stores.sqlite.file.connection import DATABASE, file_identity, open_writer
from atlas.adapters.stores.sqlite.file.errors import translated
from atlas.adapters.stores.sqlite.file.hardened import register_page_checks
from atlas.adapters.stores.sqlite.file.maintenance import QUIET_SECONDS, Maintenance
from atlas.adapters.stores.sqlite.file.page_checks import NOTE_SUFFIX, note_close, verify
from atlas.adapters.stores.sqlite.file.schema_check import UNSEALED_VERSION, stored_version
from atlas.adapters.stores.sqlite.file.shared_blocks import remove_layers
from atlas.adapters.stores.sqlite.file.upgrade import COPY_SUFFIX, upgraded
from atlas.core.errors import StoreError
from atlas.core.threads import run_shielded
from atlas.runtime.process.data_folder import make_folder
from atlas.runtime.process.lock import WriterLock

_Result = TypeVar("_Result")


class Writer:
    """Runs one write at a time, in the order of the calls. Use it from one event loop."""

    def __init__(self, data_dir: Path, reset: bool) -> None:
        self._path = data_dir / DATABASE
        with translated(self._path):
            make_folder(data_dir)
        self._lock = WriterLock(data_dir)
        with ExitStack() as undone, translated(self._path):
            undone.callback(self._lock.release)
            if reset:
                for suffix in ("", "-wal", "-shm", NOTE_SUFFIX, COPY_SUFFIX):
                    self._path.with_name(DATABASE + suffix).unlink(missing_ok=True)
                remove_layers(self._path)
            self._connection, self._part = _open(self._path)
            undone.pop_all()
        self._identity = file_identity(self._path)
        self._maintenance = Maintenance(self._connection)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="atlas-writer")
        self._pending = 0
        self._closing = False
        self._idle_timer: asyncio.TimerHandle | None = None

    async def run(self, work: Callable[..., _Result], *arguments: Any) -> _Result:
        """Run `work(connection, *arguments)` in the writer thread, after earlier calls, and return its result."""
        loop = asyncio.get_running_loop()
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self._pending += 1
        try:
            return await run_shielded(loop.run_in_executor(self._thread, self._call, work, arguments))
        finally:
            self._pending -= 1
            if self._maintenance.due:
                self._submit(self._maintenance.move_log)
            self._idle_timer = loop.call_later(
                QUIET_SECONDS, self._submit, self._maintenance.erase_when_idle, self._is_idle
            )

    def close(self) -> None:
        """Wait for the running write, close the connection and release the writer lock; idempotent."""
        if self._closing:
            return
        self._closing = True
        self._thread.shutdown(wait=True)
        with ExitStack() as last, translated(self._path):
            last.callback(self._lock.release)
            last.callback(self._connection.close, True)
            self._maintenance.end()
            self._connection.close(True)
            if file_identity(self._path) == self._identity:
                note_close(self._path, self._part)

    def _call(self, work: Callable[..., _Result], arguments: tuple[Any, ...]) -> _Result:
        if file_identity(self._path) != self._identity:
            raise StoreError(f"the index at {self._path} was removed or replaced", "start the program again")
        with translated(self._path):
            return work(self._connection, *arguments)

    def _submit(self, work: Callable[..., None], *arguments: Any) -> None:
        """Run background work in the writer thread; work submitted after closing is dropped."""
        with suppress(RuntimeError):
            self._thread.submit(work, *arguments)

    def _is_idle(self) -> bool:
        return not self._pending and not self._closing


def _open(path: Path) -> tuple[apsw.Connection, int]:
    """Open the file for writing and verify it, with checksums where possible; also return the part to verify next."""
    with ExitStack() as undone:
        connection = open_writer(path)
        undone.callback(connection.close, True)
        old = stored_version(connection) == UNSEALED_VERSION
        if old and register_page_checks() and upgraded(connection, path):
            connection = open_writer(path)
            undone.callback(connection.close, True)
        part = verify(connection, path)
        undone.pop_all()
        return connection, part
