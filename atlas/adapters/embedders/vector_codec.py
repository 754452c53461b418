"""Vectors in server responses (lists of numbers) to the bytes of the embedder contract. Pure."""

from __future__ import annotations

import base64
import math
import operator
import struct
from collections.abc import Sequence
from typing import cast

from atlas.core.wording import counted


def chunk_vector(values: Sequence[float]) -> bytes:
    """Return the L2-normalised float16 little-endian vector; zeros stay zeros.

    Raises ValueError for NaN and infinity.
    """
    return struct.pack(f"<{len(values)}e", *_normalised(values))


def query_vector(values: Sequence[float]) -> bytes:
    """Return the L2-normalised float32 little-endian vector; zeros stay zeros.

    Raises ValueError like `chunk_vector`.
    """
    return struct.pack(f"<{len(values)}f", *_normalised(values))


def read_rows(found: object, count: int) -> list[list[float]]:
    """Return the vectors of a response as numbers. Raises ValueError unless there is one for each of `count` texts.

    Each vector is a list of numbers, or base64 of float32 little-endian. Numbers may still be NaN.
    """
    if not isinstance(found, list):
        raise ValueError("no list of vectors")
    rows = [_numbers(row) for row in cast("list[object]", found)]
    if len(rows) != count:
        raise ValueError(f"{counted(len(rows), 'vector')} for {counted(count, 'text')}")
    if len({len(row) for row in rows}) > 1 or not all(rows):
        raise ValueError("vectors of different lengths or empty vectors")
    return rows


def _numbers(row: object) -> list[float]:
    if isinstance(row, str):
        data = base64.b64decode(row, validate=True)
        if len(data) % 4:
            raise ValueError("base64 that is not float32")
        return list(struct.unpack(f"<{len(data) // 4}f", data))
    if not isinstance(row, list):
        raise ValueError("a vector that is not a list")
    # JSON writers encode NaN as null.
    return [_number(value) for value in cast("list[object]", row)]


def _number(value: object) -> float:
    if value is None:
        return math.nan
    if isinstance(value, (int, float)):
        return float(value)
    raise ValueError("a vector with a value that is not a number")


def _normalised(values: Sequence[float]) -> list[float]:
    length = math.sqrt(sum(map(operator.mul, values, values)))
    if not math.isfinite(length):
        raise ValueError("a vector with NaN or infinity")
    return [value / length for value in values] if length else list(values)
