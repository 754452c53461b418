"""Words that contradict each other, negations, synonyms and complexity classes, read from `words.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
NEGATIONS = frozenset(WORDS["negations"].split())
NEGATING_VERBS = frozenset(WORDS["negating_verbs"].split())
STOP_WORDS = frozenset(WORDS["stop_words"].split())
CLASSES: dict[str, int] = {
    word: rank for rank, group in enumerate(WORDS["complexity"].strip().splitlines()) for word in group.split()
}
CIRCUMSTANCES = frozenset(WORDS["circumstances"].split())
CONDITIONS = frozenset(WORDS["conditions"].split())
SOME = frozenset(WORDS["some"].split())
PHRASES: dict[str, str] = WORDS["phrases"]
_PREFIXES = ("un", "in", "im", "ir", "non", "non-", "dis", "a")


def stem(word: str) -> str:
    """Return a light stem: plural, third person, -ing, -ed and comparative endings removed."""
    for ending, less in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("edly", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith(("ss", "us", "is")):
            word = word[: -len(ending)] + less
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] in "bdgmnprt":
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _table(text: str) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for number, line in enumerate(text.strip().splitlines()):
        for side, group in enumerate(line.split("|")):
            for word in group.split():
                found.setdefault(stem(word), []).append((number, side))
    return found


_SIDES = _table(WORDS["opposites"])


def sides(word: str) -> Iterable[tuple[int, int]]:
    """Return the (pair, side) of a stem; comparatives and superlatives count as their adjective."""
    found = set(_SIDES.get(word, ()))
    for ending in ("er", "est", "ier", "r", "st", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            root = word[: -len(ending)] + ("y" if ending == "ier" else "")
            found.update(_SIDES.get(stem(root), ()), _SIDES.get(root, ()))
    return found


def opposites(one: str, other: str) -> bool:
    """Return whether two stems are opposites."""
    mine = set(sides(one))
    if any((pair, 1 - side) in mine for pair, side in sides(other)):
        return True
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return len(shorter) >= 4 and any(longer == prefix + shorter for prefix in _PREFIXES)


SYNONYMS: dict[str, str] = {
    stem(word): stem(group.split()[0]) for group in WORDS["synonyms"].strip().splitlines() for word in group.split()
}
"""The stem that stands for a stem."""
