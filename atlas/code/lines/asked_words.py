"""The words of a question that say what it is about, after the words of its kind are taken off. Pure."""

from __future__ import annotations

import re

from atlas.core.english.stems import root_of
from atlas.core.english.stop_words import CONTRACTED, STOP_WORDS
from atlas.core.lazy_regex import lazy_regex

_WORD = lazy_regex(r"[^\W_][\w.$/-]*")
_SAID = frozenset(
    """
    please show list give find tell get me us all any every each which what used use uses using read reads set sets take
    takes takes accept accepts support supports supported consult consulted consults affect affects influence influences
    control controls configure configured recognise recognised recognize recognized know known there available exist
    exists need needed needs require required code project repository repo codebase program app application library
    package tool this it its here our my your we you i one names name defined declared checked honour honoured honored
    respect respected look looks looked access accessed through via environment variable variables var vars env does do
    can have has work works happen happens mean means option options flag flags switch switches argument arguments
    command commands line cli default defaults value values setting settings config configuration about
    decide decides determine determines choose chooses pick picks select selects process steer steers
    """.split()  # noqa: SIM905
)


def topic_words(text: str, without: re.Pattern[str] | None = None) -> tuple[str, ...]:
    """Return the words of a question that are neither function words nor those by which every such question asks."""
    text = without.sub(" ", text) if without is not None else text
    words = (word.strip(".-/").lower() for word in _WORD.findall(text))
    return tuple(dict.fromkeys(word for word in words if len(word) > 2 and word not in STOP_WORDS | CONTRACTED | _SAID))


def mentions(text: str, words: tuple[str, ...]) -> bool:
    """Return whether a text has one of the words or a word of the same root, inside of identifiers as well."""
    lowered = text.lower()
    return any(word in lowered or root_of(word) in lowered for word in words)
