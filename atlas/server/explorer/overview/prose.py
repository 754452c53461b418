"""Text for the first page: the first prose of a README, and how deep the lines of functions are nested. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import unescape

from atlas.core.lazy_regex import lazy_regex

README_CHARACTERS = 500
MAX_READ = 20_000
"""Characters of a README that are read."""
_TAG = lazy_regex(r"<!--[^<>]{0,500}-->|</?[a-zA-Z][^<>]{0,500}>")
_LINKED = lazy_regex(r"!?\[([^\]\[]{0,300})\]\([^()\s]{0,1000}(?:\s\"[^\"]{0,200}\")?\)")
_MARKS = lazy_regex(r"\*\*|__|``|`(?=\S)|(?<=\S)`")
_NO_PROSE = ("[", "..", ":", "|", "!", "```", "<")
"""Beginnings of lines that are badges, fields, directives, tables or pictures, once tags are gone."""
_SENTENCE = 3
"""Words of a line that says something; a shorter one is a heading or the name of a link."""


def first_prose(text: str) -> str:
    """Return the first lines of a README up to a limit, without the markup of badges, pictures and links."""
    kept: list[str] = []
    for line in text[:MAX_READ].splitlines():
        is_picture = "![" in line
        plain = _LINKED.sub("" if is_picture else r"\1", _TAG.sub(" ", line))
        plain = unescape(plain).replace("\N{NO-BREAK SPACE}", " ").strip()
        said = _MARKS.sub("", plain.strip("#=-*~>+ \t"))
        if not said or plain.startswith(_NO_PROSE) or (is_picture and len(said.split()) < _SENTENCE):
            continue
        kept.append(" ".join(said.split()))
    found = "\n".join(kept)
    return found if len(found) <= README_CHARACTERS else f"{found[:README_CHARACTERS].rsplit(' ', 1)[0]}..."


def nesting(lines: Sequence[str], spans: Iterable[tuple[int, int]]) -> int:
    """Return the sum of how many lines each line of some spans is indented under: a measure of how hard it is to read.

    Indentation tells of branches and loops in every language that people indent (Hindle, Godfrey and Holt, 2008).
    """
    found, end = 0, 0
    for first, last in sorted(spans):
        around: list[int] = []
        # a function inside another one is counted once
        for line in lines[max(first - 1, end) : last]:
            bare = line.lstrip()
            if not bare:
                continue
            depth = len(line.expandtabs(4)) - len(bare)
            while around and around[-1] >= depth:
                around.pop()
            found += len(around)
            around.append(depth)
        end = max(end, last)
    return found
