"""A message of an error that a person pastes above a question about it: only the message stands in a file. Pure."""

from __future__ import annotations

import re

from atlas.code.question.requests.clauses import opens_question, split_clauses

MOST_WORDS = 80
"""Of a text that may be a message and a question about it; a longer one is a report."""
MIN_MESSAGE = 3
_KIND_OF_ERROR = re.compile(r"^[\w.$]{0,200}(?:Error|Exception|Warning|error|exception|warning|panic|fatal): (?=\S)")
_POINTS_UP = re.compile(r"^[\s^>:-]+")
"""`^ got this in my run`."""
_OF_PERSON = re.compile(r"^(?:i|we|i'm|i'd|i've|we're|my|our|please|hi|hello)\b", re.IGNORECASE)


def quote_pasted(text: str) -> str:
    """Return a text with the message of its first line in quotes; other texts as they are.

    The message is a line of its own, states something, and lines that ask follow without a blank line between.
    """
    first, *others = [line.strip() for line in text.strip().split("\n")]
    if not others or not all((first, *others)) or len(text.split()) > MOST_WORDS or "“" in text:
        return text
    rest = _POINTS_UP.sub("", " ".join(others))
    message = _KIND_OF_ERROR.sub("", first).strip("\"'` ")
    is_message = len(message.split()) >= MIN_MESSAGE and not opens_question(first.split())
    if not is_message or _OF_PERSON.match(first) or not any(clause.asks for clause in split_clauses(rest)):
        return text
    return f"“{message}” {rest}"
