"""Lay the literals of source code over a message: which of its parts are constant, and which are values. Pure.

A literal is divided at its placeholders, whatever language they are of. Literals that stand next to each other, on one
line or on several, are read as one after the other: between two constants a message may have a value, or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from atlas.core.lazy_regex import lazy_regex

_LITERAL = lazy_regex(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`")
_OPEN = lazy_regex(r"(?:\"\"\"|'''|[\"'`])(?P<text>[^\"'`]{3,})$")
"""A literal that ends on another line."""
_PLACEHOLDER = lazy_regex(
    r"%(?:\(\w+\)|<\w+>|\{\w+\})?[-+ #0]{0,4}\d{0,4}(?:\.(?:\d+|\*))?(?:hh?|ll?|[zjtqL])?[a-zA-Z@](?![a-zA-Z])"
    r"|%\d+\$?[a-zA-Z]?|%[a-zA-Z@]|%\{\w+\}|\$\{[^{}]*\}|#\{[^{}]*\}|\{\{[^{}]*\}\}|\{[^{}]*\}|\\\([^()]*(?:\([^()]*\)[^()]*)*\)"
    r"|\$[a-zA-Z_]\w*(?:->\w+)?"
)
"""`%s %-5d %(name)s %<a>d %1$s %@`, `${a}`, `#{a}`, `{{a}}`, `{} {0} {name!r}`, Swift's `\\(a)`, `$name`."""
_ESCAPE = lazy_regex(r"\\(?:[ntr]|u\{?[0-9a-fA-F]{1,6}\}?|x[0-9a-fA-F]{2}|(.))")
_VALUE = lazy_regex(r"\"[^\"]*\"|(?<!\w)'[^']*'(?!\w)|`[^`]*`|\S*[\d/\\@]\S*|\S+\.\S+")
"""What is most likely a value of a message: quoted, with digits, a path, an address, a dotted name."""
_REPORTS = lazy_regex(
    r"\b(?:raise|throw|throws|panic|abort|reject|fail|die|croak|bail|ensure|anyhow|Err|error|errors|warn|warning|exception"
    r"|fatal|log|logger|logging|printf?|println|eprintln|fprintf|puts|console|assert\w*)\b|\w(?:Error|Exception|Failure|Errorf)\b",
    re.IGNORECASE,
)
MAX_LINE = 2_000
"""Characters of a line that are read."""
MAX_CONSTANTS = 60
NEAR_REPORT = 3
"""Lines above a text on which what reports it may begin."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How well the constants around a line build a message."""

    share: float = 0.0
    """Letters and digits of the message that they have, of those that are not obviously values."""
    is_whole: bool = False
    """All constants of the line's literal were found."""


def words_of(text: str) -> list[str]:
    """Return the words of a text that have a letter."""
    return [word for word in text.split() if any(map(str.isalpha, word))]


def is_reported(lines: Sequence[str], at: int) -> bool:
    """Return whether something on a line, or shortly above it, raises or logs."""
    return any(_REPORTS.search(line[:400]) for line in lines[max(at - NEAR_REPORT, 0) : at + 1])


def fit_message(message: str, lines: Sequence[str], at: int, around: int) -> Fit:
    """Return how well the literals on the line `at`, with those up to `around` lines away, build a message."""
    first = max(at - around, 0)
    literals = [
        (number, constants)
        for number, line in enumerate(lines[first : at + around + 1], first)
        for constants in literals_of(line)
    ]
    best = Fit()
    for position, (number, constants) in enumerate(literals):
        if number == at:
            before = [each for _, own in literals[:position] for each in own]
            after = [each for _, own in literals[position + 1 :] for each in own]
            own = _fit(message, before[-MAX_CONSTANTS:], constants, after[:MAX_CONSTANTS])
            best = max(best, own, key=lambda fit: (fit.share, fit.is_whole))
    return best


def literals_of(line: str) -> list[list[str]]:
    """Return the constants of each literal of a line; a line without literals counts as one."""
    line = line[:MAX_LINE]
    bodies = [next(group for group in match.groups() if group is not None) for match in _LITERAL.finditer(line)]
    if (opened := _OPEN.search(_LITERAL.sub("", line))) is not None:
        bodies.append(opened["text"])
    found = [constants for body in bodies if (constants := _constants(body))]
    return found or [constants for constants in [_constants(line)] if constants]


def _constants(literal: str) -> list[str]:
    plain = literal.replace("%%", "\0")
    parts = (_ESCAPE.sub(_unescaped, part).replace("\0", "%") for part in _PLACEHOLDER.split(plain))
    spaced = (" ".join(part.split()) for part in parts)
    return [part for part in spaced if any(map(str.isalnum, part))]


def _unescaped(match: re.Match[str]) -> str:
    return match.group(1) or " "


def _fit(message: str, before: Sequence[str], own: Sequence[str], after: Sequence[str]) -> Fit:
    first = _longest_part(own[0], message)
    start = message.find(first) if first else -1
    if start < 0:
        return Fit()
    end, found, is_whole = start + len(first), _size(first), first == own[0]
    for constant in own[1:]:
        at = message.find(constant, end)
        if at < 0:
            is_whole = False
            continue
        end, found = at + len(constant), found + _size(constant)
    if is_whole:
        for constant in after:
            if (at := message.find(constant, end)) < 0 or _size(constant) < 2:
                break
            end, found = at + len(constant), found + _size(constant)
        for constant in reversed(before):
            if (at := message.rfind(constant, 0, start)) < 0 or _size(constant) < 2:
                break
            start, found = at, found + _size(constant)
    # what lies outside of the constants may be a value, even if it looks like a word
    total = max(_size(_VALUE.sub(" ", message)), found)
    has_words = sum(map(len, map(words_of, own))) > 1 or found >= 8
    return Fit(min(found / total, 1.0) if total and has_words else 0.0, is_whole)


def _longest_part(constant: str, message: str) -> str:
    """Return the longest run of words of a constant that a message has; all of it if possible."""
    if constant in message:
        return constant
    words = constant.split()[:40]
    for size in range(len(words) - 1, 1, -1):
        for at in range(len(words) - size + 1):
            part = " ".join(words[at : at + size])
            if part in message:
                return part
    return ""


def _size(text: str) -> int:
    return sum(map(str.isalnum, text))
