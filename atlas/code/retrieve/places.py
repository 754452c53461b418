"""Find the places that a short question writes: `shop/cart.py:12` means the innermost definition at that line.

A question that is nothing but the path of a file means the file. A path that the project does not have finds nothing
here, and the question is searched as text. Long texts are read by `long_search.py`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from atlas.code.question.languages import LanguageTerms
from atlas.code.question.parse_question import Query
from atlas.code.question.relation_kinds import RelationIntent
from atlas.code.rank.rank import Candidate
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import Ranking
from atlas.code.retrieve.written_files import TOPS, find_files, innermost
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Node, Scored

AT_LINE, FILE = "definition at the line", "written path"
"""Reasons of hits."""
MAX_PLACES = 4
MAX_FILES = 5
"""Files that a written path may mean; one that more files end with tells nothing."""
_BEST, _STEP = 2.0, 0.01
"""Score of the first place, above the symbols of a bare name."""

_PATH = r"(?<![\w.@+~/\\\[\]-])(?P<path>[\w.@+~/\\\[\]-]{1,400})"
_LINE = r"(?P<line>\d{1,7})(?!\d)"
_END = r"(?:\s*(?:-|–|to|and)\s*L?(?P<last>\d{1,7})(?!\d))?"
_FORMS = tuple(
    lazy_regex(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_PATH}(?::L?|#L){_LINE}(?::\d+|C\d+)?(?:[-–]L?(?P<last>\d{{1,7}})(?!\d))?",
        rf"{_PATH}\({_LINE}(?:, ?\d+)?\)",
        rf"{_PATH}[\"'`]?,? (?:\(|(?:on|at|in) )?(?:the )?lines? {_LINE}{_END}",
        rf"\blines? {_LINE}{_END} (?:of|in) (?:the )?(?:file )?[\"'`]?{_PATH}",
    )
)
_IN_WORDS = tuple(form.pattern for form in _FORMS[2:])
_COMMAND = lazy_regex(r"^(?:(?:find|show|open|read|see|view) )?(?:me )?(?:the )?(?:file )?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WrittenPlace:
    """A written path, and the lines that stand with it; 0 for none."""

    path: str
    line: int = 0
    last: int = 0
    """The end of a range of lines; otherwise the same line."""


def read_places(text: str, languages: LanguageTerms) -> tuple[WrittenPlace, ...]:
    """Return the places of a question in order: paths with a line, or the path that is the whole question."""
    found = [(match.start(), place) for form in _FORMS for match in form.finditer(text) if (place := _place(match))]
    if found:
        found.sort(key=lambda each: each[0])
        return tuple(dict.fromkeys(place for _, place in found))[:MAX_PLACES]
    path = _COMMAND.sub("", text).strip("`'\"?,;: ")
    is_path = " " not in path and ("/" in path or "\\" in path or languages.path.fullmatch(path) is not None)
    return (WrittenPlace(path),) if is_path and path.strip("./\\") else ()


def _place(match: re.Match[str]) -> WrittenPlace | None:
    path = match["path"].rstrip(".")
    if match.re.pattern in _IN_WORDS and not re.search(r"[./\\]", path):
        return None  # `error on line 12`
    line = int(match["line"])
    last = int(match["last"] or line) if "last" in match.re.groupindex else line
    return WrittenPlace(path, line, max(line, last)) if path.strip("./\\-") and line else None


def with_line(intent: RelationIntent | None, text: str, languages: LanguageTerms) -> RelationIntent | None:
    """Return the intent of a question whose name is a path with a line elsewhere: `callers of cart.py line 12`."""
    if intent is None or "." not in intent.name:
        return intent
    lines = {place.path: place.line for place in reversed(read_places(text, languages)) if place.line}
    line = lines.get(intent.name)
    return replace(intent, name=f"{intent.name}:{line}") if line else intent


async def by_place(reader: Reader, query: Query, where: Filter) -> Ranking:
    """Find the definitions at the lines that a question writes, then their files."""
    places = read_places(query.text, reader.languages)
    found = await asyncio.gather(*(_of_place(reader, place, where) for place in places))
    reasons = {node.row.uid: AT_LINE for inner, _ in found for node in inner}
    for _, files in found:
        reasons = {**{node.row.uid: FILE for node in files}, **reasons}
    uids = dict.fromkeys(node.row.uid for part in (0, 1) for each in found for node in each[part])
    return Ranking("place", tuple(Scored(uid, 1.0) for uid in uids), reasons=tuple(reasons.items()))


async def _of_place(reader: Reader, place: WrittenPlace, where: Filter) -> tuple[list[Node], list[Node]]:
    """Return the innermost definitions at the lines of a place, and the top nodes of its files."""
    files = await find_files(reader, place.path, where)
    inner = [node for nodes in files if (node := _at(nodes, place)) is not None] if place.line else []
    if inner:
        # of several files with the name, those that have the line
        paths = {node.row.path for node in inner}
        files = [nodes for nodes in files if nodes[0].row.path in paths]
    if len(files) > MAX_FILES:
        return [], []
    return inner, [top for nodes in files if (top := _top(nodes)) is not None]


def _at(nodes: Sequence[Node], place: WrittenPlace) -> Node | None:
    """Return the innermost definition that has all lines of a place; if only the file has, the one at the first."""
    whole = innermost(nodes, place.line, place.last)
    return whole if whole is not None and whole.row.label not in TOPS else innermost(nodes, place.line) or whole


def _top(nodes: Sequence[Node]) -> Node | None:
    tops = (node for node in nodes if node.row.label in TOPS)
    return min(tops, key=lambda node: (node.row.start_byte, -node.row.end_byte), default=None)


def places_first(ranked: Sequence[Candidate], read: Sequence[Candidate], places: Ranking) -> list[Candidate]:
    """Return ranked candidates with those of written places before all others.

    `read`: the candidates before those of one symbol were merged: a line of a constructor means it, not its class.
    """
    known = {each.node.row.uid: each for each in (*read, *ranked)}
    first = [known[uid] for uid, _ in places.hits if uid in known]
    taken = {each.node.row.uid for each in first}
    scored = (replace(each, score=_BEST - _STEP * position) for position, each in enumerate(first))
    ordered = (*scored, *(each for each in ranked if each.node.row.uid not in taken))
    return [replace(each, also=tuple(uid for uid in each.also if uid not in taken)) for each in ordered]
