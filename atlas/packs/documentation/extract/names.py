"""Names of API symbols and terms as texts write them. Pure."""

from __future__ import annotations

import re

from atlas.core.lazy_regex import lazy_regex

MAX_NAME = 120

_IDENTIFIER = r"[A-Za-z_$@][\w$-]*"
_SYMBOL = lazy_regex(rf"[~!]?{_IDENTIFIER}(?:(?:\.|::|#|/){_IDENTIFIER})*(?:\(\))?")
_CODE_SHAPE = lazy_regex(r"[._:#]|[a-z][A-Z]|\(\)$|^[A-Z][A-Z_]{2,}$|^[A-Z][a-z]+[A-Z]|[A-Z]{2}[a-z]{2}|^--?\w")
"""The last but one: `HTTPException`, but not `URLs`."""
_OPTION = lazy_regex(r"--?[A-Za-z][\w-]*")
_SPAN = lazy_regex(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,160}?)\1(?!`)")
_ARGUMENTS_END = lazy_regex(r"\)\s*+(?:->|$)")
_ANNOTATION = lazy_regex(r":\s")
_FILE = lazy_regex(r"\.(?:py|js|ts|html?|txt|md|rst|json|ya?ml|toml|cfg|ini|css|sql|sh|po|mo|png|svg|zip|gz|rs|go)$")


def canonical_symbol(text: str) -> str:
    """Return the name in a signature or inline code: `~a.B.c(x)` -> `a.B.c`; "" if there is none."""
    name = _without_arguments(text.strip().strip("`").strip()).lstrip("~!").strip()
    name = name.removesuffix("()").strip(".")
    return name if name and len(name) <= MAX_NAME and not any(map(str.isspace, name)) else ""


def canonical_term(text: str) -> str:
    """Return a term as it is merged: one line, lower case, without markup; "" for a text that is not a term."""
    term = " ".join(text.strip().strip("`*:").split()).casefold()
    return term if 1 < len(term) <= MAX_NAME and len(term.split()) <= 6 else ""


def code_symbol(text: str) -> str:
    """Return the canonical name of inline code that looks like an API name, "" for other code.

    A plain word is no API name by itself: `name` or `True` stand in every text.
    """
    text = text.strip()
    if len(text) > MAX_NAME:
        return ""
    if _OPTION.fullmatch(text):
        return text
    name = _without_arguments(text).rstrip() if "(" in text else text
    bare = text if name == text else f"{name}()"
    if not _SYMBOL.fullmatch(bare) or not _CODE_SHAPE.search(bare.lstrip("~!")) or _FILE.search(bare):
        return ""
    return canonical_symbol(bare)


def code_spans(text: str) -> list[tuple[int, str]]:
    """Return position and text of each inline code."""
    return [(found.start(), found[2]) for found in _SPAN.finditer(text)]


def _without_arguments(text: str) -> str:
    """Return what stands before arguments, an annotation or a default."""
    opening, equals = text.find("("), text.find("=")
    annotation = _ANNOTATION.search(text)
    ends = [equals if equals >= 0 else len(text), annotation.start() if annotation else len(text)]
    if opening >= 0 and _ARGUMENTS_END.search(text, opening):
        ends.append(opening)
    return text[: min(ends)]


def last_part(name: str) -> str:
    """Return the last component of a dotted name."""
    return re.split(r"\.|::|#", name)[-1]


def heading_symbol(title: str) -> str:
    """Return the API name that a heading consists of, "" for other headings."""
    spans = code_spans(title)
    if len(spans) == 1:
        return code_symbol(spans[0][1]) or canonical_symbol(spans[0][1])
    return code_symbol(title) if " " not in title else ""
