"""Fill a token budget by value per token. Pure.

An answer is made of parts: the line of a hit, its description, statements of its body, neighbours. Each has a value, a
price in tokens, and possibly a part that must stand before it. Parts are ordered once, without regard to the budget;
an answer shows as many leading parts of that order as fit. What a larger budget shows therefore contains what a smaller
one shows.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)

ROUNDED = 10
"""Prices of what was not counted are rounded to this many tokens."""


@dataclass(frozen=True, slots=True)
class AnswerPart(Generic[KeyT]):
    """A part of an answer: what it is worth to the reader, and what it costs."""

    key: KeyT
    value: float
    price: int
    """In tokens, by the project's counter; an estimate is enough, because the whole answer is counted."""
    after: KeyT | None = None
    """The part without which it cannot be shown."""

    @property
    def rate(self) -> float:
        """Value per token."""
        return self.value / max(self.price, 1)


def order_parts(parts: Sequence[AnswerPart[KeyT]], least: float = 0.0) -> list[AnswerPart[KeyT]]:
    """Return the parts by value per token, each after the part that it needs; ties keep their order.

    Parts worth less than `least` per token are left out, and so is what needs them: an answer that is certain stays
    short. A part whose need is not among the parts is left out.
    """
    waiting: dict[KeyT | None, list[int]] = {}
    for number, part in enumerate(parts):
        waiting.setdefault(part.after, []).append(number)
    free = [(-parts[number].rate, number) for number in waiting.get(None, ())]
    heapq.heapify(free)
    ordered: list[AnswerPart[KeyT]] = []
    while free:
        rate, number = heapq.heappop(free)
        if -rate < least:
            break
        ordered.append(parts[number])
        for needed in waiting.get(parts[number].key, ()):
            heapq.heappush(free, (-parts[needed].rate, needed))
    return ordered


def affordable(parts: Sequence[AnswerPart[KeyT]], budget: float) -> int:
    """Return how many leading parts have prices that sum to at most `budget`."""
    left, count = budget, 0
    for part in parts:
        left -= part.price
        if left < 0:
            break
        count += 1
    return count


def rounded(tokens: float) -> int:
    """Return an estimated price, rounded to `ROUNDED` tokens."""
    return max(round(tokens / ROUNDED), 1) * ROUNDED
