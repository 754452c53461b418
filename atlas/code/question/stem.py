"""Words to roots, so that `hashing`, `hashed` and `hasher` count as one word. Pure.

The root is cut off by a list of endings and is no word. It only compares the words of a question with those of a
name or path; what is indexed stays as written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

_WRITTEN = """
ization isation ations ation ings ing ers er ors or ies ied ed es s e y ion ions ment able al
"""
_ENDINGS = tuple(_WRITTEN.split())
"""In this order: the first that leaves `_MIN_ROOT` letters is cut off."""
_MIN_ROOT = 3

Split = Callable[[str], list[str]]


@lru_cache(20_000)
def root_of(word: str) -> str:
    """Return the root of a lower-case word; a doubled last letter counts once (`stopped`, `stop`)."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_ROOT:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > _MIN_ROOT and word[-1] == word[-2] else word


def roots_of(words: Iterable[str]) -> frozenset[str]:
    """Return the roots of words."""
    return frozenset(map(root_of, words))


def part_roots(name: str, split_words: Split) -> tuple[str, ...]:
    """Return the roots of the parts of a name; a name without parts is its only part."""
    words = split_words(name)
    return tuple(map(root_of, words[1:] if len(words) > 1 else words))
