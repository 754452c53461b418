"""Lifts documents whose title says what the question says: a heading is what people ask for. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from atlas.code.question.parse_question import Query
from atlas.code.rank.rank import Candidate
from atlas.core.english.stems import base_forms
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.labels import DOCUMENT_LABELS

TITLE_BONUS = 0.6
"""What a document gains if its title has the words of the question and no others. Headings of Django's documentation:
MRR@10 .71 without, .91 with it, words alone .74; of Celery's .73, .96 and .85, all on candidates kept from one run.
docs/measurements/retrieval.md has the whole pipeline."""
TITLE_POWER = 4
"""Of the agreement: half of the words in common are a sixteenth of the bonus."""
_WORD = re.compile(r"[^\W_]+")
"""Single digits are words here, unlike in the index: "Django 5.0.7" is not "Django 5.0.6"."""


def lift_titles(candidates: Sequence[Candidate], query: Query) -> list[Candidate]:
    """Return the candidates in their order, documents with the bonus of their titles.

    A question that is only an identifier asks for its definition, not for a section with its name.
    """
    asked = _stems(query.text)
    if len(asked) < 2 or (query.names and query.focus >= 1):
        return list(candidates)
    return [_lifted(each, asked) for each in candidates]


def _lifted(candidate: Candidate, asked: frozenset[str]) -> Candidate:
    row = candidate.node.row
    if row.label not in DOCUMENT_LABELS:
        return candidate
    bonus = TITLE_BONUS * agreement(asked, _stems(row.name)) ** TITLE_POWER
    return replace(candidate, score=candidate.score + bonus) if bonus else candidate


def agreement(asked: frozenset[str], title: frozenset[str]) -> float:
    """Return the harmonic mean of the shares of the words that both have (F1), 0..1."""
    both = len(asked) + len(title)
    return 2 * len(asked & title) / both if both else 0.0


def _stems(text: str) -> frozenset[str]:
    words = [word.lower() for word in _WORD.findall(text)]
    return frozenset(min((word, *base_forms(word)), key=len) for word in words if word not in STOP_WORDS)
