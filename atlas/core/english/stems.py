"""Forms of a word that count as one: roots, stems, base forms, British and American spellings. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from atlas.core.lazy_regex import lazy_regex

MIN_INFLECTED = 5
"""Minimum number of letters; shorter words (`this`, `used`) would lose more than an ending."""
_WRITTEN = """
ization isation ations ation ings ing ers er ors or ies ied ed es s e y ion ions ment able al
"""
_ENDINGS = tuple(_WRITTEN.split())
"""In this order: the first that leaves `_MIN_ROOT` letters is cut off."""
_MIN_ROOT = 3
_INFLECTIONS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("edly", ""), ("ed", ""), ("es", "e"), ("s", ""))
_DERIVATIONS = (
    ("ically", "ic"),
    ("ization", "ize"),
    ("isation", "ise"),
    *((ending, "") for ending in ["ation", "ate", "ion", "ional", "ment"]),
    ("ally", "al"),
    *((ending, "") for ending in ["ly", "al", "ness", "ity", "acy", "cy", "at"]),
)
"""Endings of nouns, adjectives and adverbs with what is left of them, each taken off in turn."""
_PARTICLES = ("up", "down", "back", "off")
_VOWELS = "aeiou"
_PAIRS = (
    (lazy_regex(r"^(col|behavi|fav|flav|hon|neighb|harb|lab)our"), r"\1or"),
    (lazy_regex(r"^(col|behavi|fav|flav|hon|neighb|harb|lab)or(?!ator)"), r"\1our"),
    (lazy_regex(r"([a-z]{3})is(e|ed|es|er|ers|ing|ation|able)$"), r"\1iz\2"),
    (lazy_regex(r"([a-z]{3})iz(e|ed|es|er|ers|ing|ation|able)$"), r"\1is\2"),
    (lazy_regex(r"^(anal|paral)ys(e|ed|es|er|ers|ing)$"), r"\1yz\2"),
    (lazy_regex(r"^(anal|paral)yz(e|ed|es|er|ers|ing)$"), r"\1ys\2"),
    (lazy_regex(r"^(cent|met|lit)re(s?)$"), r"\1er\2"),
    (lazy_regex(r"^(cent|met|lit)er(s?)$"), r"\1re\2"),
    (lazy_regex(r"^(cancel|label|model|signal|channel)l(ed|ing|er)$"), r"\1\2"),
    (lazy_regex(r"^(cancel|label|model|signal|channel)(ed|ing|er)$"), r"\1l\2"),
    (lazy_regex(r"^(catal|dial|anal)ogue(s?)$"), r"\1og\2"),
    (lazy_regex(r"^(catal|dial|anal)og(s?)$"), r"\1ogue\2"),
    (lazy_regex(r"^(lic|def|off)ence"), r"\1ense"),
    (lazy_regex(r"^(lic|def|off)ense"), r"\1ence"),
    (lazy_regex(r"^grey"), "gray"),
    (lazy_regex(r"^gray"), "grey"),
)
"""Abbreviations (`db` for `database`) are not among them: searching for them as well found as much as it lost
(docs/measurements/search.md)."""

Split = Callable[[str], list[str]]


@lru_cache(20_000)
def root_of(word: str) -> str:
    """Return the root of a lower-case word; a doubled last letter counts once (`stopped`, `stop`).

    `hashing`, `hashed` and `hasher` have one root, which is not a word: it only compares the words of a question with
    those of a name or path. What is indexed stays as written.
    """
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


def base_forms(word: str) -> list[str]:
    """Return possible base forms of an inflected English word; most are not words, which costs nothing."""
    if len(word) < MIN_INFLECTED or not word.isalpha():
        return []
    if word.endswith("ification"):
        return [word.removesuffix("ication") + "y"]
    if word.endswith("ies"):
        return [word[:-3] + "y"]
    if word.endswith("es"):
        return [word[:-1], word[:-2]]
    if word.endswith("s") and not word.endswith("ss"):
        return [word[:-1]]
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            doubled = [stem[:-1]] if stem[-1] == stem[-2] else []
            return [stem, stem + "e", *doubled]
    return []


@lru_cache(maxsize=4_096)
def other_spellings(word: str) -> tuple[str, ...]:
    """Return the other spellings, British or American, of a lower-case word: `color` for `colour`.

    Questions and code seldom agree on one, and the index stores words as they are written. Some are not words, which
    costs nothing.
    """
    return tuple(pattern.sub(other, word) for pattern, other in _PAIRS if pattern.search(word))


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return a stem that the noun, verb and adjective forms of a lower-case word share.

    It goes further than Snowball's, because statements are compared word by word: "lookup" and "looks", "hashing" and
    "hash" are one word there.
    """
    for ending, less in _INFLECTIONS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith(("ss", "us", "is")):
            word = word[: -len(ending)] + less
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] in "bdgmnprt":
        word = word[:-1]
    return _without_derivation(word)


def _without_derivation(word: str) -> str:
    """Remove what makes nouns, adjectives and adverbs: "-ation", "-ally", "-y", the particle of "lookup"."""
    for particle in _PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= 3:
            return word[: -len(particle)]
    for ending, less in _DERIVATIONS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)] + less
    if word.endswith("y") and len(word) > 4 and word[-2] not in _VOWELS:
        return word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word
