"""Sentences: of running prose as spans, and the simpler rules for notes, conversations, titles and docstrings. Pure."""

from __future__ import annotations

from atlas.core.lazy_regex import lazy_regex

_END = lazy_regex(r"[.!?]['\")\]]{0,8}(?=\s{1,40}[\"'(\[`*]{0,8}[A-Z0-9_`])|\n{2,}|\n(?=\s{0,40}(?:[-*] |\d{1,9}\. ))")
"""Where a sentence may end: a mark before a blank and a capital, digit or code; a blank line; a list item."""
_ABBREVIATION = lazy_regex(r"(?:\b(?:e\.g|i\.e|etc|cf|vs|al|resp|approx|incl|Fig|No|Mr|Dr|St)|\b[A-Z])\.$")


_OF_NOTE = lazy_regex(r"[^.!?\n]+(?:[.!?](?!\s)[^.!?\n]*)*[.!?]*")
_SAID = lazy_regex(r"[^.!?]+[.!?]*")
_BEFORE_CAPITAL = lazy_regex(r"(?<=[.!?])\s+(?=[A-Z])")
_BEFORE_BLANK = lazy_regex(r"(?<=[.!?])\s|\n[^\S\n]{0,200}\n")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence, without surrounding blanks, in order."""
    spans: list[tuple[int, int]] = []
    start = counted = ticks = 0
    for found in _END.finditer(text):
        if _ABBREVIATION.search(text[max(start, found.start() - 8) : found.start() + 1]) and found[0][0] == ".":
            continue
        ticks += text.count("`", counted, found.end())
        counted = found.end()
        if ticks % 2:
            continue  # within inline code
        _add(spans, text, start, counted)
        start, ticks = counted, 0
    _add(spans, text, start, len(text))
    return spans


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, each on one line."""
    return [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]


def first_sentence(text: str, most: int = 300) -> str:
    """Return the first sentence of a text, cut at `most` characters between words."""
    spans = sentence_spans(text[: 4 * most])
    found = " ".join(text[spans[0][0] : spans[0][1]].split()) if spans else ""
    return found if len(found) <= most else found[: most - 1].rsplit(" ", 1)[0] + "…"


def note_sentences(text: str) -> list[str]:
    """Return the sentences of a note. Each line ends one: headings and list items are sentences of their own."""
    return [part for part in (found.group().strip(" #*-\t") for found in _OF_NOTE.finditer(text)) if len(part) > 1]


def said_sentences(text: str) -> list[str]:
    """Return the sentences of spoken text with their marks. Every mark ends one: questions are told from statements."""
    return _SAID.findall(text)


def title_sentence(line: str) -> str:
    """Return the first sentence of a line. Abbreviations do not end it if no capital follows: a title is cut late."""
    return _BEFORE_CAPITAL.split(line, maxsplit=1)[0]


def docstring_sentence(docstring: str) -> str:
    """Return the first sentence of a docstring on one line. Any mark before a blank ends it: a summary is cut early."""
    return " ".join(_BEFORE_BLANK.split(docstring.strip(), maxsplit=1)[0].split())


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end))
