"""What kind of answer a question asks for, and which texts have one: a time, or a number. Pure; English only."""

from __future__ import annotations

import re

ANSWER_SHARE = 0.2
"""What a text with the right kind of answer gains. From .1 to .4 recall at 10 of "when" and "how many" rises by half a
point to a point on both sets of memories, and nothing falls (`python -m tests.bench.recall`)."""

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_ASKS_TIME = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:date|day|week|month|year|time)\b|\bhow long ago\b", re.IGNORECASE
)
_TIME = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|recently|since|until|{_MONTHS}|(?:{_DAYS})s?"
    r"|spring|summer|autumn|winter|morning|evening|weekend|weeks?|months?|years?|\d{4}|\d\d?(?::\d\d|st|nd|rd|th))\b",
    re.IGNORECASE,
)
_ASKS_NUMBER = re.compile(r"\bhow (?:many|much|old|long|far|tall|often|big|large|high|fast)\b", re.IGNORECASE)
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundreds?|thousands?|millions?|half|dozens?|once|twice|quarters?)\b",
    re.IGNORECASE,
)


def answer_pattern(question: str) -> re.Pattern[str] | None:
    """Return what the answer to a question contains, None if that is not known."""
    if _ASKS_TIME.search(question):
        return _TIME
    return _NUMBER if _ASKS_NUMBER.search(question) else None


def answer_factor(pattern: re.Pattern[str] | None, text: str) -> float:
    """Return 1 + ANSWER_SHARE for a text with the kind of answer that the question asks for, else 1."""
    return 1 + ANSWER_SHARE if pattern is not None and pattern.search(text) else 1.0
