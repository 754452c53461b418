"""Features of a passage and what they are worth. Pure: numbers in, numbers out.

The weights are a linear model, fitted to the tuning half of `tests/bench/data/packs` (`docs/measurements/packs.md`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.questions.question import Question
from atlas.packs.questions.retrieval.vocabulary import Vocabulary
from atlas.packs.questions.texts import Passage

K1, B = 1.2, 0.5
"""BM25 of a passage: saturation, and the share of its length that counts."""
IN_HEADING, IN_TITLE = 2, 2
"""How often a stem in the headings counts, and once more in the innermost one."""
_RELEASE_NOTES = lazy_regex(
    r"(?:^|/)(?:releases?|changelogs?|changes|whatsnew|history|news|migration|release[-_ ]?notes)(?:[/._\d-]|$)", re.I
)


class Features(NamedTuple):
    """What the channels say about a passage. Scores of a channel are raw; `Scale` makes them comparable."""

    words: float = 0.0
    """BM25 of the question's stems."""
    others: float = 0.0
    """BM25 of the alternatives."""
    meaning: float = 0.0
    """Cosine of the passage."""
    heading: float = 0.0
    """Cosine of its headings alone."""
    sentence: float = 0.0
    """Cosine of its best sentence."""
    plain: float = 0.0
    """Sum over the question's stems of their weight in the passage."""
    with_synonyms: float = 0.0
    """The same where a synonym may stand for its stem, at a discount."""
    soft: float = 0.0
    """Share of the question's weight in the passage where near words count as much as they are near."""
    soft_heading: float = 0.0
    """The same in all headings."""
    soft_title: float = 0.0
    """The same in the innermost heading."""
    soft_sentence: float = 0.0
    """The same in its best sentence."""
    whole_sentence: float = 0.0
    """Share of the question's weight that its best sentence has word for word, below its headings."""
    referred: float = 0.0
    """Score of the best sentence elsewhere that names the section or its symbol."""
    in_title: float = 0.0
    """Share of the question's weight in the innermost heading; half for the other headings."""
    covered: float = 0.0
    """Share of the question's weight whose stems the passage has."""
    covered_with_synonyms: float = 0.0
    named: float = 0.0
    """Share of the names of the question that stand in the headings; half for those only in the text."""
    release_notes: float = 0.0
    """1 for an article of release notes: they name everything and explain little."""


WEIGHTS = Features(
    words=-1.07,
    others=1.34,
    meaning=2.65,
    heading=0.8,
    sentence=2.89,
    plain=-0.18,
    with_synonyms=1.37,
    soft=1.8,
    soft_heading=1.53,
    soft_title=0.73,
    soft_sentence=2.17,
    whole_sentence=0.5,
    referred=0.37,
    in_title=0.76,
    covered=0.87,
    covered_with_synonyms=1.63,
    named=0.94,
    release_notes=-2.24,
)
WORDS_ONLY = Features(words=1.0)
"""BM25 alone."""
ROUGH = (0.25, 0.35, 0.4)
"""Shares of words, alternatives and meaning in the first choice of passages."""
_SCALED = ("words", "others", "meaning", "heading", "sentence", "plain", "with_synonyms")


class Channels(NamedTuple):
    """Scores of the channels by uid."""

    words: Mapping[str, float] = {}
    others: Mapping[str, float] = {}
    meaning: Mapping[str, float] = {}


NO_CHANNELS = Channels()


def rough_scores(channels: Channels) -> dict[str, float]:
    """Return the weighted sum of the channels by uid, each divided by its best."""
    scores: dict[str, float] = {}
    for share, channel in zip(ROUGH, channels, strict=True):
        best = max(channel.values(), default=0.0)
        if best > 0:
            for uid, score in channel.items():
                scores[uid] = scores.get(uid, 0.0) + share * max(score, 0.0) / best
    return scores


def overlap(question: Question, passage: Passage, vocabulary: Vocabulary) -> Features:
    """Return the features that words decide."""
    plain = with_synonyms = in_title = covered = covered_with_synonyms = 0.0
    saturation = K1 * (1 - B + B * passage.length / max(vocabulary.length, 1.0))
    total = question.weight or 1.0
    counts, headings, titles = passage.stems, passage.heading_stems, passage.title_stems
    for concept in question.concepts:
        own = concept.weight * _saturated(_count(concept.stem, counts, headings, titles), saturation)
        best, any_synonym, best_in_title = own, False, 0.0
        for stem, share in concept.synonyms:
            if stem not in counts and stem not in headings:
                continue
            any_synonym = True
            weight = share * vocabulary.idf(stem)
            best = max(best, weight * _saturated(_count(stem, counts, headings, titles), saturation))
            if stem in titles:
                best_in_title = max(best_in_title, weight)
        plain += own
        with_synonyms += best
        if concept.stem in titles:
            in_title += concept.weight
        elif concept.stem in headings:
            in_title += max(concept.weight / 2, best_in_title)
        else:
            in_title += best_in_title
        covered += concept.weight if own else 0.0
        covered_with_synonyms += concept.weight if own or any_synonym else 0.0
    return Features(
        soft=soft_share(question, counts.keys(), headings),
        soft_heading=soft_share(question, headings),
        soft_title=soft_share(question, titles),
        plain=plain,
        with_synonyms=with_synonyms,
        in_title=in_title / total,
        covered=covered / total,
        covered_with_synonyms=covered_with_synonyms / total,
        named=_named(question.names, passage),
        release_notes=float(bool(_RELEASE_NOTES.search(passage.row.path))),
    )


def soft_share(question: Question, *texts: Set[str]) -> float:
    """Return the share of a question's weight that stems have: themselves, by synonyms or by the nearest word."""
    said = 0.0
    for concept in question.concepts:
        if any(concept.stem in stems for stems in texts):
            said += concept.weight
            continue
        others = concept.others
        if others:
            said += concept.weight * max((others[one] for stems in texts for one in others.keys() & stems), default=0.0)
    return said / (question.weight or 1.0)


def whole_sentence(question: Question, sentences: Iterable[Set[str]], headings: Set[str]) -> float:
    """Return the most of a question's weight that one sentence and the headings have, without other words."""
    above = sum(each.weight for each in question.concepts if each.stem in headings)
    rest = [(each.stem, each.weight) for each in question.concepts if each.stem not in headings]
    best = max((sum([weight for stem, weight in rest if stem in stems]) for stems in sentences), default=0.0)
    return (above + best) / (question.weight or 1.0)


def total_scores(features: Sequence[Features], weights: Features = WEIGHTS) -> list[float]:
    """Return one score per passage of a question, 0 or more: scores of channels are divided by their best."""
    scale = scale_of(features)
    shares = tuple(
        weight if name not in scale else weight / scale[name] if scale[name] > 0 else 0.0
        for name, weight in zip(Features._fields, weights, strict=True)
    )
    return [sum([value * share for value, share in zip(each, shares, strict=True) if value > 0]) for each in features]


def normalised(features: Features, scale: Mapping[str, float]) -> Features:
    """Return features in which the best score of each channel is 1."""
    return features._replace(
        **{name: max(getattr(features, name), 0.0) / best if best > 0 else 0.0 for name, best in scale.items()}
    )


def scale_of(features: Iterable[Features]) -> dict[str, float]:
    """Return the best score of each channel."""
    every = list(features)
    return {name: max((getattr(each, name) for each in every), default=0.0) for name in _SCALED}


def _named(names: Sequence[str], passage: Passage) -> float:
    """Return the share of names in the headings or, at half, in the text; a dotted name also by its last part."""
    if not names:
        return 0.0
    headings, text = passage.row.chunk_name.lower(), passage.text.lower()
    found = 0.0
    for name in names:
        ends = name.lower(), name.lower().rpartition(".")[2]
        found += 1.0 if any(end in headings for end in ends) else 0.5 if any(end in text for end in ends) else 0.0
    return found / len(names)


def _count(stem: str, counts: Mapping[str, int], headings: Collection[str], titles: Collection[str]) -> int:
    return counts.get(stem, 0) + IN_HEADING * (stem in headings) + IN_TITLE * (stem in titles)


def _saturated(count: int, saturation: float) -> float:
    return count / (count + saturation)
