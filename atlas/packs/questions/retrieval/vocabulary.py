"""The vocabulary of a pack: how many passages have each stem, and its own synonyms. Made at build, kept as JSON.

Own synonyms are abbreviations with their expansions (`Object Relational Mapper (ORM)`), and what links to a section
call it, if that differs from its title.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, cast

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.pack.strict_json import load_json
from atlas.packs.questions.retrieval.synonyms import Phrase, Synonyms, make_synonyms
from atlas.parsing import stem_words

FORMAT = 1
MARK = "0"
"""Before every stem."""
MAX_STEMS = 60_000
"""The most frequent stems that are kept; rarer ones count as in one passage."""
MAX_GROUPS = 4_000
MAX_WORDS = 8_000
"""Words whose vectors are compared with those of a question: about 20 ms once, 1 ms a question."""
RARE = 0.01
"""Share of passages up to which near words of a stem are looked for: `way` and `want` have none that help."""
MIN_PASSAGES = 3
"""A rarer word is not a synonym that would find anything."""
_ABBREVIATION = lazy_regex(r"\(([A-Z][A-Za-z0-9]{1,9})s?\)")
_LOWER = lazy_regex(r"[a-z]{3,30}")
_WORD = lazy_regex(r"[A-Za-z][A-Za-z0-9]*")
_SMALL = frozenset(("of", "the", "and", "for", "to", "in", "on", "a", "an", "or", "by", "with"))


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """Stems of a pack. Equal only to itself, so that what is computed from it can be kept."""

    passages: int = 0
    length: float = 100.0
    """Mean number of stems of a passage."""
    frequencies: Mapping[str, int] = field(default_factory=dict[str, int])
    own: Synonyms = field(default_factory=lambda: make_synonyms(()))
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    """The most frequent word of each stem that is not rare, as the model of prose reads it."""

    def idf(self, stem: str) -> float:
        """Return the BM25 weight of a stem; one that the pack lacks weighs as much as the rarest."""
        count = self.frequencies.get(stem, 0)
        return math.log(1 + (self.passages - count + 0.5) / (count + 0.5))

    def is_rare(self, stem: str) -> bool:
        """Return whether so few passages have a stem that other words for it may help."""
        return self.frequencies.get(stem, 0) <= RARE * self.passages

    def has(self, phrase: Phrase) -> bool:
        """Return whether the pack has all stems of a phrase; a pack without a vocabulary may have anything."""
        return not self.frequencies or all(stem in self.frequencies for stem in phrase)


@lru_cache(maxsize=16)
def read_vocabulary(text: str) -> Vocabulary:
    """Return the vocabulary that `vocabulary_text` wrote; an empty one for "" and what is none."""
    try:
        raw = cast("dict[str, Any]", load_json(text)) if text else {}
        if raw.get("format") != FORMAT:
            return Vocabulary()
        groups = [[str(phrase) for phrase in group][:2] for group in raw["synonyms"][:MAX_GROUPS]]
        own = make_synonyms(tuple(tuple(phrase.split()) for phrase in group if phrase.strip()) for group in groups)
        counts = {stem: max(int(count), 0) for stem, count in islice(raw["stems"].items(), MAX_STEMS)}
        words = {stem: str(word) or stem.removeprefix(MARK) for stem, word in islice(raw["words"].items(), MAX_WORDS)}
        return Vocabulary(max(int(raw["passages"]), 0), max(1.0, float(raw["length"])), counts, own, words)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return Vocabulary()


def vocabulary_text(passages: Iterable[tuple[str, str]], anchors: Iterable[tuple[str, str]] = ()) -> str:
    """Return a vocabulary as JSON, the same for the same pack.

    `passages`: headings and text of each; `anchors`: (title of a section, text of a link that leads to it from another
    article).
    """
    counts: Counter[str] = Counter()
    surface: Counter[str] = Counter()
    groups: set[tuple[str, str]] = set()
    number = total = 0
    for headings, text in passages:
        words = stem_words(text).split()
        number, total = number + 1, total + len(words)
        counts.update({*words, *stem_words(headings).split()})
        surface.update(set(_LOWER.findall(f"{headings} {text}".lower())))
        groups.update(_abbreviations(text))
    kept = dict(sorted(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_STEMS]))
    data = {
        "format": FORMAT,
        "passages": number,
        "length": round(total / number, 1) if number else 100.0,
        "stems": kept,
        "words": _frequent_words(surface),
        "synonyms": sorted(groups | set(_called(anchors)))[:MAX_GROUPS],
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _frequent_words(surface: Counter[str]) -> dict[str, str]:
    """Return the most frequent word of each stem, of the most frequent stems, by stem."""
    found: dict[str, str] = {}
    frequent = sorted(
        (word for word, count in surface.items() if count >= MIN_PASSAGES), key=lambda w: (-surface[w], w)
    )
    for word in frequent:
        stem = stem_words(word).strip()
        if stem and " " not in stem:
            found.setdefault(stem, word)
        if len(found) >= MAX_WORDS:
            break
    # most words are their stems, which are written once
    return {stem: "" if word == stem.removeprefix(MARK) else word for stem, word in sorted(found.items())}


def _abbreviations(text: str) -> Iterable[tuple[str, str]]:
    """Yield abbreviations in parentheses with the words before them whose initials they are."""
    for found in _ABBREVIATION.finditer(text):
        letters = found[1].lower()
        words = _WORD.findall(text[max(found.start() - 100, 0) : found.start()])
        for count in range(len(letters), min(len(letters) + 3, len(words)) + 1):
            expansion = words[-count:]
            initials = "".join(word[0].lower() for word in expansion if word.lower() not in _SMALL)
            if initials == letters or "".join(word[0].lower() for word in expansion) == letters:
                yield stem_words(found[1]).strip(), stem_words(" ".join(expansion)).strip()
                break


def _called(anchors: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """Yield titles with the other names that at least two links give to their sections."""
    names: Counter[tuple[str, str]] = Counter()
    for title, text in anchors:
        one, other = stem_words(title).strip(), stem_words(text).strip()
        if one and other and set(one.split()) != set(other.split()) and len(other.split()) <= 4 >= len(one.split()):
            names[one, other] += 1
    return (pair for pair, count in names.items() if count > 1)
