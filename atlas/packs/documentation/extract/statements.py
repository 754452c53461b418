"""Defaults, limits, errors and definitions in a sentence. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from atlas.core.lazy_regex import lazy_regex

_WORD_OF_UNIT = (
    r"(?!(?:and|or|but|in|if|on|to|for|of|by|as|at|is|are|when|where|which|that|the|than|because|since|so|"
    r"with|from|will|has|have|it|this|also|then|otherwise|unless|while|other|more|times?\b)\b)[A-Za-z]+"
)
_UNIT = rf"(?:\s?%|\s?{_WORD_OF_UNIT})?"
"""What a number counts; a word that goes on with the sentence is none."""
_VALUE = (
    r"(`{1,2}[^`\n]{1,80}`{1,2}|\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|(?<![\w.])[-+]?\d(?:\w|\.++(?=\w))*+"
    rf"(?:\s?%|\s{_WORD_OF_UNIT})?|(?!(?:Not|The|This|If|When|See|For)\b)(?<!\w)[A-Z][A-Za-z]{{2,}}\b)"
)
_DEFAULTS = (
    lazy_regex(rf"\b[Dd]efault(?:\s+value)?\s*(?:is|:|=|of)\s*{_VALUE}"),
    lazy_regex(r"(?:(?<=; )|(?<=`: ))default: ([^\n]{1,200})\.$"),
    lazy_regex(rf"\b[Dd]efaults?\s+to\s+(?:the\s+)?{_VALUE}"),
    lazy_regex(rf"\b[Bb]y\s+default,?\s[^.;]{{0,80}}?\b(?:is|are|uses|to|of)\s+(?:set\s+to\s+)?{_VALUE}"),
    lazy_regex(rf"{_VALUE}\s+(?:is\s+the\s+default|by\s+default|\(the\s+default\)|\(default\))"),
)
_NUMBER = rf"(\d(?:\d|[.,]++(?=\d))*+{_UNIT})"
_LIMITS = (
    lazy_regex(
        rf"\b(?:at most|no more than|no longer than|no fewer than|not exceed|cannot exceed|minimum of|maximum of|"
        rf"limited to|maximum (?:\w+ ){{0,3}}(?:is|of)|minimum (?:\w+ ){{0,3}}(?:is|of))\s+(?:\w+\s)?{_NUMBER}"
    ),
    lazy_regex(
        rf"\b(?:must|may|can|should|cannot|needs?\s+to|has\s+to|have\s+to|accepts?|allows?|takes?|requires?)\s[^.;:]{{0,60}}?"
        rf"\b(?:at least|up to|less than|greater than|more than|longer than)\s+(?:\w+\s)?{_NUMBER}"
    ),
    lazy_regex(
        r"\b(?:must|may|can|should|has to|have to|accepts?)\s[^.;:]{0,60}?\bbetween\s+(\d[\w.]*\s+and\s+\d[\w.]*)"
    ),
    lazy_regex(
        rf"\b(?:requires?|supports?)\s+[A-Z][\w ]{{1,30}}?\s{_NUMBER}\s+(?:or|and)\s+(?:later|newer|higher|above)"
    ),
)
_ERROR_NAME = (
    r"`{0,2}~?(?<![\w.])((?:[A-Za-z_]\w*+\.)*(?:[A-Z]\w*(?:Error|Exception|Warning|Exists|Denied|NotFound)|DoesNotExist|Http\d+))"
    r"(?:\(\))?`{0,2}"
)
_RAISES = r"\b(?:[Rr]aises?|[Rr]aised|[Tt]hrows?|[Rr]aising|results? in|emits?|cause[sd]?)"
_ERRORS = (
    lazy_regex(rf"{_RAISES}\s+(?:an?\s+|the\s+)?{_ERROR_NAME}"),
    lazy_regex(
        rf"{_ERROR_NAME}\s+(?:\w+\s)?(?:is|are|will be|gets?|being)\s+(?:(?!not\b|never\b)\w+\s)?"
        r"(?:raised|thrown|emitted)"
    ),
)
_CONDITION = lazy_regex(
    r"\b(?:if|when|whenever|whether|unless|where|after|once|until|while|because|so that|for which)\b[^,;.]{0,80}$", re.I
)
"""The statement is what something else depends on: "when a `KeyError` is raised", "if it is at least 3"."""
_MENDED = lazy_regex(
    r"\b(?:[Bb]ugs?|[Ff]ix(?:ed|es)?|[Rr]egressions?|[Ii]ssues?|incorrectly|erroneously|no longer|instead of|"
    r"[Pp]reviously|used to)\b|^\W*(?:Removed|Repaired|Prevent)"
)
"""A text about a fault or an earlier state."""
_DEFINITION = lazy_regex(
    r"^(?:An?\s|The\s)?(?P<subject>`[^`\n]{2,80}`|[A-Z][\w.-]*(?:\s[\w.-]+){0,3})\s+"
    r"(?:is|are|refers to|means|denotes)\s+(?:an?|the|one of)\s+\w+"
)


class StatedValue(NamedTuple):
    """A value that a sentence states, and where in it the statement begins."""

    value: str
    start: int


def default_value(sentence: str) -> StatedValue | None:
    """Return the default that a sentence names, None for none."""
    found = _first(_DEFAULTS, sentence)
    return None if found is None or is_about_a_fault(sentence) else found


def limit_value(sentence: str) -> StatedValue | None:
    """Return the limit that a sentence names, None for none."""
    found = _first(_LIMITS, sentence)
    return None if found is None or is_condition(sentence[: found.start]) else found


def error_name(sentence: str) -> StatedValue | None:
    """Return the error whose cause a sentence names, None for none."""
    found = _first(_ERRORS, sentence)
    is_cause = found is not None and not is_about_a_fault(sentence)
    passive = found is not None and not re.match(_RAISES, sentence[found.start :])
    return found if is_cause and not (passive and found and is_condition(sentence[: found.start])) else None


def is_about_a_fault(sentence: str) -> bool:
    """Return whether a sentence reports a bug, a fix or earlier behaviour instead of current behaviour."""
    return _MENDED.search(sentence) is not None


def is_condition(before: str) -> bool:
    """Return whether what follows a text is a condition or a reason for something else: "If a feature is"."""
    return _CONDITION.search(before) is not None


def is_conditional(sentence: str) -> bool:
    """Return whether a sentence begins with a condition: what it says is not a property of what was named before."""
    return re.match(r"\W*(?:if|when|unless|where|for)\b", sentence, re.IGNORECASE) is not None


def is_exception(name: str) -> bool:
    """Return whether a name is that of an exception or a warning."""
    return re.fullmatch(_ERROR_NAME, name) is not None


def defined_name(sentence: str) -> str:
    """Return what a sentence defines as written ("`Q` is an object that ..." -> "`Q`"), "" if it defines nothing."""
    found = _DEFINITION.match(sentence)
    return found["subject"] if found else ""


def _first(patterns: tuple[re.Pattern[str], ...], sentence: str) -> StatedValue | None:
    for pattern in patterns:
        found = pattern.search(sentence)
        if found:
            return StatedValue(found[1].strip().strip("`").strip(), found.start())
    return None
