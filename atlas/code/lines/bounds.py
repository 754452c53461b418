"""Lines that compare a setting: which values it may have, and what is different where it has one of them.

`what is the allowed range of MaxAppendEntries` is answered by its validators: a default alone does not say it. A line
counts only if an error, a panic or an assertion stands on it or right below. `What is different when I set STATEMENT`
is answered by the lines that compare with the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from atlas.code.graph.absence.occurrences import is_comment
from atlas.code.lines.line_report import LineReport, TextLine, shown
from atlas.code.lines.plain_values import PlainValue
from atlas.code.lines.scan_texts import TextMatch, definitions_around, scan_patterns
from atlas.code.question.names import is_code_shaped
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter

MOST_BOUNDS = 4
LINES_BELOW = 3
"""Lines behind a comparison in which a value is refused."""
MAX_LINE = 400
MAX_BEFORE = 80
MOST_COMPARED = 6
MOST_WORDS = 30
_DIFFERS = lazy_regex(
    r"\b(?:what(?:'s| is| are| gets| becomes)? (?:\w+ )?(?:different|changed|changes|differs)"
    r"|what (?:does|do|will) .{1,60} change|how (?:does|do|is) .{1,60} (?:behave|differ|change)"
    r"|effects? of|which code (?:checks|reacts|depends)|where .{1,60} (?:checked|compared|react))\b",
    re.IGNORECASE,
)
_VALUE = lazy_regex(
    r"\b(?:set(?:ting)?|use|using|choose|pass|is|to|with|for|of|as|than)\b:? (?:it )?(?:to )?"
    r"(?:[`'\"](?P<quoted>[\w.-]{2,60})[`'\"]|(?P<capitals>[A-Z][A-Z0-9_]{2,60})(?!\w)"
    r"(?![\w.(]))|\b(?:to|is|as) (?P<joined>[a-z]+(?:[_-][a-z]+)+)(?![\w.(])"
    r"|\w ?==? ?[`'\"]?(?P<equal>[A-Za-z][\w-]{2,60})"
)
"""A value that a question writes: `when I set STATEMENT`, `set run to when_changed`."""
_COMPARES = r"(?:[=!]==?|\bis(?: not)?\b|\bequals\w*\(|\bcase\b|\bwhen\b|\bin\b|\bmatches!\(|\.eq\(|\.ne\()"
_DATA = lazy_regex(r"\.(?:xml|jsonc?|ya?ml|toml|html?|txt|csv|svg)$", re.IGNORECASE)
_OPENS = lazy_regex(r"[{:]\s*(?:(?:#|//).{0,200})?$|\bthen$|=>$|->$")
_ABOVE = lazy_regex(r"[)\s]{0,4}[<>]=?(?![<>])")
_BELOW = lazy_regex(r"\b\d[\w.]{0,20}\s?[<>]=?\s?(?:\w{1,40}(?:\.|->))?$")
"""What a name is compared with: what stands behind it, or a number in front."""
_ASKS = lazy_regex(
    r"\brange\b|\bbounds?\b|\b(?:allowed|valid|permitted|legal|accepted) (?:\w+ )?(?:values?|settings?|sizes?)\b"
    r"|\b(?:minimum|maximum|lowest|highest|largest|smallest) (?:\w+ )?(?:values? )?(?:allowed|permitted|accepted)\b"
    r"|\bvalidat\w+|\bwhat values\b",
    re.IGNORECASE,
)
_REFUSES = lazy_regex(
    r"error|\berr(?:no)?\b|\braise\b|\bthrow\b|\bpanic|\binvalid|\breject|\brequire\b|\bassert|\bfatal|\bmust\b|exception",
    re.IGNORECASE,
)
_DECLARES = lazy_regex(
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


async def answer_compared(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer what is different where a setting has a value: the lines that compare with it; None for other questions.

    Raises store errors.
    """
    text = query.text
    asked = _DIFFERS.search(text)
    if asked is None or query.states or query.reports or len(text.split()) > MOST_WORDS:
        return None
    values = [next(filter(None, match.groups()), "") for match in _VALUE.finditer(text)]
    for value in dict.fromkeys(filter(None, values)):
        word = rf"(?<![\w-]){re.escape(value)}(?![\w-])"
        pattern = re.compile(
            rf"(?m:^[^\n]{{0,200}}?{_COMPARES}[^\n]{{0,80}}?{word}|{word}[\"'`]?\)?\s{{0,4}}(?:[=!]==?|=>|->)[^\n]{{0,80}})"
        )
        scan = (await scan_patterns(reader, where, [(pattern, (value.encode(),))]))[0]
        found = [
            each
            for each in scan.found
            if not (each.file.is_test or each.file.is_document or _DATA.search(each.file.path))
            if len(each.text) <= MAX_LINE
            if not is_comment(each.text) and not re.match(r"\s*(?:import|from|use|package)\b", each.text)
        ]
        kept = list({each.place: each for each in found}.values())
        if kept:
            lines = tuple(TextLine("compared", each.place, _with_next(each)) for each in kept)
            title = f"lines of code that compare with `{value}`: {len(kept)}"
            return LineReport("settings", title, lines, scan.notes, first=MOST_COMPARED)
    return None


def _with_next(each: TextMatch) -> str:
    """Return a line with the one that it opens, inside of the function around it."""
    inside = ".".join(name for _, name in reversed(list(definitions_around(each.file.lines, each.line))))
    below = next(
        (
            line
            for line in each.file.lines[each.line : each.line + LINES_BELOW]
            if line.strip() and not is_comment(line)
        ),
        "",
    )
    said = f"{each.text.strip()} {below.strip()}" if _OPENS.search(each.text[:MAX_LINE]) else each.text.strip()
    return f"{inside}: {shown(said)}" if inside else shown(said)
