"""Groups of words that people and documentation use for one thing, from `synonyms.txt`. Pure but for one read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from atlas.parsing import stem_words

Phrase = tuple[str, ...]
"""Stems in order."""
_FILE = Path(__file__).with_name("synonyms.txt")


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Groups of phrases, found by a stem of any of their phrases."""

    groups: tuple[tuple[Phrase, ...], ...]
    by_stem: Mapping[str, tuple[tuple[int, Phrase], ...]]
    """The phrases that begin with a stem, each with the number of its group."""

    def related(self, stems: Iterable[str]) -> dict[Phrase, dict[Phrase, int]]:
        """Return for each phrase that the stems contain the other phrases of its groups, and in how many they are.

        A phrase is contained if all of its stems are, in any order.
        """
        asked = frozenset(stems)
        found: dict[Phrase, dict[Phrase, int]] = {}
        for stem in sorted(asked):
            for number, phrase in self.by_stem.get(stem, ()):
                if asked.issuperset(phrase):
                    others = found.setdefault(phrase, {})
                    for other in self.groups[number]:
                        if not asked.issuperset(other):
                            others[other] = others.get(other, 0) + 1
        return found


@cache
def general_synonyms() -> Synonyms:
    """Return the groups that ship with Code Atlas."""
    return read_synonyms(_FILE.read_text(encoding="utf-8"))


def read_synonyms(text: str) -> Synonyms:
    """Return the groups of a text: one a line, phrases separated by commas, `#` before comments."""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    phrases = ([tuple(stem_words(part).split()) for part in line.split(",")] for line in lines)
    return make_synonyms(tuple(dict.fromkeys(phrase for phrase in group if phrase)) for group in phrases)


def make_synonyms(groups: Iterable[tuple[Phrase, ...]]) -> Synonyms:
    """Return groups with their index; a group of one phrase says nothing."""
    kept = tuple(group for group in groups if len(group) > 1)
    by_stem: dict[str, list[tuple[int, Phrase]]] = {}
    for number, group in enumerate(kept):
        for phrase in group:
            by_stem.setdefault(phrase[0], []).append((number, phrase))
    return Synonyms(kept, {stem: tuple(found) for stem, found in by_stem.items()})
