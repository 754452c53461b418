"""A whole reStructuredText document: targets and substitutions are collected first, then its blocks are read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from atlas.docs.formats.restructured.directives import run_directive
from atlas.docs.formats.restructured.inline import Names, normal, unescape
from atlas.docs.formats.restructured.reader import ANONYMOUS, FIELD, SUBSTITUTION, TARGET, Place, Reader

if TYPE_CHECKING:
    from atlas.docs.formats.draft import Draft

TAB_SIZE = 8


def read_restructured(text: str, draft: Draft) -> None:
    """Read a document into a draft."""
    lines = [line.rstrip() for line in text.expandtabs(TAB_SIZE).split("\n")]
    reader = Reader(draft, _names(lines), run_directive)
    start = _document_fields(lines)
    reader.read(lines[start:], start + 1, Place())


def read_lines(lines: list[str], first: int, draft: Draft) -> None:
    """Read a part of another document that is written in reStructuredText; `first` is the number of its first line."""
    lines = [line.expandtabs(TAB_SIZE).rstrip() for line in lines]
    Reader(draft, _names(lines), run_directive).read(lines, first, Place())


def _names(lines: list[str]) -> Names:
    names = Names()
    chained: list[str] = []
    for number, raw in enumerate(lines):
        line = raw.lstrip()
        if not line.startswith((".. ", "__ ")):
            continue
        if found := TARGET.match(line):
            name, target = normal(unescape(found["name"])), (found["target"] or "").strip()
            follows = lines[number + 1 : number + 3]
            if not target and follows and follows[0].startswith("   ") and not follows[0].lstrip().startswith(".. "):
                target = "".join(one.strip() for one in follows if one.startswith("   "))
            names.targets[name] = target
            chained.append(name)
            if target and "://" in target:
                names.targets[name] = target.replace(" ", "")
        elif found := ANONYMOUS.match(line):
            names.anonymous.append(found["target"].strip())
        elif found := SUBSTITUTION.match(line):
            kind, value = found["kind"], found["value"].strip()
            if kind == "replace":
                names.substitutions[found["name"].lower()] = re.sub(r":[\w:]+:`~?([^`<]*)[^`]*`", r"`\1`", value)
            elif kind in ("unicode", "image"):
                names.substitutions[found["name"].lower()] = ""
    return names


def _document_fields(lines: list[str]) -> int:
    """Return the index after the fields in front of the title, such as `:orphan:`."""
    at = 0
    while at < len(lines) and (not lines[at].strip() or FIELD.match(lines[at]) or (at and lines[at][:1].isspace())):
        at += 1
    return at if at < len(lines) else 0
