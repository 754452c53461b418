"""The index of stored papers as a file: replaced atomically, checked by digest and model, safe to delete.

First line: format and digest of the rest. Second line: JSON. Then postings and vectors as arrays.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from atlas.papers.words import Words
from atlas.runtime.process.files import make_private_folder, read_file, write_file

FORMAT = "code-atlas-papers-1"
MAX_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class IndexContent:
    """What is stored: papers in the order of their numbers, their words, and their vectors (b"" = none)."""

    ids: tuple[str, ...]
    digests: tuple[str, ...]
    words: Words
    vectors: list[bytes]


def read_index(path: Path, model: str) -> IndexContent | None:
    """Return the stored index; None for a file that is missing, damaged or made with another model."""
    try:
        head, _, body = read_file(path, MAX_BYTES).partition(b"\n")
        if head.decode() != f"{FORMAT} {_digest(body)}":
            return None
        line, _, arrays = body.partition(b"\n")
        meta = json.loads(line)
        if meta["model"] != _digest(model.encode()) or meta["order"] != sys.byteorder:
            return None
        return _content(meta, memoryview(arrays))
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None


def write_index(path: Path, model: str, content: IndexContent) -> None:
    """Replace the stored index. A failure, such as a full disk, costs only the time of the next process."""
    words, postings = content.words, content.words.postings
    meta = {
        "model": _digest(model.encode()),
        "order": sys.byteorder,
        "ids": content.ids,
        "digests": content.digests,
        "lengths": [words.lengths[number] for number in range(len(content.ids))],
        "words": list(postings),
        "counts": [len(numbers) for numbers, _ in postings.values()],
        "vectors": [len(one) for one in content.vectors],
    }
    parts = [json.dumps(meta, separators=(",", ":")).encode(), b"\n"]
    parts += [numbers.tobytes() for numbers, _ in postings.values()]
    parts += [times.tobytes() for _, times in postings.values()]
    body = b"".join((*parts, *content.vectors))
    with contextlib.suppress(OSError):
        make_private_folder(path.parent)
        write_file(path, f"{FORMAT} {_digest(body)}\n".encode() + body)


def _content(meta: dict[str, Any], arrays: memoryview) -> IndexContent:
    counts = cast("list[int]", meta["counts"])
    numbers, at = _arrays("I", counts, arrays, 0)
    times, at = _arrays("H", counts, arrays, at)
    vectors: list[bytes] = []
    for size in cast("list[int]", meta["vectors"]):
        vectors.append(bytes(arrays[at : at + size]))
        at += size
    if at != len(arrays):
        raise ValueError("another size")
    lengths = cast("list[int]", meta["lengths"])
    pairs = zip(cast("list[str]", meta["words"]), zip(numbers, times, strict=True), strict=True)
    words = Words(dict(pairs), dict(enumerate(lengths)), sum(lengths))
    return IndexContent(tuple(meta["ids"]), tuple(meta["digests"]), words, vectors)


def _arrays(kind: str, counts: list[int], data: memoryview, at: int) -> tuple[list[array[int]], int]:
    """Return arrays of these lengths from a position on, and the position after them."""
    found: list[array[int]] = []
    for count in counts:
        one: array[int] = array(kind)
        one.frombytes(data[at : at + count * one.itemsize])
        at += count * one.itemsize
        found.append(one)
    return found, at


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
