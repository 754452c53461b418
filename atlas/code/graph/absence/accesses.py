"""Whether a line of code sets a name, may change what it holds, or does neither as far as the line tells. Pure.

Signs decide, in any language: an operator behind the name, a function that is handed to a call of it and assigns its
parameter (`box.withLock { $0 = value }`), a call whose verb changes something (`items.append(value)`), a member that is
assigned, a reference that is handed on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import Enum

from atlas.core.lazy_regex import lazy_regex

MOST_BEHIND = 8
"""Lines below one that say what it does."""
_BEHIND, _BEFORE = 160, 40
"""Characters beside a name that are looked at."""
_ASSIGNS = r"(?:(?:[-+*/|&^%]|\|\||&&|\?\?|<<|>>)?=(?![=>~])|:=|\+\+|--)"
_OPERATOR = rf"(?:{_ASSIGNS}|<-|:(?!:)\s{{0,9}}[\w\"'\[{{-])"
_SETS_BEHIND = lazy_regex(rf"\s{{0,9}}(?:\[[^\[\]]{{0,40}}\]\s{{0,9}}|\]\s{{0,9}}(?=[^:]))?{_OPERATOR}")
"""Also of what stands under it as a key: `stream[kEncoding] = 'utf8'`."""
_SETS_BEFORE = lazy_regex(r"(?:[|&]=\s{0,9}~?\s{0,9}|#define\s{1,9}|\b(?:let|var|const|val)\s{1,9}|\+\+|--)$")
_ASSIGNED = lazy_regex(rf"\s{{0,9}}{_ASSIGNS}")
_MEMBER = r"(?:(?:\?|!)?(?:\.|->)\w{1,40}(?:\(\))?|\[[^\[\]]{0,40}\]|!)"
_MEMBER_SET = lazy_regex(rf"{_MEMBER}{{1,5}}\s{{0,9}}{_ASSIGNS}")
_DEREFERENCED = lazy_regex(r"^\s{0,200}\*(?:\w{1,40}\.){0,5}$")
"""Before a name whose content is assigned: `*self.total.lock().unwrap() = 1`."""
_CHANGES = lazy_regex(
    rf"{_MEMBER}{{0,3}}(?:\?|!)?(?:\.|->)"
    r"(?:append|push|pop|add|insert|remove|delete|clear|extend|update|set|put|store|swap|replace|sort|reverse|shift"
    r"|unshift|splice|enqueue|dequeue|fill|resize|emplace|erase|assign|merge|reset|increment|decrement|discard|truncate"
    r"|retain|drain|getAndSet|compareAndSet|fetch_add|fetch_sub|write|mutate)(?:[A-Z_]\w{0,40})?[!?]?\s?\("
)
_REFERENCE = lazy_regex(r"(?:[(,]\s{0,9}&|&mut\s{1,9}|\b(?:ref|out|inout)\s{1,9})(?:\w{1,40}(?:\.|->)){0,5}$")
_FUNCTION = lazy_regex(
    rf"{_MEMBER}{{0,3}}(?:\.|->)\w{{1,40}}\s{{0,3}}(?:\(\s{{0,3}})?"
    r"(?:\{\s{0,9}(?:\(?(?P<swift>\w{1,40})(?::[^(){}]{0,60})?\)?\s{1,9}in\b|(?P<kotlin>\w{1,40})\s{0,9}->)?"
    r"|\|(?:mut )?(?P<rust>\w{1,40})\||(?P<arrow>\w{1,40})\s{0,9}=>|\((?P<arrows>\w{1,40})\)\s{0,9}=>"
    r"|func\((?P<go>\w{1,40})[^()]{0,60}\))"
)
"""A function that is handed to a call of the name, with its parameter."""
_IMPLIED = ("$0", "it")
"""Parameters that no function declares."""


class LineAccess(Enum):
    """What a line does with a name."""

    SETS = "sets"
    MAY_CHANGE = "may change"
    OTHER = ""


def access_at(line: str, span: tuple[int, int], block: Callable[[], Iterable[str]]) -> LineAccess:
    """Return what a line does with the name at a span; `block` reads the lines that stand indented below it."""
    start, end = span
    behind, before = line[end : end + _BEHIND], line[max(start - _BEFORE, 0) : start]
    if _SETS_BEHIND.match(behind) is not None or _SETS_BEFORE.search(before) is not None:
        return LineAccess.SETS
    is_changed = _CHANGES.match(behind) is not None or _REFERENCE.search(before) is not None
    if (function := _FUNCTION.match(behind)) is not None:
        named = next((each for each in function.groups() if each), "")
        rows = list(block())
        text = "\n".join((line[end + function.end() :], *rows))
        is_whole = len(rows) < MOST_BEHIND and not is_changed
        return _inside(text, (named,) if named else _IMPLIED, is_whole=is_whole)
    if _MEMBER_SET.match(behind) is not None:
        return LineAccess.SETS if _DEREFERENCED.search(line[:start]) is not None else LineAccess.MAY_CHANGE
    return LineAccess.MAY_CHANGE if is_changed else LineAccess.OTHER


def _inside(text: str, parameters: Iterable[str], *, is_whole: bool) -> LineAccess:
    """Return what a function does with its parameter; of one that goes on behind the text that is unknown."""
    found = LineAccess.OTHER if is_whole else LineAccess.MAY_CHANGE
    for parameter in parameters:
        for match in re.finditer(rf"(?<![\w$.]){re.escape(parameter)}(?![\w$])", text):
            behind = text[match.end() : match.end() + _BEHIND]
            if _ASSIGNED.match(behind) is not None:
                return LineAccess.SETS
            if _MEMBER_SET.match(behind) is not None or _CHANGES.match(behind) is not None:
                found = LineAccess.MAY_CHANGE
    return found
