"""The range that a named setting may have: the lines that compare it, or declare its limits, and refuse other values.

`what is the allowed range of MaxAppendEntries` is answered by its validators: a default alone does not say it. A line
counts only if an error, a panic or an assertion stands on it or right below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from atlas.code.graph.absence.occurrences import is_comment
from atlas.code.lines.line_report import shown
from atlas.code.lines.plain_values import PlainValue
from atlas.code.lines.scan_texts import TextMatch, definitions_around, scan_patterns
from atlas.code.question.names import is_code_shaped
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.model import Filter

MOST_BOUNDS = 4
LINES_BELOW = 3
"""Lines behind a comparison in which a value is refused."""
MAX_LINE = 400
MAX_BEFORE = 80
_ABOVE = re.compile(r"[)\s]{0,4}[<>]=?(?![<>])")
_BELOW = re.compile(r"\b\d[\w.]{0,20}\s?[<>]=?\s?(?:\w{1,40}(?:\.|->))?$")
"""What a name is compared with: what stands behind it, or a number in front."""
_ASKS = re.compile(
    r"\brange\b|\bbounds?\b|\b(?:allowed|valid|permitted|legal|accepted) (?:\w+ )?(?:values?|settings?|sizes?)\b"
    r"|\b(?:minimum|maximum|lowest|highest|largest|smallest) (?:\w+ )?(?:values? )?(?:allowed|permitted|accepted)\b"
    r"|\bvalidat\w+|\bwhat values\b",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"error|\berr(?:no)?\b|\braise\b|\bthrow\b|\bpanic|\binvalid|\breject|\brequire\b|\bassert|\bfatal|\bmust\b|exception",
    re.IGNORECASE,
)
_DECLARES = re.compile(
    r"(?:\b(?:ge|le|gt|lt)=|\b(?:in_?range|between|clamp|validators?|min(?:imum)?|max(?:imum)?)\b)", re.I
)


async def find_bounds(reader: Reader, query: Query, where: Filter) -> tuple[PlainValue, ...]:
    """Return the lines that say which values of a named setting are refused; () for other questions.

    Raises store errors.
    """
    names = [name.rpartition(".")[2] for name in query.names if is_code_shaped(name)]
    if len(names) != 1 or query.states or query.reports or not _ASKS.search(query.text):
        return ()
    pattern = re.compile(rf"(?<![\w$]){re.escape(names[0])}(?![\w$(])")
    scans = await scan_patterns(reader, where, [(pattern, (names[0].encode(),))])
    return tuple(_bounds(names[0], scans[0].found))[:MOST_BOUNDS]


def _is_compared(text: str, name: str) -> bool:
    before, _, after = text.partition(name)
    return _ABOVE.match(after) is not None or _BELOW.search(before[-MAX_BEFORE:]) is not None


def _bounds(name: str, found: tuple[TextMatch, ...]) -> Iterator[PlainValue]:
    for each in found:
        text = each.text
        if each.file.is_test or each.file.is_document or len(text) > MAX_LINE or is_comment(text):
            continue
        below = each.file.lines[each.line : each.line + LINES_BELOW]
        told = next((line for line in (text, *below) if _REFUSES.search(line[:MAX_LINE])), None)
        is_refused = told is not None and _is_compared(text, name)
        if not is_refused and not (_DECLARES.search(text) and re.search(r"\d", text)):
            continue
        inside = ".".join(name for _, name in reversed(list(definitions_around(each.file.lines, each.line))))
        said = text.strip() if told in (None, text) else f"{text.strip()} ... {told.strip()}"
        yield PlainValue(each.file.path, each.line, inside, shown(said))
