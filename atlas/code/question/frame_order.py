"""Whether the words of a question can stand in the order of a frame: a check before the frame's pattern is compiled.

A set of positions in a question is an integer with one bit for each position. An element of a frame takes the positions
where it may begin to those where it may end. Names and classes of several words may be any words here, so the check
lets more questions pass than the pattern, and never fewer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

ANY_NUMBER = -1
_SPANS: Mapping[str, tuple[int, int]] = {
    "X": (1, ANY_NUMBER),
    "Y": (1, ANY_NUMBER),
    "SUBJECT": (0, 3),
    "ANY": (0, 6),
    "CHANGING": (1, ANY_NUMBER),
    "TIME": (1, ANY_NUMBER),
}
"""Least and greatest number of words of the elements that may be any words."""
_KEPT_WORDS = 2_000
"""Words of questions whose classes are remembered."""
_BEFORE = frozenset(("THINGS",))
"""Classes with any words before the last, which is one of the class. The other classes are single words."""


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The words of a question with their positions."""

    words: Sequence[str]
    """In lower case."""
    at: Mapping[str, int]
    """Positions of each word, as bits."""

    @property
    def count(self) -> int:
        """Number of words."""
        return len(self.words)


def read_words(question: str) -> QuestionWords:
    """Return the words of a question that single spaces separate."""
    words = question.lower().split()
    at: dict[str, int] = {}
    for position, word in enumerate(words):
        at[word] = at.get(word, 0) | 1 << position
    return QuestionWords(words, at)


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a frame: choices of words, of classes, and of spans of any words."""

    is_optional: bool
    words: Mapping[str, tuple[tuple[str, ...], ...]]
    """Choices by their first word, with the words behind it."""
    classes: tuple[Callable[[str], bool], ...] = ()
    """Whether a word is of a class of single words."""
    last: tuple[Callable[[str], bool], ...] = ()
    """The same for classes with any words before."""
    spans: tuple[tuple[int, int], ...] = ()

    def reach(self, begins: int, question: QuestionWords) -> int:
        """Return where the element may end if it begins at one of these positions."""
        ends = begins if self.is_optional else 0
        at, every = question.at, (2 << question.count) - 1
        for first in self.words.keys() & at.keys():
            second = (begins & at[first]) << 1
            if second:
                for rest in self.words[first]:
                    end = second
                    for word in rest:
                        end = (end & at.get(word, 0)) << 1
                    ends |= end
        for is_of_class in self.classes:
            ends |= (begins & _positions(is_of_class, question)) << 1
        for is_of_class in self.last:
            ends |= (_from(begins) & _positions(is_of_class, question)) << 1
        for least, most in self.spans:
            if most == ANY_NUMBER:
                ends |= _from(begins << least) & every
            else:
                for length in range(least, most + 1):
                    ends |= begins << length & every
        return ends


def _from(positions: int) -> int:
    """Return the first of these positions and all behind it."""
    return -(positions & -positions)


def _positions(is_of_class: Callable[[str], bool], question: QuestionWords) -> int:
    return sum(bits for word, bits in question.at.items() if is_of_class(word))


def read_element(element: str, forms: Mapping[str, str], classes: Mapping[str, str]) -> Element:
    """Return an element as a frame writes it; `forms` are the words of its relation, `classes` patterns of classes."""
    if element == "'s":
        return Element(False, {}, last=("'s".__eq__,))
    is_optional = element.startswith("[")
    choices = element.strip("[]").split("|")
    words: dict[str, list[tuple[str, ...]]] = {}
    for first, *rest in _phrases(choices, forms, classes):
        words.setdefault(first, []).append(tuple(rest))
    single = [choice for choice in choices if choice in classes and choice not in _SPANS]
    return Element(
        is_optional,
        {first: tuple(rests) for first, rests in words.items()},
        tuple(_class(classes[choice]) for choice in single if choice not in _BEFORE),
        tuple(_class(classes[choice]) for choice in single if choice in _BEFORE),
        tuple(_SPANS[choice] for choice in choices if choice in _SPANS),
    )


def _phrases(choices: Iterable[str], forms: Mapping[str, str], classes: Mapping[str, str]) -> Iterable[list[str]]:
    """Return the words of each choice that is neither a class nor a name."""
    for choice in choices:
        if choice in forms:
            yield from (form.lower().split() for form in forms[choice].split("|"))
        elif choice not in classes and choice not in _SPANS:
            yield choice.lower().split("_")


@cache
def _class(pattern: str) -> Callable[[str], bool]:
    """Return whether a word is of the class with this pattern, which ends in a space."""
    compiled = re.compile(pattern, re.IGNORECASE)

    @lru_cache(_KEPT_WORDS)
    def is_of_class(word: str) -> bool:
        return compiled.fullmatch(f"{word} ") is not None

    return is_of_class
