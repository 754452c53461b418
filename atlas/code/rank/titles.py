"""Lifts documents whose title says what the question says: a heading is what people ask for. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from atlas.code.question.parse_question import Query
from atlas.code.rank.rank import Candidate
from atlas.core.english.stems import base_forms
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.labels import DOCUMENT_LABELS
from atlas.core.lazy_regex import lazy_regex

TITLE_BONUS = 0.6
"""What a document gains if its title has the words of the question and no others. Headings of Django's documentation:
MRR@10 .71 without, .91 with it, words alone .74; of Celery's .73, .96 and .85, all on candidates kept from one run.
docs/measurements/retrieval.md has the whole pipeline."""
TITLE_POWER = 4
"""Of the agreement: half of the words in common are a sixteenth of the bonus."""
ASKS_PAGE = lazy_regex(
    r"\b(?:which|what|whose|in which|where|any|is there an?)\b(?: \w+){0,3}? (?:pages?|chapters?|guides?"
    r"|sections?|docs?|documents?|tutorials?"
    r"|manual|articles?|readme|how-?to)\b(?! comments?)|^(?:docs?|documentation|pages?|guides?"
    r"|tutorials?) (?:for|about|on|of)\b"
    r"|\bwhere\b.*\b(?:documented|explained|described)\b",
    re.IGNORECASE,
)
"""A question for a page of the documentation."""
_HOW_TO = lazy_regex(
    r"^(?:so |and |please )?(?:how (?:do|can|should|would) (?:i|you|we|one)|how to|how does one)\b", re.IGNORECASE
)
_ABOUT_PAGES = lazy_regex(
    r"\b(?:pages?|chapters?|guides?|sections?|docs?|documents?|documentation|documented|documents|tutorials?|manual|articles?|readme|how-?to|covers?"
    r"|covered|covering|explain\w*|describ\w*|discuss\w*|tell\w*|talks?|about|mention\w*|treats?|introduc\w*|read|find|learn|site|online"
    r"|how|do|can|should|would|i|you|we|one|use|using|make|get|set|run|write|work|project|library|for|with|behind|in|of|to|my|your|own|is|there)\b",
    re.IGNORECASE,
)
_NEWS = lazy_regex(
    r"(?:^|/)(?:change(?:s|log)?|history|news|release[-_ ]?notes?|releases|upgrad\w*|[\w.]+-upgrade)\b", re.IGNORECASE
)
"""Lists of changes name everything and explain nothing."""
COVERED = 0.6
"""Share of the topic that a page's heading and file name have to name."""
HOW_TO_PAGES = 2
_WORD = lazy_regex(r"[^\W_]+")
"""Single digits are words here, unlike in the index: "Django 5.0.7" is not "Django 5.0.6"."""


def lift_titles(candidates: Sequence[Candidate], query: Query) -> list[Candidate]:
    """Return the candidates in their order, documents with the bonus of their titles.

    A question that is only an identifier asks for its definition, not for a section with its name.
    """
    asked = _stems(query.text)
    if len(asked) < 2 or (query.names and query.focus >= 1):
        return list(candidates)
    return [_lifted(each, asked) if each.node.row.label in DOCUMENT_LABELS else each for each in candidates]


def pages_first(candidates: Sequence[Candidate], query: Query, project: str = "") -> list[Candidate]:
    """Return the candidates with the documents first that a question for a page or for how to do something asks for.

    A page covers what its heading, or the name of its file, names. A question for a page shows other documents before
    code as well; one for how to do something shows two pages at most before it.
    """
    asks_page = bool(ASKS_PAGE.search(query.text))
    topic = _topic(query, project)
    if not topic:
        return list(candidates)
    pages = [
        each for each in candidates if each.node.row.label in DOCUMENT_LABELS and not _NEWS.search(each.node.row.path)
    ]
    best = sorted(((_covers(each, topic), each) for each in pages), key=lambda each: -each[0])
    covering = [each for share, each in best if share >= COVERED][: None if asks_page else HOW_TO_PAGES]
    others = [each for each in pages if each not in covering] if asks_page else []
    first = [*covering, *others]
    chosen = {each.node.row.uid for each in first}
    return [*first, *(each for each in candidates if each.node.row.uid not in chosen)]


def has_covering_page(candidates: Sequence[Candidate], query: Query, project: str = "") -> bool:
    """Return whether the first candidate is a page that covers what the question asks a page for."""
    topic = _topic(query, project)
    first = candidates[0] if candidates else None
    return (
        first is not None
        and bool(topic)
        and first.node.row.label in DOCUMENT_LABELS
        and _covers(first, topic) >= COVERED
    )


def _topic(query: Query, project: str) -> frozenset[str]:
    """Return the words that a page has to cover; none for a question that asks for no page."""
    if not (ASKS_PAGE.search(query.text) or _HOW_TO.search(query.text)):
        return frozenset()
    return _stems(_ABOUT_PAGES.sub(" ", query.text)) - _stems(project)


def _covers(candidate: Candidate, topic: frozenset[str]) -> float:
    """Return the share of the topic that heading and file name have, less for a heading that says much else."""
    row = candidate.node.row
    heading, file = _stems(row.name), _stems(row.path.rpartition("/")[2].partition(".")[0])
    share = len(topic & (heading | file)) / len(topic)
    return share + 0.2 * agreement(topic, heading) + 0.1 * agreement(topic, file)


def _lifted(candidate: Candidate, asked: frozenset[str]) -> Candidate:
    bonus = TITLE_BONUS * agreement(asked, _stems(candidate.node.row.name)) ** TITLE_POWER
    return replace(candidate, score=candidate.score + bonus) if bonus else candidate


def agreement(asked: frozenset[str], title: frozenset[str]) -> float:
    """Return the harmonic mean of the shares of the words that both have (F1), 0..1."""
    both = len(asked) + len(title)
    return 2 * len(asked & title) / both if both else 0.0


def _stems(text: str) -> frozenset[str]:
    return frozenset(_shortest_form(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)


@lru_cache(maxsize=8_192)
def _shortest_form(word: str) -> str:
    return min((word, *base_forms(word)), key=len)
