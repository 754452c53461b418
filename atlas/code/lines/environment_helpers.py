"""Environment variables that a function of the project reads for its callers: `env_int("LIMIT", 5)`.

The name of the variable is a parameter there, or ends in it (`"APP_" + name`), so the calls with a literal at its
position are the reads. Lines of texts only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from atlas.code.lines.scan_texts import TextMatch, is_document, scan_texts
from atlas.code.reader import Reader
from atlas.core.english.stems import root_of
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter

_LOOPS = lazy_regex(r"\bfor(?:each)?\b|\.(?:each|forEach|map|flatMap|find|some|any|filter|first|firstOrNull)\b|\bin\b")
_NAMES = lazy_regex(r"[\"']([A-Z][A-Z0-9_]{1,60})[\"']")
_WORDS = lazy_regex(r"%w\[([A-Z][A-Z0-9_ ]{1,200})\]")
_LITERAL = lazy_regex(r"[\"'`]([A-Za-z_][\w.-]{0,60})[\"'`]\s*(?:$|[)\];|]|(?:or|as)\b)")
MADE = (
    r"[\"'`](?P<prefix>[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*)"
    r"(?:[\"'`]\s*(?:\+|\.|~|<>)\s*|[$#]?\{|(?:%s|\{\})[\"'`](?:\s*%|,|\.format\()\s*\(?)"
    r"(?:(?:\w{1,30}\.)?\w{1,30}\()?\$?(?P<part>[A-Za-z_]\w*)"
)
"""A name that is put together: `"APP_" + name`, `f"APP_{name}"`, `"APP_%s" % name`."""
_MADE = lazy_regex(MADE)
_SUFFIX = lazy_regex(r"[}\"'`](_[A-Z0-9_]+)[\"'`]")
_UPPER = lazy_regex(r"upper|upcase|ToUpper|UpperCase", re.IGNORECASE)
_OWNER = lazy_regex(r"\s*&?(?:mut )?(?:self|cls|this)")
OPENS, CLOSES = "([{", ")]}"
MAX_ARGUMENTS = 2_400
"""Characters behind a bracket in which it is closed."""
LINES_BEFORE = 12
"""Lines before a read in which the function that it stands in may begin."""
MAX_LINE = 400
MOST_HELPERS = 8
_MIN_NAME = 3
"""Shorter names are looked for in the file of the function only."""


@dataclass(frozen=True, slots=True)
class _Helper:
    """A function that reads the variable that a parameter names."""

    name: str
    read: TextMatch
    parameter: str
    position: int
    prefix: str = ""
    suffix: str = ""
    is_upper: bool = False


async def calls_of_helpers(
    reader: Reader, where: Filter, reads: Iterable[tuple[str, TextMatch]]
) -> dict[str, list[tuple[str, TextMatch, TextMatch]]]:
    """Return the variables with the calls that name them and the read inside, by the name of that read.

    `reads` are places that read a variable whose name is an identifier, or is put together with one. Raises store
    errors.
    """
    helpers = {helper.name: (name, helper) for name, found in reads for helper in _helpers(name, found)}
    helpers = dict(list(helpers.items())[:MOST_HELPERS])
    if not helpers:
        return {}
    either = "|".join(map(re.escape, sorted(helpers)))
    call = re.compile(rf"(?<![\w$])(?P<helper>{either})(?:\.call|\.)?\s?(?:(?P<opens>[(\[])|(?=[\"']))")
    needles = [helper.encode() for helper in sorted(helpers)]
    scan = await scan_texts(reader, where, call, needles, lambda path: not is_document(path))
    found: dict[str, list[tuple[str, TextMatch, TextMatch]]] = {}
    for each in scan.found:
        name, helper = helpers[each.match["helper"]]
        if len(helper.name) < _MIN_NAME and each.file.path != helper.read.file.path:
            continue
        if value := _named_in(each, helper):
            found.setdefault(name, []).append((value, each, helper.read))
    return found


def _named_in(call: TextMatch, helper: _Helper) -> str:
    """Return the variable that a call of a function names; "" for none."""
    behind = call.file.text[call.match.end() : call.match.end() + MAX_ARGUMENTS]
    arguments = arguments_of(behind) if call.match["opens"] else behind.split("\n")[0].split(",")
    keyword = re.compile(rf"\s*{re.escape(helper.parameter)}\s*[=:]\s*(.*)", re.DOTALL)
    given = next((match[1] for each in arguments if (match := keyword.match(each)) is not None), "")
    given = given or (arguments[helper.position] if helper.position < len(arguments) else "")
    literal = _LITERAL.match(given.strip())
    if literal is None:
        return ""
    if not helper.prefix:
        is_name = "." not in literal[1] and "-" not in literal[1]
        return literal[1] if is_name and (literal[1].isupper() or "_" in literal[1][1:]) else ""
    value = literal[1].upper().replace("-", "_").replace(".", "_") if helper.is_upper else literal[1]
    return f"{helper.prefix}{value}{helper.suffix}"


def prefix_of(name: str) -> tuple[str, str]:
    """Return the prefix of a name that is put together and the identifier behind it; ("", "") for other names."""
    made = _MADE.search(name)
    return (made["prefix"], made["part"]) if made is not None else ("", "")


def arguments_of(text: str) -> list[str]:
    """Return the parts between commas up to the bracket that closes the list."""
    parts, depth, begin = list[str](), 0, 0
    for at, sign in enumerate(text[:MAX_ARGUMENTS]):
        if sign in OPENS:
            depth += 1
        elif sign in CLOSES:
            depth -= 1
            if depth < 0:
                return [*parts, text[begin:at]]
        elif sign == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return []


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
    return next(_helpers(name, found), None) is not None


def _helpers(name: str, found: TextMatch) -> Iterator[_Helper]:
    """Yield the function around a read that has the name of the variable as a parameter."""
    above = found.file.lines[max(0, found.line - LINES_BEFORE) : found.line]
    prefix, part = prefix_of(name)
    made = name
    if name.isidentifier() and not prefix:
        assigns = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])[^=\n]{{0,40}}=(?P<made>.*)")
        lines = [match["made"][:MAX_LINE] for line in above if (match := assigns.search(line[:MAX_LINE])) is not None]
        made = lines[-1] if lines else name
        prefix, part = prefix_of(made)
    parameter = part or name
    if not parameter.isidentifier():
        return
    word = rf"(?<![\w$]){re.escape(parameter)}(?![\w$])"
    defines = re.compile(
        rf"\b(?:def|func|fn|fun|function|sub)\s(?:self\.|\([^()]*\)\s)?(?P<a>\w+)[?!]?\s?[(<].*?(?P<in_a>{word})"
        rf"|\b(?P<b>\w+)\s?:?=\s?(?:async\s)?(?:lambda|proc|Proc\.new|->|function\b|\().*?(?P<in_b>{word})"
        rf"|\b(?P<c>\w+)\s?\([^()]*?(?P<in_c>{word})[^()]*\)\s?(?:throws\s[\w, ]+)?\{{"
    )
    for line in reversed(above):
        if (match := defines.search(line[:MAX_LINE])) is None:
            continue
        group = next(group for group in "abc" if match[group])
        suffix = _SUFFIX.search(made)
        position = _position(line[match.end(group) : match.start(f"in_{group}")])
        yield _Helper(
            match[group], found, parameter, position, prefix, suffix[1] if suffix else "", bool(_UPPER.search(made))
        )
        return


def _position(before: str) -> int:
    """Return which parameter stands behind the others of a definition."""
    depth = position = 0
    listed = re.split(r"[(|]", before, maxsplit=1)[-1]
    for sign in listed:
        depth += (sign in OPENS) - (sign in CLOSES)
        position += sign == "," and depth == 0
    return max(0, position - (_OWNER.match(listed) is not None))


_OPENS_FUNCTION = lazy_regex(
    r"\b(?:def|fn|func|function|fun|sub)\b|=>\s{0,9}[{(]?\s{0,9}$|\bdo\s{0,9}(?:\|[^|]{0,80}\|)?\s{0,9}$"
)
_OPENS_METHOD = lazy_regex(r"^[\w<>\[\],.?*&: ]{1,120}\([^()]{0,200}\)[\w\s:<>,.|?]{0,80}\{\s{0,9}$")
_OPENS_BLOCK = lazy_regex(
    r"^(?:\}\s?)?(?:if|else|elif|for|while|switch|case|try|catch|except|with|match|unless|loop)\b"
)
MOST_ABOVE, MAX_HEADER = 400, 400
MOST_BELOW = 40


def moment_of(found: TextMatch) -> str:
    """Return when a line runs, by the lines that open the blocks around it: a function, or the file as a whole.

    Blank-indented code only; "" where the opening line is of no known form.
    """
    lines, indent = found.file.lines, _indent(found.text)
    if not indent:
        return "at the top of the file: once, when it is loaded"
    for text in reversed(lines[max(found.line - 1 - MOST_ABOVE, 0) : found.line - 1]):
        own = _indent(text)
        if not text.strip() or own >= indent:
            continue
        if text.lstrip().startswith(")"):
            indent = own + 1  # the end of a definition of several lines
            continue
        bare, indent = text.strip()[:MAX_HEADER], own
        if _OPENS_FUNCTION.search(bare) or (_OPENS_METHOD.match(bare) and not _OPENS_BLOCK.match(bare)):
            return f"each time that this runs: {bare[:SHOWN_HEADER]}"
        if not own:
            is_plain = _OPENS_BLOCK.match(bare) or bare.startswith("class ")
            return "at the top of the file: once, when it is loaded" if is_plain else ""
    return ""


SHOWN_HEADER = 80
_LETTERS = lazy_regex(r"[A-Z]?[a-z]{2,40}")


def block_of(found: TextMatch) -> str:
    """Return the lines below one that are indented further: what a condition decides."""
    indent, kept = _indent(found.text), list[str]()
    for text in found.file.lines[found.line : found.line + MOST_BELOW]:
        if text.strip() and _indent(text) <= indent:
            break
        kept.append(text[:MAX_HEADER])
    return "\n".join(kept)


_EVERYDAY = frozenset(("turn", "off", "disabl", "enabl", "switch"))


def decides_about(found: TextMatch, words: Collection[str]) -> list[str]:
    """Return the words that the lines below a line have which it decides: `warnings` of `console.warn(...)`."""
    said = {root_of(word.lower()) for word in _LETTERS.findall(block_of(found))}
    return [word for word in words if root_of(word) in said - _EVERYDAY]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
