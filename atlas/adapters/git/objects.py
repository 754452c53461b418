"""Objects of a repository by name: commits, trees and texts, from packs and loose files, with limits and caches.

Names are 20 bytes. Alternates and replacement objects are not followed. Not thread-safe.
"""

from __future__ import annotations

import struct
import zlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from dulwich.errors import ApplyDeltaError, ObjectFormatException
from dulwich.objects import Commit as RawCommit
from dulwich.objects import ShaFile, parse_tree

from atlas.adapters.git.limits import MAX_META_BYTES, MAX_OBJECT_BYTES, Deadline
from atlas.adapters.git.packs import Packs
from atlas.core.errors import HistoryError
from atlas.runtime.process.files_below import list_below, read_below

COMMIT, TREE, BLOB, TAG = 1, 2, 3, 4
_KINDS = {b"commit": COMMIT, b"tree": TREE, b"blob": BLOB, b"tag": TAG}
_NAMES = {number: name.decode() for name, number in _KINDS.items()}
_DAMAGE = (
    zlib.error, struct.error, ValueError, KeyError, IndexError, TypeError, AssertionError, OverflowError,
    ApplyDeltaError, ObjectFormatException,
)  # fmt: skip
"""What dulwich and zlib raise for content that is not what it should be."""
_CACHED_BYTES = 48 << 20
_SUBJECT_BYTES = 2_000
_BODY_BYTES = 2_000
_ENTRY_BYTES = 120
"""Memory of one parsed entry of a tree, measured."""

FOLDER_MODE = 0o040000
LINK_MODE = 0o120000
MODULE_MODE = 0o160000


class TreeEntry(NamedTuple):
    """An entry of a tree."""

    mode: int
    oid: bytes


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """What is needed of a commit."""

    oid: bytes
    tree: bytes
    parents: tuple[bytes, ...]
    author: str
    time: int
    """Unix time of the commit."""
    day: str
    """Day of the author, in the author's time zone, as `git log` shows it; "" for a time that no calendar has."""
    subject: str


class MissingObject(HistoryError):
    """An object that the repository does not hold: of a shallow or partial clone, of alternates, or lost."""


class Objects:
    """The objects of one repository; `deadline` is that of the current question."""

    def __init__(self, common: Path, mask: Callable[[bytes], bytes]) -> None:
        self._common, self._mask = common, mask
        self._packs = Packs(common)
        self._cache: OrderedDict[bytes, tuple[object, int]] = OrderedDict()
        self._cached = 0
        self.deadline = Deadline(0)

    def refresh(self, deadline: Deadline) -> None:
        """Begin a question: look for new packs."""
        self.deadline = deadline
        try:
            self._packs.refresh()
        except _DAMAGE as error:
            raise _damaged("a pack", error) from error

    def close(self) -> None:
        """Close all files; idempotent."""
        self._packs.close()
        self._cache.clear()
        self._cached = 0

    def read(self, oid: bytes, most: int = MAX_OBJECT_BYTES) -> tuple[int, bytes]:
        """Return (type, content). Raises MissingObject and HistoryError."""
        try:
            if (found := self._packs.find(oid)) is not None:
                return self._packs.read(*found, most, self.deadline)
            return self._loose(oid, most)
        except _DAMAGE as error:
            problem = _damaged(f"object {oid.hex()[:12]}", error)
        # outside of the handler: the traceback would hold views of a pack, which could not be closed
        raise problem

    def kind(self, oid: bytes) -> str:
        """Return `commit`, `tree`, `blob` or `tag`."""
        return _NAMES.get(self.read(oid)[0], "object")

    def blob(self, oid: bytes, most: int) -> bytes | None:
        """Return the content of a file; None for one larger than `most`."""
        try:
            kind, content = self.read(oid, most)
        except MissingObject:
            raise
        except HistoryError as error:
            if "too large" in error.message:
                return None
            raise
        return content if kind == BLOB else None

    def commit(self, oid: bytes) -> CommitRecord:
        """Return a commit. Raises HistoryError if the object is something else."""
        cached = self._cached_value(oid)
        if isinstance(cached, CommitRecord):
            return cached
        kind, content = self.read(oid, MAX_META_BYTES)
        if kind != COMMIT:
            raise HistoryError(f"{oid.hex()[:12]} is a {_NAMES.get(kind, 'strange object')}, not a commit")
        try:
            record = _record(oid, content, self._mask)
        except _DAMAGE as error:
            raise _damaged(f"commit {oid.hex()[:12]}", error) from error
        self._keep(oid, record, 1000)
        return record

    def message(self, oid: bytes) -> str:
        """Return what the message of a commit says below its first line, on one line; "" for nothing."""
        kind, content = self.read(oid, MAX_META_BYTES)
        if kind != COMMIT:
            return ""
        body = content.partition(b"\n\n")[2].lstrip(b"\n").partition(b"\n")[2][:_BODY_BYTES]
        return one_line(self._mask(body), _BODY_BYTES)

    def tree(self, oid: bytes) -> dict[bytes, TreeEntry]:
        """Return the entries of a tree by name, without names that no folder can hold."""
        cached = self._cached_value(oid)
        if isinstance(cached, dict):
            return cached  # pyright: ignore[reportUnknownVariableType]
        kind, content = self.read(oid)
        if kind != TREE:
            raise HistoryError(f"{oid.hex()[:12]} is a {_NAMES.get(kind, 'strange object')}, not a tree")
        try:
            entries = {
                name: TreeEntry(mode, bytes.fromhex(sha.decode()))
                for name, mode, sha in parse_tree(content, 20)
                if name not in (b"", b".", b"..", b".git") and b"/" not in name
            }
        except _DAMAGE as error:
            raise _damaged(f"tree {oid.hex()[:12]}", error) from error
        self._keep(oid, entries, len(entries) * _ENTRY_BYTES + 200)
        return entries

    def tag_target(self, oid: bytes) -> bytes | None:
        """Return what an annotated tag points to; None for another object."""
        kind, content = self.read(oid, MAX_META_BYTES)
        if kind != TAG:
            return None
        line = content.partition(b"\n")[0]
        try:
            return bytes.fromhex(line.removeprefix(b"object ").decode("ascii")) if len(line) == 47 else None
        except ValueError:
            return None

    def with_prefix(self, prefix: str) -> list[bytes]:
        """Return the names that begin with hexadecimal digits, at least four."""
        even = prefix[: len(prefix) // 2 * 2]
        try:
            found = self._packs.with_prefix(bytes.fromhex(even))
        except _DAMAGE as error:
            raise _damaged("the index of a pack", error) from error
        try:
            loose = list_below(self._common, f"objects/{prefix[:2]}")
        except OSError:
            loose = []
        found += [bytes.fromhex(prefix[:2] + name) for name in loose if len(name) == 38 and _is_hex(name)]
        return sorted({oid for oid in found if oid.hex().startswith(prefix)})

    def _loose(self, oid: bytes, most: int) -> tuple[int, bytes]:
        name = oid.hex()
        try:
            packed = read_below(self._common, f"objects/{name[:2]}/{name[2:]}", most + 1024)
        except FileNotFoundError:
            raise self._missing(name) from None
        except OSError as error:
            raise HistoryError(
                f"an object of the git history cannot be read: {name[:12]} ({error.strerror})"
            ) from error
        inflate = zlib.decompressobj()
        content = inflate.decompress(packed, most + 64)
        if inflate.unconsumed_tail:
            raise HistoryError(f"an object of the git history is too large (more than {most:,} bytes)")
        head, zero, body = content.partition(b"\0")
        kind, _, size = head.partition(b" ")
        if not zero or not inflate.eof or int(size) != len(body):
            raise ValueError("its size is not what it says")
        return _KINDS[kind], body

    def _missing(self, name: str) -> MissingObject:
        hint = "fetch the whole history: `git fetch --unshallow`, or `git fetch --refetch` for a partial clone"
        try:
            read_below(self._common, "objects/info/alternates", 1 << 20)
        except OSError:
            return MissingObject(f"the repository does not hold object {name[:12]}", hint)
        return MissingObject(
            f"object {name[:12]} is in another repository (objects/info/alternates), which is not read",
            "run `git repack -a -d`, then remove objects/info/alternates: the repository holds its objects itself",
        )

    def _cached_value(self, oid: bytes) -> object:
        if (found := self._cache.get(oid)) is None:
            return None
        self._cache.move_to_end(oid)
        return found[0]

    def _keep(self, oid: bytes, value: object, size: int) -> None:
        self._cache[oid] = (value, size)
        self._cached += size
        while self._cached > _CACHED_BYTES and len(self._cache) > 1:
            _, (_, dropped) = self._cache.popitem(last=False)
            self._cached -= dropped


def one_line(text: bytes, most: int = 200) -> str:
    """Return text as one printable line: messages and names may come from anyone."""
    words = "".join(sign if sign.isprintable() else " " for sign in text[: most * 4].decode("utf-8", "replace")).split()
    line = " ".join(words)
    return line if len(line) <= most else line[: most - 3] + "..."


def _record(oid: bytes, content: bytes, mask: Callable[[bytes], bytes]) -> CommitRecord:
    raw = ShaFile.from_raw_string(COMMIT, content)
    assert isinstance(raw, RawCommit)
    subject = raw.message.lstrip(b"\n").partition(b"\n")[0][:_SUBJECT_BYTES]
    return CommitRecord(
        oid,
        bytes.fromhex(raw.tree.decode()),
        tuple(bytes.fromhex(parent.decode()) for parent in raw.parents),
        one_line(mask(raw.author.partition(b" <")[0]), 80),
        int(raw.commit_time),
        _day(int(raw.author_time), int(raw.author_timezone)),
        one_line(mask(subject)),
    )


def _day(moment: int, zone: int) -> str:
    try:
        return datetime.fromtimestamp(moment + zone, UTC).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return ""


def _is_hex(text: str) -> bool:
    return all(sign in "0123456789abcdef" for sign in text)


def _damaged(what: str, error: BaseException) -> HistoryError:
    return HistoryError(
        f"the git history is damaged: {what} cannot be read ({type(error).__name__}: {str(error)[:100]})",
        "`git fsck` names what is damaged",
    )
