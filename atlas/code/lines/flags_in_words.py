"""A command line flag that a question describes instead of naming it: `which flag limits the size of the storage`.

The declarations of flags are compared with the words of the question: the parts of a flag's name count twice, the words
of its help once. Lines of texts only.
"""

from __future__ import annotations

import re

from atlas.code.lines.asked_words import topic_words
from atlas.code.lines.flags import declarations, flag_names, help_of
from atlas.code.lines.line_report import LineReport, TextLine
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.english.stems import root_of
from atlas.core.model import Filter

_ASKS = re.compile(
    r"\b(?:which|what|what's|is there|are there|do we have)\b.{0,40}?"
    r"\b(?:flag|switch|(?:command[- ]line|cli) (?:option|argument|parameter|flag))\b",
    re.IGNORECASE,
)
_MANY = re.compile(
    r"^(?:list|show|all)\b|\b(?:flags|switches|options|arguments) (?:are|does|do|exist)\b", re.IGNORECASE
)
MOST_WORDS = 25
MOST_FLAGS = 3
ENOUGH = 0.5
"""Share of the words of a question that a flag has at least, those in its name counted twice."""
NEAR = 0.85
"""Share of the best score that further flags have."""


async def answer_flag_in_words(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer which flag does something; None for other questions and where no flag has the words."""
    text = query.text
    if query.states or query.reports or query.phrases or flag_names(text) or len(text.split()) > MOST_WORDS:
        return None
    if _ASKS.search(text) is None or _MANY.search(text) is not None:
        return None
    words = {root_of(word) for word in topic_words(text)}
    if not words:
        return None
    scored: list[tuple[float, TextLine]] = []
    notes, found = await declarations(reader, where)
    for name, each in found:
        told = help_of(each)
        in_name = words & {root_of(part) for part in re.split(r"[-_.]", name.lower())}
        in_help = words & {root_of(word) for word in re.findall(r"[a-z][a-z0-9]+", told.lower())}
        score = (2 * len(in_name) + len(in_help - in_name)) / (2 * len(words))
        scored.append((score, TextLine("flags", each.place, f"--{name}: {told}")))
    scored.sort(key=lambda pair: -pair[0])
    best = scored[0][0] if scored else 0.0
    kept = [line for score, line in scored[:MOST_FLAGS] if score >= max(ENOUGH, best * NEAR)]
    title = "flag whose name and help have the words" if len(kept) == 1 else "flags whose name and help have the words"
    return LineReport("flags", f"{title}: {len(kept)}", tuple(kept), notes) if kept else None
