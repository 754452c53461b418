"""Heading -> section of a document.

`heading` asks the heading of an indexed section; `section` asks the heading of a section of the copy where the heading
is replaced by a neutral word, so that only the text can answer.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from atlas_bench.search.facts import SECTION, Definition, TreeFile
from atlas_bench.search.questions import SearchQuestion, Target

MIN_WORDS = 2
MIN_LINES = 4
SHARE = 0.25
"""Share of the sections whose heading is taken out of the copy."""
NEUTRAL = (b"Notes on this", b"Section", b"Part", b"...")
_VERSION = re.compile(r"[\d.\-/() ]+|(version|release|changes?|v)\W*[\d.]+.*", re.I)


@dataclass(frozen=True, slots=True)
class _Place:
    file: TreeFile
    section: Definition


def ask_headings(files: Iterable[TreeFile]) -> Iterator[SearchQuestion]:
    """Yield a question for each heading that one section of the tree has."""
    for place in _unique(files):
        yield _question("heading", place)


def hide_headings(files: Iterable[TreeFile], seed: int) -> dict[str, list[tuple[int, SearchQuestion]]]:
    """Return, by path, lines of headings to hide and the question that each of them asks."""
    chooser, hidden = random.Random(seed), dict[str, list[tuple[int, SearchQuestion]]]()
    for place in sorted(_unique(files), key=lambda each: (each.file.path, each.section.line)):
        if place.section.end - place.section.line >= MIN_LINES and chooser.random() < SHARE:
            found = hidden.setdefault(place.file.path, [])
            found.append((place.section.line, _question("section", place)))
    return hidden


def hide(data: bytes, headings: list[tuple[int, SearchQuestion]]) -> tuple[bytes, list[SearchQuestion]]:
    """Return the document with these headings replaced, and the questions whose heading was found in its line."""
    lines, asked = data.split(b"\n"), list[SearchQuestion]()
    for line, question in headings:
        heading, text = question.text.encode(), lines[line - 1] if line <= len(lines) else b""
        if heading in text:
            # Not longer than the heading: underlines of reStructuredText must be at least as long.
            neutral = next(word for word in NEUTRAL if len(word) <= max(len(heading), 3))
            lines[line - 1] = text.replace(heading, neutral)
            asked.append(question)
    return b"\n".join(lines), asked


def _question(kind: str, place: _Place) -> SearchQuestion:
    target = Target(place.file.path, place.section.line, place.section.qualified)
    return SearchQuestion(kind, place.section.name, (target,))


def _unique(files: Iterable[TreeFile]) -> Iterator[_Place]:
    by_heading: dict[str, list[_Place]] = {}
    for file in files:
        for section in file.definitions:
            if section.kind == SECTION:
                by_heading.setdefault(section.name.casefold(), []).append(_Place(file, section))
    for heading, places in by_heading.items():
        if len(places) == 1 and len(heading.split()) >= MIN_WORDS and not _VERSION.fullmatch(heading):
            yield places[0]
