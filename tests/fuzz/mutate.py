"""Changes to inputs: of bytes, of tokens, of nesting; and crossings of two inputs."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

TOKENS = re.compile(rb"[A-Za-z_]\w*|\d+|\s+|.", re.DOTALL)
MOST_BYTES = 65_536

ODD = (
    b"", b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", "\u202e".encode(), "\U0001f600".encode(),
    b"\r", b"\n", b"\t", b"'", b'"', b"`", b"\\", b"/*", b"*/", b"//", b"{", b"}", b"(", b")", b"[", b"]", b"<", b">",
    b"-1", b"0", b"9223372036854775807", b"9223372036854775808", b"1e309", b"-0.0", b"NaN", b"null", b"\\u0000", b"$", b"%",
)  # fmt: skip
OPENING = (
    (b"(", b")"),
    (b"[", b"]"),
    (b"{", b"}"),
    (b"NOT ", b""),
    (b"- ", b""),
    (b"> ", b""),
    (b"a.", b""),
    (b"*", b"*"),
)


def mutated(chance: random.Random, seeds: Sequence[bytes], words: Sequence[bytes] = ()) -> bytes:
    """Return a seed after one to four changes."""
    data = chance.choice(seeds)
    for _ in range(chance.randint(1, 4)):
        data = chance.choice(CHANGES)(chance, data, seeds, words)
    return data[:MOST_BYTES]


def _bytes(chance: random.Random, data: bytes, seeds: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    place = chance.randint(0, len(data))
    match chance.randrange(4):
        case 0:
            return data[:place] + chance.choice(ODD) + data[place:]
        case 1:
            return data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]
        case 2:
            return data[:place]
        case _:
            return data[:place] + data[place + chance.randint(1, 20) :]


def _tokens(chance: random.Random, data: bytes, seeds: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    tokens = TOKENS.findall(data) or [b""]
    place, other = chance.randrange(len(tokens)), chance.randrange(len(tokens))
    match chance.randrange(5):
        case 0:
            tokens[place], tokens[other] = tokens[other], tokens[place]
        case 1:
            tokens[place] = chance.choice(words or ODD)
        case 2:
            tokens.insert(place, chance.choice(words or ODD))
        case 3:
            del tokens[place : place + chance.randint(1, 5)]
        case _:
            tokens[place:place] = tokens[other : other + chance.randint(1, 10)]
    return b"".join(tokens)


def _cross(chance: random.Random, data: bytes, seeds: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    other = chance.choice(seeds)
    return data[: chance.randint(0, len(data))] + other[chance.randint(0, len(other)) :]


def _repeat(chance: random.Random, data: bytes, seeds: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    start = chance.randint(0, len(data))
    part = data[start : start + chance.randint(1, 30)]
    return data[:start] + part * chance.choice((2, 3, 10, 200)) + data[start:]


def _nest(chance: random.Random, data: bytes, seeds: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    start = chance.randint(0, len(data))
    end = chance.randint(start, min(len(data), start + 30))
    before, after = chance.choice(OPENING)
    depth = chance.choice((1, 5, 100, 2000))
    return data[:start] + before * depth + data[start:end] + after * depth + data[end:]


CHANGES = (_bytes, _tokens, _cross, _repeat, _nest)
