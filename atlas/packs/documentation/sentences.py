"""Sentences of prose: spans in characters. Pure."""

from __future__ import annotations

import re

_END = re.compile(r"[.!?]['\")\]]{0,8}(?=\s{1,40}[\"'(\[`*]{0,8}[A-Z0-9_`])|\n{2,}|\n(?=\s{0,40}(?:[-*] |\d{1,9}\. ))")
"""Where a sentence may end: a mark before a blank and a capital, digit or code; a blank line; a list item."""
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|cf|vs|al|resp|approx|incl|Fig|No|Mr|Dr|St)|\b[A-Z])\.$")


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


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end))
