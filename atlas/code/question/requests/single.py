"""Do several questions of a text ask about one thing that the code does, so that it is asked as a whole? Pure.

`A client asks for a shell and hides its output. How does it react, and which options are accepted there?`: neither
question has the words of the shell, and what decides one of them stands beside what decides the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from atlas.code.question.behaviour import asks_document, asks_how
from atlas.code.question.parse_question import Query
from atlas.code.question.requests.several import SeveralRequests
from atlas.code.question.requests.subject import written_names
from atlas.core.lazy_regex import lazy_regex

FEW_WORDS = 4
"""Words, apart from those of the question, that a question which can be asked alone has at least."""
_ELSEWHERE = lazy_regex(
    r"\b(?:commits?|prs?|pull requests?|since when|who (?:wrote|added|changed|introduced|fixed)|by whom|changelog"
    r"|when (?:was|were|did)|dependenc(?:y|ies)|(?:which|what|an?) (?:packages?|librar(?:y|ies)|versions?)"
    r"|environment variables?)\b",
    re.IGNORECASE,
)
"""What other answers than that of the code tell."""


def is_of_one_behaviour(text: str, several: SeveralRequests, read: Callable[[str], Query]) -> bool:
    """Return whether the requests of a text in plain words ask about the one thing that it tells."""
    whole = read(text)
    if whole.names or whole.paths or several.are_alternatives or not asks_how(whole):
        return False
    parts = [read(each.text) for each in several.requests]
    if any(_asks_elsewhere(each) for each in parts):
        return False
    said = text.casefold()
    return several.has_statement or any(
        len(each.words) < FEW_WORDS or each.text.rstrip(" ?.!").casefold() not in said for each in parts[1:]
    )


def _asks_elsewhere(part: Query) -> bool:
    """Return whether another answer than that of the code may tell what a part asks."""
    if part.relation or part.wants_tests or part.wants_configuration or asks_document(part):
        return True
    return bool(written_names(part.text)) or _ELSEWHERE.search(part.text) is not None
