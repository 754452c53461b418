"""What an answer found, as names that a later part of the question can be about.

`which gem parses markdown and which files require it` asks its second part about the gem. What a search found is a
guess, and is called so; where nothing fits, nothing is guessed.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from atlas.answers.answer import Answer
from atlas.code.atlas import Atlas
from atlas.code.graph.declarations import read_declarations, short_name
from atlas.code.question.requests.subject import AskedFor
from atlas.code.reader import Reader
from atlas.code.retrieve.written_files import innermost
from atlas.code.tools.citations import FILE_KINDS, TITLED_KINDS, WINDOW_KINDS, path_of
from atlas.code.tools.packages import ASIDE, KINDS
from atlas.code.tools.relation_answer import RelationAnswer
from atlas.code.tools.reports import ReportAnswer
from atlas.code.tools.search.search_answer import SearchAnswer
from atlas.code.tools.symbol.symbols import FileGroup
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label, Match

MIN_AMONG, MOST_AMONG = 2, 5
"""Results of which a later part may ask which one it is true of."""
MOST_RESULTS = 2
"""Things that a later part is asked about."""
MOST_LINES = 20
"""Lines of a report whose definitions are read."""
MOST_NODES = 10_000
MOST_SOURCE = 200
"""Lines of a hit in which the name of a package is looked for."""
GUESSED_HITS = 3
"""First hits whose files tell which package is meant."""
_PACKAGES = lazy_regex(r"(?:package|crate|gem|library|dependency)s?|dependencies|libraries")
_OF_FILES = lazy_regex(r"(?:file|script|page|section|folder)s?")
_CODE = frozenset((Label.CLASS, Label.FUNCTION, Label.METHOD))
_READS = ("reads", "catches", "imported_by")
"""Groups of reports whose lines do what a question with `what reads` asks for."""
_ALSO = MappingProxyType(
    {"function": ("method", "constructor"), "type": ("class", "interface", "struct", "enum", "trait")}
)
"""Kinds of symbols that a noun means besides its own."""
_OVERLOAD = lazy_regex(r"#\d+$")
_PLACE = lazy_regex(r"(?P<path>.+?)(?::(?P<line>\d+))?")


@dataclass(frozen=True, slots=True)
class PartResult:
    """What a part of a question found."""

    names: tuple[str, ...]
    """Qualified names, paths or names of packages; the first ones."""
    total: int
    is_guess: bool = False
    """They are hits of a search."""

    def said(self) -> str:
        """Return what they are, as a remark behind a part: `first of 4 found for 1`."""
        if self.is_guess:
            return "a guess"
        return f"{len(self.names)} of {self.total}" if self.total > len(self.names) else ""


async def results_of(atlas: Atlas, answer: Answer, asked: AskedFor, project: str) -> PartResult | None:
    """Return what an answer found of the kind that was asked for; None where that is nothing."""
    noun = asked.noun.lower()
    match answer:
        case RelationAnswer():
            return _of_relation(answer, noun)
        case SearchAnswer() if answer.hits and _PACKAGES.fullmatch(noun):
            return await _packages_of(atlas, answer, project)
        case SearchAnswer():
            return _of_search(answer, wants_files=_OF_FILES.fullmatch(noun) is not None)
        case ReportAnswer() if _PACKAGES.fullmatch(noun) and answer.report.kind == "packages":
            return _declared(answer)
        case ReportAnswer() if _OF_FILES.fullmatch(noun):
            return _kept([path for path, _ in _places(answer)])
        case ReportAnswer():
            return await _around(atlas.reader, _places(answer), project)
        case _:
            return None


def named_results(answer: Answer) -> tuple[str, ...]:
    """Return the names of all that a part finds, where these are few definitions of code; else ()."""
    if not isinstance(answer, RelationAnswer) or answer.outcome == "not_found" or answer.kind == "path":
        return ()
    found = [each for group in answer.files if group.path for each in group.symbols if each.kind not in FILE_KINDS]
    names = tuple(dict.fromkeys(_OVERLOAD.sub("", each.symbol or each.name).rpartition(".")[2] for each in found))
    return names if MIN_AMONG <= len(names) <= MOST_AMONG and len(found) == answer.found else ()


def _kept(names: Iterable[str], *, is_guess: bool = False) -> PartResult | None:
    found = list(dict.fromkeys(name for name in names if name))
    return PartResult(tuple(found[:MOST_RESULTS]), len(found), is_guess) if found else None


def _of_relation(answer: RelationAnswer, noun: str) -> PartResult | None:
    files = sorted((group for group in answer.files if group.path), key=_is_aside)
    if answer.outcome == "not_found" or answer.kind == "path":
        return None
    related = [each for group in files for each in group.symbols if each.kind not in FILE_KINDS]
    if _OF_FILES.fullmatch(noun) or not related:
        return _kept(group.path for group in files)
    fitting = [each for each in related if noun.startswith(each.kind) or each.kind in _ALSO.get(noun.rstrip("s"), ())]
    return _kept(_OVERLOAD.sub("", each.symbol or each.name) for each in fitting or related)


def _is_aside(group: FileGroup) -> bool:
    return ASIDE.search(group.path) is not None


def _of_search(answer: SearchAnswer, *, wants_files: bool) -> PartResult | None:
    if wants_files:
        return _kept([path_of(hit.symbol.place) for hit in answer.hits[:1]], is_guess=True)
    no_code = {*FILE_KINDS, *WINDOW_KINDS, *TITLED_KINDS}
    code = [hit.symbol.qualified_name for hit in answer.hits[:GUESSED_HITS] if hit.symbol.kind not in no_code]
    return _kept(code[:1], is_guess=True)


async def _packages_of(atlas: Atlas, answer: SearchAnswer, project: str) -> PartResult | None:
    """Return the declared package that the first hit names, in its name or path, else in its source if only one is."""
    declared = await read_declarations(atlas.reader, project)
    for text in await _texts_of(atlas.reader, answer, project):
        named: list[str] = []
        for name in dict.fromkeys(each.package or each.name for each in declared if not each.is_inner):
            called = name.lower() if name.startswith("@") else short_name(name).lower()
            word = re.compile(rf"(?<![a-z0-9]){re.escape(called)}(?![a-z0-9])")
            if called not in STOP_WORDS and word.search(text):
                named.append(name)
        if named:
            return _kept(named, is_guess=True) if len(named) == 1 else None
    return None


def _declared(answer: ReportAnswer) -> PartResult | None:
    """Return the packages of a report that names several, or the one that it is about."""
    texts = [
        text for group in answer.report.groups if group.name in KINDS for file in group.files for text in file.lines
    ]
    return _kept(text.partition(" ")[0] for text in texts)


async def _texts_of(reader: Reader, answer: SearchAnswer, project: str) -> list[str]:
    """Return name and path of the first hit, and its source, in lower case."""
    nodes = await reader.store.symbols([answer.hits[0].symbol.uid])
    if not nodes:
        return []
    row = nodes[0].row
    content = (await reader.store.content(project, [row.path])).get(row.path, b"") if row.path else b""
    lines = content.decode("utf-8", "replace").split("\n")
    own = lines[max(row.start_line - 1, 0) : min(row.end_line, row.start_line + MOST_SOURCE)]
    return [f"{row.qualified_name} {row.path}".lower(), "\n".join(own).lower()]


def _places(answer: ReportAnswer) -> list[tuple[str, int]]:
    groups = [group for group in answer.report.groups if group.name in _READS]
    places = (_PLACE.fullmatch(file.path) for group in groups for file in group.files)
    return [(match["path"], int(match["line"] or 0)) for match in places if match is not None]


async def _around(reader: Reader, places: Sequence[tuple[str, int]], project: str) -> PartResult | None:
    """Return the functions and classes around lines, in order."""
    where = Filter(project)
    paths = list(dict.fromkeys(path for path, _ in places[:MOST_LINES]))
    nodes = await asyncio.gather(*(reader.store.find(path, Match.PATH, where, MOST_NODES) for path in paths))
    known = dict(zip(paths, nodes, strict=True))
    found = (
        innermost((node for node in known[path] if node.row.label in _CODE), line) for path, line in places[:MOST_LINES]
    )
    return _kept(node.row.qualified_name for node in found if node is not None)
