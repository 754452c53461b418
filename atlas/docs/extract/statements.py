"""Defaults, limits, errors and definitions in a sentence. Pure."""

from __future__ import annotations

import re

_VALUE = r"(`{1,2}[^`\n]{1,80}`{1,2}|\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|[-+]?\d[\w.%]*(?:\s[a-z]+)?|[A-Z][A-Za-z]{2,}\b)"
_DEFAULTS = (
    re.compile(rf"\b[Dd]efault(?:\s+value)?\s*(?:is|:|=|of)\s*{_VALUE}"),
    re.compile(rf"\b[Dd]efaults?\s+(?:to|is)\s+(?:the\s+)?{_VALUE}"),
    re.compile(rf"\b[Bb]y\s+default,?\s[^.;]{{0,80}}?\b(?:is|are|uses|to|of)\s+(?:set\s+to\s+)?{_VALUE}"),
    re.compile(rf"{_VALUE}\s+(?:is\s+the\s+default|by\s+default|\(the\s+default\)|\(default\))"),
)
_NUMBER = r"(\d[\d,.]*\s?(?:%|[A-Za-z]+)?)"
_LIMITS = (
    re.compile(
        rf"\b(?:at most|at least|no more than|up to|no longer than|not exceed|cannot exceed|less than|greater than|"
        rf"minimum of|maximum of|limited to|maximum (?:\w+ ){{0,3}}(?:is|of)|minimum (?:\w+ ){{0,3}}(?:is|of)|"
        rf"more than|longer than|between)\s+(?:\w+\s)?{_NUMBER}"
    ),
    re.compile(
        rf"\b(?:requires?|supports?)\s+[A-Z][\w ]{{1,30}}?\s{_NUMBER}\s+(?:or|and)\s+(?:later|newer|higher|above)"
    ),
)
_ERROR_NAME = (
    r"`{0,2}~?((?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*(?:Error|Exception|Warning|Exists|Denied|NotFound)|DoesNotExist|Http\d+))"
    r"(?:\(\))?`{0,2}"
)
_RAISES = r"\b(?:[Rr]aises?|[Rr]aised|[Tt]hrows?|[Rr]aising|results? in|emits?|cause[sd]?)"
_ERRORS = (
    re.compile(rf"{_RAISES}\s+(?:an?\s+|the\s+)?{_ERROR_NAME}"),
    re.compile(rf"{_ERROR_NAME}\s+(?:\w+\s)?(?:is|are|will be|gets?|being)\s+(?:\w+\s)?(?:raised|thrown|emitted)"),
)
_DEFINITION = re.compile(
    r"^(?:An?\s|The\s)?(?P<subject>`[^`\n]{2,80}`|[A-Z][\w.-]*(?:\s[\w.-]+){0,3})\s+"
    r"(?:is|are|refers to|means|denotes)\s+(?:an?|the|one of)\s+\w+"
)


def default_value(sentence: str) -> str:
    """Return the default that a sentence names, "" for none."""
    return _first(_DEFAULTS, sentence)


def limit_value(sentence: str) -> str:
    """Return the limit that a sentence names, "" for none."""
    return _first(_LIMITS, sentence)


def error_name(sentence: str) -> str:
    """Return the error whose cause a sentence names, "" for none."""
    return _first(_ERRORS, sentence)


def defined_name(sentence: str) -> str:
    """Return what a sentence defines as written ("`Q` is an object that ..." -> "`Q`"), "" if it is no definition."""
    found = _DEFINITION.match(sentence)
    return found["subject"] if found else ""


def _first(patterns: tuple[re.Pattern[str], ...], sentence: str) -> str:
    for pattern in patterns:
        found = pattern.search(sentence)
        if found:
            return found[1].strip().strip("`").strip()
    return ""
