"""Fields of descriptions: which parameter or error a part of a list is about. Pure.

`:raises KeyError: ...`, "Raises:" above a list of errors, and the same for parameters, as reStructuredText, docstrings,
Markdown and rendered pages write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.article import BlockKind
from atlas.packs.documentation.extract.names import canonical_symbol
from atlas.packs.documentation.passages import subjects
from atlas.packs.documentation.rendering import RenderedBlock

ERROR, PARAMETER = "error", "parameter"
_OTHER = "other"
_KINDS = {
    **dict.fromkeys(("raises", "raise", "except", "exception", "exceptions", "throws", "throw"), ERROR),
    **dict.fromkeys(
        ("param", "parameter", "parameters", "arg", "args", "argument", "arguments", "key", "keyword"), PARAMETER
    ),
    **dict.fromkeys(("kwarg", "kwargs", "kwparam", "keyword arguments", "other parameters"), PARAMETER),
    **dict.fromkeys(("return", "returns", "yield", "yields", "rtype", "return type", "type", "examples"), _OTHER),
}
_NAME = r"[A-Za-z_$][\w$]*(?:(?:\.|::)[\w$]+)*"
_LIST = lazy_regex(r", ?(?:(?:or|and) )?| (?:or|and) ")
_ENTRY = lazy_regex(
    rf"\W{{0,3}}(?P<names>{_NAME}`{{0,2}}(?:(?:,|,? or|,? and) `{{0,2}}{_NAME}`{{0,2}}){{0,5}})"
    r"(?:\s*\([^()]{1,80}\))?(?:\*{0,2}\s*(?:[:\u2013\u2014|]|-\s|$)|\s(?:if|when|whenever)\b)"
)
"""What begins the text of a field: "KeyError - if ...", "`speed` (int): ...", "KeyError"."""
MAX_LABEL = 200
_NOTHING = frozenset(("None", "NULL", "Nothing"))


class Field(NamedTuple):
    """What a part of a description is about."""

    kind: str
    """`error` or `parameter`."""
    names: tuple[str, ...]


def described_blocks(
    blocks: Sequence[RenderedBlock], heading: str
) -> Iterator[tuple[str, RenderedBlock, Field | None]]:
    """Yield each block with the name that it describes and its field, None for blocks that are not of a field.

    That name is the signature's above, else what the heading names; "" for none, which has no fields.
    """
    opened = ""
    """The kind of a list whose title stands above: what follows are its entries."""
    for subject, block in subjects(blocks):
        about = canonical_symbol(subject) if subject else heading
        kind, text = block.block.kind, block.block.text
        names: tuple[str, ...] = ()
        stated = opened
        if kind == BlockKind.TERM:
            stated, names = _labelled(block.block.label)
            if stated:
                opened, names = "" if names or text else stated, names or _entry(text)
            else:
                stated, names = opened, _entry(block.block.label.partition(" : ")[0])
        elif kind in (BlockKind.ITEM, BlockKind.ROW):
            names = _entry(text)
        elif kind == BlockKind.PARAGRAPH:
            label, _, rest = text.partition(":")
            stated, stray = _labelled(label)
            opened, names = "" if stray or rest.strip(" *") else stated, () if stray else _entry(rest)
        elif kind == BlockKind.SIGNATURE:
            opened = ""
        field = _field(stated, names) if about else None
        yield about, block, field


def _field(kind: str, names: tuple[str, ...]) -> Field | None:
    if kind == ERROR:
        names = tuple(name for name in names if "." in name or "::" in name or name[:1].isupper())
    return Field(kind, names) if kind in (ERROR, PARAMETER) and names else None


def _labelled(label: str) -> tuple[str, tuple[str, ...]]:
    """Return the kind that a label names, "" for none, and the names behind it: "raises KeyError, OSError"."""
    words = label[:MAX_LABEL].strip(" *:").split()
    if kind := _KINDS.get(" ".join(words).casefold(), ""):
        return kind, ()
    kind = _KINDS.get(words[0], "") if words else ""
    named = {ERROR: " ".join(words[1:]), PARAMETER: words[-1].lstrip("*\\") if words else ""}.get(kind, "")
    names = _names(named)
    return (kind, names) if names else ("", ())


def _entry(text: str) -> tuple[str, ...]:
    """Return the names that a part of a list begins with."""
    found = _ENTRY.match(text[:MAX_LABEL].lstrip())
    return _names(found["names"].replace("`", "")) if found else ()


def _names(text: str) -> tuple[str, ...]:
    names = [canonical_symbol(one) for one in _LIST.split(" ".join(text.split()))]
    is_list = all(re.fullmatch(_NAME, name) for name in names)
    return tuple(name for name in names if name not in _NOTHING) if is_list else ()
