"""Environment variables that a function of the project reads for its callers: `env_int("LIMIT", 5)`.

The name of the variable is a parameter there, so the calls with a literal name are the reads. Lines of texts only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from atlas.code.lines.scan_texts import TextMatch, is_document, scan_texts
from atlas.code.reader import Reader
from atlas.core.model import Filter

_LOOPS = re.compile(r"\bfor(?:each)?\b|\.(?:each|forEach|map|flatMap|find|some|any|filter|first|firstOrNull)\b|\bin\b")
_NAMES = re.compile(r"[\"']([A-Z][A-Z0-9_]{1,60})[\"']")
_WORDS = re.compile(r"%w\[([A-Z][A-Z0-9_ ]{1,200})\]")
LINES_BEFORE = 12
"""Lines before a read in which the function that it stands in may begin."""
MAX_LINE = 400
MOST_HELPERS = 8
_MIN_NAME = 3


async def calls_of_helpers(
    reader: Reader, where: Filter, reads: Iterable[tuple[str, TextMatch]]
) -> dict[str, list[TextMatch]]:
    """Return the calls with a literal name, by the parameter (name, of these reads) that stands for it.

    `reads` are places that read a variable whose name is an identifier. Raises store errors.
    """
    helpers = {helper: name for name, found in reads for helper in _helpers(name, found)}
    helpers = dict(list(helpers.items())[:MOST_HELPERS])
    if not helpers:
        return {}
    either = "|".join(map(re.escape, sorted(helpers)))
    call = re.compile(
        rf"(?<![\w$])(?P<helper>{either})(?:\.call|\.)?\s?[(\[]?\s?[\"'](?P<value>[A-Z][A-Z0-9_]+|[A-Za-z]\w*_\w+)[\"']"
    )
    needles = [helper.encode() for helper in sorted(helpers)]
    scan = await scan_texts(reader, where, call, needles, lambda path: not is_document(path))
    found: dict[str, list[TextMatch]] = {}
    for each in scan.found:
        found.setdefault(helpers[each.match["helper"]], []).append(each)
    return found


def names_of_loop(name: str, found: TextMatch) -> tuple[str, ...]:
    """Return the variables that a loop around a read goes through: `for key in ("VISUAL", "EDITOR")`; () for none."""
    if not name.isidentifier():
        return ()
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    for line in reversed(found.file.lines[max(0, found.line - LINES_BEFORE) : found.line]):
        if word.search(line) and _LOOPS.search(line[:MAX_LINE]):
            named = tuple(dict.fromkeys(_NAMES.findall(line[:MAX_LINE])))
            words = _WORDS.search(line[:MAX_LINE])
            return named or (tuple(words[1].split()) if words is not None else ())
    return ()


def is_parameter(name: str, found: TextMatch) -> bool:
    """Return whether the function around a read has the name as a parameter."""
    return next(_helpers(name, found), "") != ""


def _helpers(name: str, found: TextMatch) -> Iterator[str]:
    """Yield the function around a read that has the name of the variable as a parameter."""
    if not name.isidentifier():
        return
    word = rf"(?<![\w$]){re.escape(name)}(?![\w$])"
    defines = re.compile(
        rf"\b(?:def|func|fn|fun|function|sub)\s(?:self\.|\([^()]*\)\s)?(?P<a>\w+)[?!]?\s?[(<].*{word}"
        rf"|\b(?P<b>\w+)\s?:?=\s?(?:async\s)?(?:lambda|proc|Proc\.new|->|function\b|\().*{word}"
        rf"|\b(?P<c>\w+)\s?\([^()]*{word}[^()]*\)\s?(?:throws\s[\w, ]+)?\{{"
    )
    for line in reversed(found.file.lines[max(0, found.line - LINES_BEFORE) : found.line]):
        if (match := defines.search(line[:MAX_LINE])) is not None:
            helper = match["a"] or match["b"] or match["c"]
            if len(helper) >= _MIN_NAME:
                yield helper
            return
