"""Objects of pack files, through dulwich's index and delta code, with limits before anything is unpacked."""

from __future__ import annotations

import contextlib
import os
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from dulwich.object_format import SHA1
from dulwich.objects import RawObjectID
from dulwich.pack import (
    OFS_DELTA,
    REF_DELTA,
    PackData,
    PackIndex,
    apply_delta,  # pyright: ignore[reportUnknownVariableType]
    load_pack_index_file,
    unpack_object_at,
)

from atlas.adapters.git.limits import MAX_CHAIN, MAX_CHAIN_BYTES, MAX_PACKS, Deadline
from atlas.core.errors import HistoryError
from atlas.runtime.process.files_below import list_below, open_below

_FOLDER = "objects/pack"
_KEPT_BYTES = 32 << 20
"""Results of deltas that are kept, in bytes."""
_HEADER_BYTES = 10
"""Bytes of a 64-bit size with seven bits each."""


@dataclass(frozen=True, slots=True)
class GitPack:
    """One open pack."""

    index: PackIndex
    data: PackData
    file: BinaryIO

    def close(self) -> None:
        """Close both files."""
        self.index.close()
        self.data.close()
        self.file.close()


class Packs:
    """All packs of a repository. Not thread-safe."""

    def __init__(self, common: Path) -> None:
        self._common = common
        self._open: dict[str, GitPack] = {}
        self._bases: OrderedDict[tuple[int, int], tuple[int, bytes]] = OrderedDict()
        self._held = 0

    def refresh(self) -> None:
        """Open packs that have appeared, close those that are gone."""
        try:
            names = [name for name in list_below(self._common, _FOLDER) if name.endswith(".idx")]
        except OSError:
            names = []
        if len(names) > MAX_PACKS:
            raise HistoryError(f"the repository has {len(names)} packs; at most {MAX_PACKS} are read", "run `git gc`")
        for gone in self._open.keys() - set(names):
            self._open.pop(gone).close()
            self._forget()
        for name in names:
            if name not in self._open and (pack := self._opened(name)) is not None:
                self._open[name] = pack

    def find(self, oid: bytes) -> tuple[GitPack, int] | None:
        """Return the pack and the offset of an object, None if no pack holds it."""
        for pack in self._open.values():
            with contextlib.suppress(KeyError):
                return pack, pack.index.object_offset(RawObjectID(oid))
        return None

    def with_prefix(self, prefix: bytes) -> list[bytes]:
        """Return the names (20 bytes) that begin with a prefix of whole bytes, at most 1,000 of each pack."""
        found: list[bytes] = []
        for pack in self._open.values():
            for count, oid in enumerate(pack.index.iter_prefix(prefix)):
                found.append(oid)
                if count > 1000:
                    break
        return found

    def read(self, pack: GitPack, offset: int, most: int, deadline: Deadline) -> tuple[int, bytes]:
        """Return (type, content) of an object. Raises HistoryError for one that is too large or endlessly deep."""
        deltas: list[tuple[GitPack, int, bytes]] = []
        seen: set[tuple[int, int]] = set()
        total = 0
        while True:
            deadline.check()
            place = (id(pack), offset)
            if place in seen or len(seen) > MAX_CHAIN:
                raise HistoryError("the git history is damaged: deltas of a pack refer to each other in a circle")
            seen.add(place)
            if (known := self._bases.get(place)) is not None:
                self._bases.move_to_end(place)
                kind, content = known
                break
            kind, content, base = _unpacked(pack, offset, most)
            if base is None:
                break
            total += len(content)
            if total > MAX_CHAIN_BYTES:
                raise HistoryError("an object of the git history is too large: its deltas exceed the limit")
            deltas.append((pack, offset, content))
            if isinstance(base, int):
                offset -= base
            elif (found := self.find(base)) is not None:
                pack, offset = found
            else:
                raise HistoryError("the git history is damaged: the base of a delta is missing")
        for owner, start, delta in reversed(deltas):
            deadline.check()
            _check_size(_delta_size(delta), most)
            content = b"".join(cast("list[bytes]", apply_delta(content, delta)))
            self._keep((id(owner), start), kind, content)
        _check_size(len(content), most)
        return kind, content

    def _keep(self, place: tuple[int, int], kind: int, content: bytes) -> None:
        """Keep the result of a delta: the next object of its chain is made from it."""
        if place in self._bases or len(content) > _KEPT_BYTES // 16:
            return
        self._bases[place] = (kind, content)
        self._held += len(content)
        while self._held > _KEPT_BYTES:
            _, (_, dropped) = self._bases.popitem(last=False)
            self._held -= len(dropped)

    def close(self) -> None:
        """Close all packs; idempotent."""
        for pack in self._open.values():
            pack.close()
        self._open.clear()
        self._forget()

    def _forget(self) -> None:
        self._bases.clear()
        self._held = 0

    def _opened(self, name: str) -> GitPack | None:
        """Return an opened pack; None for one without its data, which may be on its way."""
        stem = f"{_FOLDER}/{name.removesuffix('.idx')}"
        with contextlib.ExitStack() as opened:
            try:
                files = [
                    opened.enter_context(os.fdopen(open_below(self._common, f"{stem}.{kind}"), "rb"))
                    for kind in ("idx", "pack")
                ]
            except OSError:
                return None
            index = load_pack_index_file(name, files[0], SHA1)
            opened.callback(index.close)
            data = PackData(name, SHA1, file=files[1])
            # on success the pack owns both files: `Pack.close` closes them
            opened.pop_all()
        return GitPack(index, data, files[1])


def _unpacked(pack: GitPack, offset: int, most: int) -> tuple[int, bytes, int | bytes | None]:
    """Return (type, content, base) of an entry; `base` is an offset, a name, or None for a whole object."""
    buffer = pack.data._buffer()  # pyright: ignore[reportPrivateUsage]
    head = bytes(buffer[offset : offset + 3 * _HEADER_BYTES])
    kind = head[0] >> 4 & 7
    size, at = _varint(head, 1, head[0] & 15, 4) if head[0] & 128 else (head[0] & 15, 1)
    _check_size(size, most)
    if kind in (OFS_DELTA, REF_DELTA):
        # refuses what would be a number without an end
        _varint(head, at, 0, 0) if kind == OFS_DELTA else None
    unpacked, _ = unpack_object_at(buffer, offset, SHA1.hash_func)
    content = b"".join(unpacked.decomp_chunks)
    base = unpacked.delta_base
    if isinstance(base, int) and not 0 < base < offset:
        raise HistoryError("the git history is damaged: a delta's base lies outside of its pack")
    return unpacked.pack_type_num, content, base


def _varint(data: bytes, at: int, value: int, shift: int) -> tuple[int, int]:
    for _ in range(_HEADER_BYTES):
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if not byte & 128:
            return value, at
    raise HistoryError("the git history is damaged: a size in a pack has no end")


def _delta_size(delta: bytes) -> int:
    """Return the size of what a delta makes."""
    _, at = _varint(delta[: 2 * _HEADER_BYTES], 0, 0, 0)
    return _varint(delta[: 3 * _HEADER_BYTES], at, 0, 0)[0]


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise HistoryError(f"an object of the git history is too large ({size:,} bytes; at most {most:,} are read)")
