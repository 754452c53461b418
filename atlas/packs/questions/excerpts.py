"""What an answer quotes of a section: its best sentences, code blocks and signatures, within a token budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from atlas.core.english.sentences import sentence_spans
from atlas.core.lazy_regex import lazy_regex
from atlas.packs.questions.question import Question
from atlas.packs.questions.retrieval.vocabulary import Vocabulary
from atlas.packs.questions.texts import Passage
from atlas.parsing import stem_words

MAX_UNITS = 60
"""Sentences and blocks of a section that are compared."""
LONGEST = 600
"""Characters of a code block that are quoted; a longer one is cut at a line."""
LONGEST_ITEM = 320
"""Characters of a list item that is quoted as a whole or not at all."""
GAP = " […] "
FIRST, BEST_PASSAGE, CODE = 0.12, 0.15, 0.05
"""What the first sentence of a section, those of the best passage, and code gain."""
BESIDE = 0.3
"""Share of the better of its neighbours' scores that a unit gains: the words of a question often stand next to what
answers it."""
_ITEM = lazy_regex(r"^[-*] .+$", re.MULTILINE)
_FENCE = lazy_regex(r"^(```++)[^\n]*+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ExcerptUnit:
    """A sentence, list item, row or code block of a passage, in the order of the section."""

    text: str
    passage: int
    """Number of its passage in the order of relevance, 0 = the best."""
    place: tuple[int, int]
    is_code: bool = False


def units_of(passages: Sequence[Passage]) -> list[ExcerptUnit]:
    """Return the units of passages that are ordered by relevance, in the order of the text."""
    found: list[ExcerptUnit] = []
    for number, passage in enumerate(passages):
        for start, end, is_code in _spans(passage.text):
            text = passage.text[start:end].strip()
            if len(text) > 2:
                found.append(ExcerptUnit(text, number, (passage.row.start_byte, start), is_code))
    kept = sorted(found, key=lambda unit: (unit.passage, unit.place))[:MAX_UNITS]
    return sorted(kept, key=lambda unit: unit.place)


def relevance(
    question: Question, units: Sequence[ExcerptUnit], cosines: Sequence[float], vocabulary: Vocabulary
) -> list[float]:
    """Return how well each unit answers: words and synonyms of the question, its cosine, and its place."""
    best = max((*cosines, 0.05))
    total = question.weight or 1.0
    scores: list[float] = []
    for place, (unit, cosine) in enumerate(zip(units, cosines, strict=True)):
        stems = frozenset(stem_words(unit.text).split())
        words = 0.0
        for concept in question.concepts:
            if concept.stem in stems:
                words += concept.weight
            else:
                shares = (
                    share * min(vocabulary.idf(stem), concept.weight)
                    for stem, share in concept.synonyms
                    if stem in stems
                )
                words += max(shares, default=0.0)
        score = 0.5 * words / total + 0.5 * max(cosine, 0.0) / best
        score += FIRST * (place == 0) + BEST_PASSAGE * (unit.passage == 0) + CODE * unit.is_code
        scores.append(score)
    return [score + BESIDE * max(_beside(units, scores, place), default=0.0) for place, score in enumerate(scores)]


def _beside(units: Sequence[ExcerptUnit], scores: Sequence[float], place: int) -> Iterator[float]:
    """Yield the scores of the units before and after one of the same passage."""
    for other in (place - 1, place + 1):
        if 0 <= other < len(units) and units[other].passage == units[place].passage:
            yield scores[other]


def excerpt(
    units: Sequence[ExcerptUnit], scores: Sequence[float], budget: int, count: Callable[[str], int]
) -> tuple[str, int]:
    """Return the best units that fit into `budget` tokens, in the order of the text, and how many were left out.

    A gap between units is marked. The best unit is cut if it does not fit.
    """
    chosen: set[int] = set()
    spent = 0
    costs = [count(_shortened(unit)) + 4 for unit in units]
    for index in sorted(range(len(units)), key=lambda at: (-scores[at], at)):
        if spent + costs[index] <= budget:
            chosen.add(index)
            spent += costs[index]
    if not chosen and units:
        best = max(range(len(units)), key=lambda at: (scores[at], -at))
        return _cut(_shortened(units[best]), budget, count), len(units) - 1
    return _joined(units, sorted(chosen)), len(units) - len(chosen)


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each fenced block; a fence that is not closed is text."""
    fences = list(_FENCE.finditer(text))
    closing: dict[str, list[int]] = {}
    for fence in reversed(fences):
        closing.setdefault(fence[0].rstrip(" \t"), []).append(fence.end())
    at = 0
    for fence in fences:
        ends = closing.get(fence[1], [])
        while ends and ends[-1] <= fence.end():
            ends.pop()
        if fence.start() >= at and ends:
            at = ends[-1]
            yield fence.start(), at


def _spans(text: str) -> list[tuple[int, int, bool]]:
    """Return the spans of sentences and of fenced code blocks in order."""
    spans: list[tuple[int, int, bool]] = []
    start = 0
    for opening, end in _fenced(text):
        spans += _prose_spans(text, start, opening)
        spans.append((opening, end, True))
        start = end
    return [*spans, *_prose_spans(text, start, len(text))]


def _prose_spans(text: str, start: int, end: int) -> list[tuple[int, int, bool]]:
    """Return the spans of sentences; a short list item is one: its later sentences say nothing without its name."""
    spans: list[tuple[int, int, bool]] = []
    items = [(start + found.start(), start + found.end()) for found in _ITEM.finditer(text[start:end])]
    for first, last in sentence_spans(text[start:end]):
        item = next(
            (one for one in items if one[0] <= start + first < one[1] and one[1] - one[0] <= LONGEST_ITEM), None
        )
        if item is not None and spans and spans[-1][0] >= item[0]:
            spans[-1] = (spans[-1][0], start + last, False)
        else:
            spans.append((start + first, start + last, False))
    return spans


def _shortened(unit: ExcerptUnit) -> str:
    if len(unit.text) <= LONGEST:
        return unit.text
    kept = unit.text[:LONGEST].rpartition("\n")[0] if unit.is_code else unit.text[:LONGEST].rpartition(" ")[0]
    kept = kept or unit.text[:LONGEST]
    return f"{kept}\n# …\n```" if unit.is_code else f"{kept} …"


def _joined(units: Sequence[ExcerptUnit], chosen: Sequence[int]) -> str:
    text, last = "", -1
    for index in chosen:
        unit = units[index]
        shown = _shortened(unit)
        if text:
            if unit.is_code or units[last].is_code or _ITEM.match(unit.text):
                text += "\n"
            else:
                text += " " if index == last + 1 else GAP
        text += shown
        last = index
    return text


def _cut(text: str, budget: int, count: Callable[[str], int]) -> str:
    """Return the longest beginning of a text, cut between words, that fits."""
    words = text.split(" ")
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if count(" ".join(words[:middle]) + " …") <= budget:
            low = middle
        else:
            high = middle - 1
    return f"{' '.join(words[:low])} …" if low else ""
