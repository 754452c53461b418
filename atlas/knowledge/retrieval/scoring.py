"""How the channels of a search of notes become one score. Pure: numbers in, numbers out, ties by uid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from atlas.code.retrieve.fuse import normalised
from atlas.core.english.sentences import said_sentences
from atlas.core.model import Node
from atlas.knowledge.notes.marks import read_marks
from atlas.knowledge.retrieval.conversation import seconds
from atlas.knowledge.retrieval.mentions import Mentions
from atlas.parsing import stem_words

WORDS_WEIGHT = 0.4
"""Of .3 to .6, best or within noise of it on six sets of embedding-prose/README.md; the rest is meaning."""
FORWARD, FORWARD_OF_QUESTION = 0.2, 0.4
"""Shares of its score that an observation gives to the next one of a conversation; more if it asks something. Recall at
10 of written conversations is .74 without, .81 with half of them, .84 with these; .86 with .3 and .6, which would
follow the written ones too closely (docs/measurements/notes.md, as for the numbers below)."""
NAME_WEIGHT = 0.1
"""What an observation gains if the question names its entity: recall at 5 of conversations +2.5, at 10 +2."""
BARE_ENTITY = 1.0
"""Score of an entity without a text of its own if the question is only its name."""
UNSAYING = 2.0
"""Stems of a text that says half of what a long one says: recall at 10 of conversations is .76 without this factor, .84
with 1, 2 and 4; recall at 5 of claims is .83 without it, .87 with it."""
CONFIDENCE_SPAN = 0.1
"""A note of confidence 0 loses this share of its score. No set has confidences: small enough to order near equals."""
AGE_SPAN, AGE_HALF_LIFE = 0.03, 30 * 86_400.0
"""The newest candidate gains this share of its score; one that is this much older, in seconds, half of it. It
changes no recall: it orders near equals."""


IMPORTANCE_SPAN, IMPORTANCE_HALF_LIFE = 0.3, 180 * 86_400.0
"""What the user calls important gains this share of its score, half of it for what is this much older, in seconds."""


def fused(words: Mapping[str, float], meaning: Mapping[str, float]) -> dict[str, float]:
    """Return w * BM25 / max + (1 - w) * cosine / max by uid, 0 for what a channel lacks or for a negative cosine.

    The cosine has a fixed zero: with the worst candidate as zero, the number of candidates would decide the ranking. If
    one channel is empty, the other has the full range.
    """
    weight = 1.0 if not meaning else WORDS_WEIGHT if words else 0.0
    by_words, by_meaning = normalised(list(words.items())), normalised(list(meaning.items()))
    return {
        uid: weight * by_words.get(uid, 0.0) + (1 - weight) * by_meaning.get(uid, 0.0) for uid in {**words, **meaning}
    }


def with_sentences(meaning: Mapping[str, float], sentences: Mapping[str, float]) -> dict[str, float]:
    """Return cosines in which notes of several sentences have the mean of the whole and the best sentence."""
    return {uid: (whole + sentences[uid]) / 2 if uid in sentences else whole for uid, whole in meaning.items()}


def ordered(scores: Mapping[str, float]) -> list[str]:
    """Return uids best first, ties by uid."""
    return sorted(sorted(scores), key=scores.__getitem__, reverse=True)


def name_bonus(path: str, named: Mentions) -> float:
    """Return what a note in this file gains because the question names its entity or a related one."""
    return NAME_WEIGHT * max(named.named.get(path, 0.0), named.related.get(path, 0.0))


def content(text: str) -> float:
    """Return how much a text says, 0..1: n / (n + UNSAYING) for n different stems outside of its questions.

    Words and meaning both favour short texts: of a conversation, "What happened?" is near to every question.
    """
    said = len(set(stem_words(" ".join(part for part in said_sentences(text) if "?" not in part)).split()))
    return said / (said + UNSAYING)


def forward_share(text: str) -> float:
    """Return the share of its score that an observation with this text gives to the next one."""
    return FORWARD_OF_QUESTION if "?" in text else FORWARD


def confidence_factor(confidence: float) -> float:
    """Return 1 - CONFIDENCE_SPAN for confidence 0 up to 1 for confidence 1."""
    return 1 - CONFIDENCE_SPAN * (1 - min(max(confidence, 0.0), 1.0))


def newest(times: Iterable[str]) -> float:
    """Return the latest of RFC 3339 times in Unix seconds, 0 if there is none."""
    return seconds(max(times, default=""))


def age_factor(created: str, latest: float) -> float:
    """Return 1 + AGE_SPAN for the newest candidate down to 1 for old ones and those without a time.

    Age is relative to the newest one, so that no clock matters.
    """
    if not created or not latest:
        return 1.0
    return 1 + AGE_SPAN * 0.5 ** (max(latest - seconds(created), 0.0) / AGE_HALF_LIFE)


def importance_factor(importance: float | None, created: str, latest: float) -> float:
    """Return 1 without importance, 1 + IMPORTANCE_SPAN for 1, 1 - IMPORTANCE_SPAN for 0.

    It fades with age: what mattered long ago is ordered like everything else.
    """
    if importance is None:
        return 1.0
    age = max(latest - seconds(created), 0.0) if created and latest else 0.0
    return 1 + IMPORTANCE_SPAN * (2 * importance - 1) * 0.5 ** (age / IMPORTANCE_HALF_LIFE)


def shared_words(asked: set[str], found: set[str]) -> float:
    """Return the share of the stems of a question that a text has."""
    return len(asked & found) / len(asked) if asked else 0.0


def match_quality(words: float, meaning: float) -> float:
    """Return how well a note matches a concept, 0..1, by its share of words and its cosine."""
    return min(max((words + max(meaning, 0.0)) / 2, 0.0), 1.0)


def folded(text: str) -> str:
    """Return a text for comparison: lower case, single spaces, without a full stop at the end."""
    return " ".join(text.lower().split()).rstrip(".!?")


def reasons(
    node: Node, words: Mapping[str, float], meaning: Mapping[str, float], named: Mentions, following: frozenset[str]
) -> tuple[str, ...]:
    """Return why a note was found; `following` are the notes that follow good hits in a conversation."""
    uid, path = node.row.uid, node.row.path
    importance = read_marks(node.row.docstring).importance
    found = ["name"] if path in named.named else ["related"] if path in named.related else []
    if words.get(uid, 0.0) > 0:
        found.append("words")
    if meaning.get(uid, 0.0) > 0:
        found.append(f"meaning {meaning[uid]:.2f}")
    if uid in following:
        found.append("conversation")
    if importance is not None:
        found.append(f"importance {importance:.2f}")
    return tuple(found)
