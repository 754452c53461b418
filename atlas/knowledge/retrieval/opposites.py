"""Words that contradict each other, negations, synonyms and complexity classes, read from `words.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from atlas.core.english.stems import stem

WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
NEGATIONS = frozenset(WORDS["negations"].split())
NEGATING_VERBS = frozenset(WORDS["negating_verbs"].split())
CIRCUMSTANCES = frozenset(WORDS["circumstances"].split())
CONDITIONS = frozenset(WORDS["conditions"].split())
SOME = frozenset(WORDS["some"].split())
PHRASES: dict[str, str] = WORDS["phrases"]
HYPOTHETICAL = frozenset(WORDS["hypothetical"].split())
VERBS = frozenset(WORDS["verbs"].split())
ATTRIBUTES: list[list[frozenset[str]]] = []
"""Groups of alternatives that say which quantity is meant: stems."""
_PREFIXES = tuple(WORDS["negating_prefixes"].split())
_PREFIX_PAIRS = [tuple(pair.split("/")) for pair in WORDS["prefix_pairs"].split()]
SYNONYMS: dict[str, str] = {
    stem(word): stem(group.split()[0]) for group in WORDS["synonyms"].strip().splitlines() for word in group.split()
}
"""The stem that stands for a stem."""


def either(words: Iterable[str]) -> str:
    """Return a pattern of these words, the longest that fits first, which shares equal beginnings.

    `re` tries the branches of an alternation one after another; this one has as many as there are first letters.
    """
    branches: list[str] = []
    for _, group in groupby(sorted(set(words) - {""}), key=lambda word: word[0]):
        alike = list(group)
        ends = zip(alike[0], alike[-1], strict=False)
        size = next((at for at, (one, other) in enumerate(ends) if one != other), len(alike[0]))
        rests = [word[size:] for word in alike]
        end = "" if rests == [""] else either(rests) + ("?" if "" in rests else "")
        branches.append(re.escape(alike[0][:size]) + end)
    return f"(?:{'|'.join(branches)})"


def _table(text: str) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for number, line in enumerate(text.strip().splitlines()):
        for side, group in enumerate(line.split("|")):
            for form in {name for word in group.split() for name in (stem(word), SYNONYMS.get(stem(word), ""))} - {""}:
                found.setdefault(form, []).append((number, side))
    return found


_SIDES = _table(WORDS["opposites"])
_ALL_SIDES = _table(f"{WORDS['opposites'].strip()}\n{WORDS['antonyms'].strip()}")


@lru_cache(maxsize=8_192)
def sides(word: str) -> AbstractSet[tuple[int, int]]:
    """Return the (pair, side) of a stem; comparatives and superlatives count as their adjective."""
    return _sides_in(_SIDES, word)


@lru_cache(maxsize=8_192)
def _all_sides(word: str) -> AbstractSet[tuple[int, int]]:
    return _sides_in(_ALL_SIDES, word)


def _sides_in(table: Mapping[str, list[tuple[int, int]]], word: str) -> set[tuple[int, int]]:
    found = set(table.get(word, ()))
    for ending in ("er", "est", "ier", "r", "st", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            root = word[: -len(ending)] + ("y" if ending == "ier" else "")
            found.update(table.get(stem(root), ()), table.get(root, ()))
    return found


@lru_cache(maxsize=16_384)
def opposites(one: str, other: str) -> bool:
    """Return whether two stems are opposites."""
    mine = _all_sides(one)
    if any((pair, 1 - side) in mine for pair, side in _all_sides(other)):
        return True
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    if len(shorter) >= 4 and any(longer == prefix + shorter for prefix in _PREFIXES):
        return True
    return any(_is_pair(one, other, *pair) or _is_pair(other, one, *pair) for pair in _PREFIX_PAIRS)


def _is_pair(one: str, other: str, prefix: str, its_prefix: str) -> bool:
    """Return whether two words differ by their prefixes only: "exothermic", "endothermic"."""
    rest = one.removeprefix(prefix)
    return rest != one and len(rest) >= 3 and other == its_prefix + rest


ATTRIBUTES.extend(
    [frozenset(SYNONYMS.get(stem(word), stem(word)) for word in group.split()) for group in line.split("|")]
    for line in WORDS["attributes"].strip().splitlines()
)
REPORTS = frozenset(WORDS["reports"].split())
