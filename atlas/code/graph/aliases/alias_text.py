"""Read what a type alias stands for from its signature: another name for a type, a union, or a shape. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Label, NodeRow

ALIAS_KINDS = ("type_alias", "type", "typedef")
_UNION = lazy_regex(r"(?:\w+\.)?(?P<kind>Union|Optional)\[(?P<inside>.*)\]", re.DOTALL)
_NAME = lazy_regex(
    r"(?:readonly |&(?:'\w+ )?|dyn |\*)?(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*)\s*(?:[<\[].*)?",
    re.DOTALL,
)
"""A type by its name, with or without arguments."""
_OPEN, _CLOSE = "([{<", ")]}>"


@dataclass(frozen=True, slots=True)
class AliasText:
    """What an alias stands for."""

    alternatives: tuple[str, ...] = ()
    """Of a union."""
    parts: tuple[str, ...] = ()
    """The types that it has all members of: one of `type X = Y`, several of `A & B`."""


def is_alias(row: NodeRow) -> bool:
    """Return whether a symbol names a type instead of defining one: an alias, or a constant that holds a union."""
    if row.label != Label.VALUE:
        return False
    return row.kind in ALIAS_KINDS or (row.kind == "constant" and len(read_alias(row.signature).alternatives) > 1)


def read_alias(signature: str) -> AliasText:
    """Return what the right side of an alias says; nothing for the type of a function or an object."""
    _, equals, text = signature.partition("=")
    if (text := text.strip().rstrip(";")) and (union := _UNION.fullmatch(text)) is not None:
        more = ("None",) if union["kind"] == "Optional" else ()
        return AliasText(alternatives=(*_split(union["inside"], ","), *more))
    if not equals or not text or "=>" in text:
        return AliasText()
    alternatives = [*_split(text.lstrip("| "), "|")]
    if len(alternatives) > 1:
        return AliasText(alternatives=tuple(alternatives))
    parts = tuple(_split(text, "&"))
    return AliasText(parts=parts if any(type_name(each) for each in parts) else ())


def _split(text: str, mark: str) -> Iterator[str]:
    """Yield the parts of a text between marks that stand in no brackets and no quotes."""
    depth, start, quote = 0, 0, ""
    for at, letter in enumerate(text):
        if quote or letter in "\"'`":
            quote = "" if letter == quote else quote or letter
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSE:
            depth -= 1
        elif letter == mark and depth == 0:
            yield text[start:at].strip()
            start = at + 1
    if rest := text[start:].strip():
        yield rest


def type_name(text: str) -> str:
    """Return the name of a type without its arguments; "" for a literal, a function or an object."""
    match = _NAME.fullmatch(text.strip("\"'"))
    return match["name"].replace("::", ".") if match is not None else ""
