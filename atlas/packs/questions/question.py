"""A question as the pipeline sees it: stems, and for each what else it may be called. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from atlas.core.english.stop_words import FILLERS
from atlas.core.lazy_regex import lazy_regex
from atlas.packs.questions.retrieval.near_words import Near
from atlas.packs.questions.retrieval.synonyms import Phrase, Synonyms, general_synonyms
from atlas.packs.questions.retrieval.vocabulary import Vocabulary
from atlas.packs.questions.values import MAX_QUESTION
from atlas.parsing import stem_words

MAX_ALTERNATIVES = 60
"""Phrases that are searched besides the question's own; the store takes 64."""
OF_WORD, OF_PHRASE = 0.4, 0.7
"""What a synonym of a single word, and of a phrase of several, counts against the word itself: phrases are seldom
ambiguous."""
OF_NEAR, MOST_NEAR, NEAREST = 0.5, 8, 0.35
"""What a near word of a stem without synonyms counts, times its cosine; how many count, from which cosine."""
_EXPLICIT = lazy_regex(r"_|\.(?=\w)|[a-z][A-Z]")
"""Not abbreviations in capitals: `SQL` and `PDF` are words of everyday questions."""
_FILLERS = frozenset(stem_words(FILLERS).split())
_NAME = lazy_regex(r"[A-Za-z_](?:\w|\.++(?=\w))++(?:\(\))?")
_ARGUMENT = lazy_regex(r"\b([A-Za-z_]\w+)=")
_CODE_LIKE = lazy_regex(r"_|\.(?=\w)|\(\)|[a-z][A-Z]|^(?:[A-Z]?+[0-9]++)*+[A-Z]{2}[A-Z0-9_]*+$")
_NONE: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Concept:
    """One stem of a question with single stems that mean the same, each with what it counts."""

    stem: str
    weight: float
    """Its idf in the pack."""
    synonyms: tuple[tuple[str, float], ...] = ()
    others: Mapping[str, float] = field(default_factory=lambda: _NONE)
    """Every stem that may stand for it, by synonyms or by a similar vector, with what it counts."""
    is_known: bool = True
    """The pack has the stem or a synonym of it; a word that is only near does not count."""


@dataclass(frozen=True)
class Question:
    """A question that was analysed."""

    text: str
    """At most `MAX_QUESTION` characters."""
    concepts: tuple[Concept, ...]
    alternatives: tuple[Phrase, ...]
    """Phrases that are in the pack, those of most groups first."""
    names: tuple[str, ...]
    """What looks like a name: `SESSION_COOKIE_AGE`, `select_for_update()`, `Model.save`, and capitalised words within
    a sentence."""

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """The stems of the question, each once, in order."""
        return tuple(concept.stem for concept in self.concepts)

    @cached_property
    def weight(self) -> float:
        """The sum of the weights of all stems."""
        return sum(concept.weight for concept in self.concepts)


def analyse(text: str, vocabulary: Vocabulary, *, multi_query: bool = True) -> Question:
    """Return a question with the alternatives that the vocabulary of a pack allows."""
    text = " ".join(text[:MAX_QUESTION].split())
    every = tuple(dict.fromkeys(stem_words(text).split()))
    stems = tuple(stem for stem in every if stem not in _FILLERS) or every
    found: dict[Phrase, dict[Phrase, int]] = {}
    names = names_in(text)
    if multi_query and not _is_explicit(names, vocabulary):
        for synonyms in (general_synonyms(), vocabulary.own):
            _add(found, synonyms, stems, vocabulary)
    counts: dict[Phrase, int] = {}
    for others in found.values():
        for phrase, count in others.items():
            counts[phrase] = counts.get(phrase, 0) + count
    alternatives = sorted(counts, key=lambda phrase: (-counts[phrase], phrase))[:MAX_ALTERNATIVES]
    concepts = tuple(_concept(stem, found, stems, vocabulary) for stem in stems)
    return Question(text, concepts, tuple(alternatives), names)


def _is_explicit(names: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Return whether a question names something of the pack as in code: it needs no other words."""
    stems = (tuple(stem_words(name).split()) for name in names if _EXPLICIT.search(name))
    return any(each and vocabulary.has(each) for each in stems)


def with_near(question: Question, near: Near, vocabulary: Vocabulary) -> Question:
    """Return a question with the near words of its stems; rare stems without synonyms have the nearest instead.

    See `near_words`.
    """
    own = set(question.stems)
    concepts: list[Concept] = []
    for concept in question.concepts:
        others = [(stem, cosine) for stem, cosine in near.get(concept.stem, ()) if stem not in own]
        synonyms = concept.synonyms
        if not synonyms and vocabulary.is_rare(concept.stem):
            synonyms = tuple((stem, OF_NEAR * cosine) for stem, cosine in others[:MOST_NEAR] if cosine >= NEAREST)
        counts = dict(others)
        for stem, share in synonyms:
            counts[stem] = max(share, counts.get(stem, 0.0))
        concepts.append(replace(concept, others=counts, synonyms=synonyms))
    return replace(question, concepts=tuple(concepts))


def names_in(text: str) -> tuple[str, ...]:
    """Return what looks like a name, without parentheses."""
    found = (each for each in _NAME.finditer(text) if _CODE_LIKE.search(each[0]) or _is_capitalised(text, each.start()))
    names = (each[0].removesuffix("()").strip(".") for each in found)
    return tuple(dict.fromkeys(name for name in (*names, *_ARGUMENT.findall(text)) if len(name) > 2))


def _is_capitalised(text: str, start: int) -> bool:
    """Return whether a capital stands within a sentence, where English writes names with one."""
    before = text[:start].rstrip()
    return text[start].isupper() and bool(before) and before[-1] not in ".?!:"


def _add(
    found: dict[Phrase, dict[Phrase, int]], synonyms: Synonyms, stems: Sequence[str], vocabulary: Vocabulary
) -> None:
    for phrase, others in synonyms.related(stems).items():
        known = found.setdefault(phrase, {})
        for other, count in others.items():
            if vocabulary.has(other):
                known[other] = known.get(other, 0) + count


def _concept(
    stem: str,
    found: dict[Phrase, dict[Phrase, int]],
    stems: Sequence[str],
    vocabulary: Vocabulary,
) -> Concept:
    synonyms: dict[str, float] = {}
    for phrase, others in found.items():
        if stem in phrase:
            counts = OF_WORD if len(phrase) == 1 else OF_PHRASE
            for other in others:
                if len(other) == 1 and other[0] not in stems:
                    synonyms[other[0]] = max(counts, synonyms.get(other[0], 0.0))
    is_known = bool(synonyms) or vocabulary.has((stem,))
    return Concept(stem, vocabulary.idf(stem), tuple(sorted(synonyms.items())), is_known=is_known)
