"""A copy of an index as the start of another tree's: what the index holds, a consistent copy, and its new identity.

A copy shares no file that is written to with its source afterwards. The source may be written to meanwhile.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

from atlas.adapters.stores.shared.statements import statements
from atlas.adapters.stores.sqlite.file import cloning
from atlas.adapters.stores.sqlite.file.connection import open_reader, open_writer
from atlas.adapters.stores.sqlite.file.errors import damaged, translated
from atlas.adapters.stores.sqlite.file.hardened import is_sealed
from atlas.adapters.stores.sqlite.rows import Row, begin, fetch, run_many, transaction
from atlas.core.errors import StoreError
from atlas.core.model import STRUCTURE_PATH

LOG_SUFFIX = "-wal"
STEPS, STEPS_PER_BYTE = 10_000_000, 40
"""Instructions of SQLite that a check of a received index takes at most, and for each byte of the file."""


@dataclass(frozen=True, slots=True)
class StoredTree:
    """The files of an index that holds one project."""

    project: str
    root: str
    read_by: str
    """The `digest` of the structure unit: what read and linked the files; "" before the first pass ends."""
    files: Mapping[str, tuple[int, str]]
    """Size and content digest by path."""


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file of the new tree whose content is the one that the index has read."""

    path: str
    size: int
    mtime_ns: int


def stored_tree(path: Path) -> StoredTree | None:
    """Return what an index holds; None unless it is exactly one project. Raises as opening for reading does."""
    with translated(path):
        connection = open_reader(path)
        try:
            begin(connection)
            found = _only_project(connection)
            if found is None:
                return None
            owner, project, root = found
            listed = fetch(connection, statements("seed")["files"], (owner,))
            files = {path: (size, digest) for path, size, digest in listed}
            _, read_by = files.pop(STRUCTURE_PATH, (0, ""))
            return StoredTree(project, root, read_by, files)
        finally:
            connection.close(True)


def check_received(path: Path) -> StoredTree:
    """Return what a database from another machine holds. Raises StoreError unless it is a whole index of one project.

    Opening has compared its tables with those of this program, so that it has no views and no triggers. Here every page
    is read once, within a limit: one that many others lead to makes every statement endless.
    """
    steps = STEPS + STEPS_PER_BYTE * path.stat().st_size
    with translated(path):
        try:
            connection = open_reader(path, most_steps=steps)
            try:
                problem = fetch(connection, "PRAGMA quick_check(1)")[0][0]
            finally:
                connection.close(True)
        except apsw.InterruptError:
            problem = "it takes too long to read"
    if problem != "ok":
        raise damaged(path, str(problem)[:200])
    tree = stored_tree(path)
    if tree is None:
        raise StoreError(f"the index at {path} does not hold one project")
    return tree


def began_from(path: Path) -> str:
    """Return what an index was copied from, "" for one that was made from files."""
    with translated(path):
        connection = open_reader(path)
        try:
            found = fetch(connection, statements("seed")["beginning"])
            return str(found[0][0]) if found else ""
        finally:
            connection.close(True)


def copy_database(source: Path, target: Path, *, layers: bool = False) -> None:
    """Copy a database that another process may be writing to; the copy is a committed state of it.

    With `layers` it may share blocks in a file below it (`shared_blocks`); both folders are in the user's cache then.

    While a reader has a transaction, a checkpoint moves only pages to the file that are in the log as well, and the log
    is not begun again. The file and then the log are therefore a whole state, whatever is committed meanwhile.

    Another process copies: if this one closed a file that it also has open as a database, it would lose its locks.
    """
    with translated(source):
        connection = open_reader(source)
        try:
            begin(connection)
            fetch(connection, statements("seed")["projects"])
            copy_files([(source, target), (_log(source), _log(target))], layers=layers and is_sealed(connection))
        finally:
            connection.close(True)


def copy_files(pairs: Sequence[tuple[Path, Path]], *, layers: bool = False) -> None:
    """Copy files, sharing their blocks where the file system can; a source that is missing gives no copy.

    `layers`: the copy of the first may share its blocks in a file below it. Raises StoreError with the reason, such as
    a full disk.
    """
    options = ["--layers"] if layers else []
    paths = [str(path) for pair in pairs for path in pair]
    command = [sys.executable, "-I", "-S", cloning.__file__, *options, *paths]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise StoreError(f"the index cannot be copied: {reason or f'exit code {done.returncode}'}")


def adopt(path: Path, project: str, root: str, seen: Sequence[SeenFile], began_from: str = "") -> None:
    """Make a copy the index of a project at another root; every file but those `seen` is compared by the next pass.

    `began_from` says what it was copied from. Raises StoreError for a copy that holds no single project.
    """
    with translated(path):
        connection = open_writer(path, log=False)
        try:
            with transaction(connection):
                found = _only_project(connection)
                if found is None:
                    raise StoreError(f"the copy at {path} does not hold one project")
                owner, name, _ = found
                _rewrite(connection, owner, name, project, root)
                fetch(connection, statements("seed")["forget_beginning"])
                if began_from:
                    fetch(connection, statements("seed")["note_beginning"], (began_from,))
                run_many(
                    connection,
                    statements("seed")["trust_file"],
                    [(owner, one.path, one.size, one.mtime_ns) for one in seen],
                )
        finally:
            connection.close(True)


def _rewrite(connection: apsw.Connection, owner: int, name: str, project: str, root: str) -> None:
    seed, write = statements("seed"), statements("write")
    if name != project:
        fetch(connection, seed["rename_symbols"], (f"{name}:", f"{project}:", len(name) + 2))
    fetch(connection, seed["rename_project"], (project, root, owner))
    fetch(connection, seed["distrust_files"], (owner,))
    fetch(connection, seed["clear_decisions"])
    for statement in ("clear_skipped", "clear_decision_counts"):
        fetch(connection, write[statement], (owner,))
    fetch(connection, write["new_identity"])


def _only_project(connection: apsw.Connection) -> Row | None:
    found = fetch(connection, statements("seed")["projects"])
    return found[0] if len(found) == 1 else None


def _log(path: Path) -> Path:
    return path.with_name(path.name + LOG_SUFFIX)
