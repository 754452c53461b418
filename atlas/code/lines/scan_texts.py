"""Search the indexed texts of a project by a regular expression, within a time limit, and say what was not read."""

from __future__ import annotations

import asyncio
import re
import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from atlas.code.reader import Reader
from atlas.code.retrieve.channels import path_matches
from atlas.core.contracts import Store
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter
from atlas.core.wording import counted
from atlas.parsing import LineFinder, WiderPattern, is_copy

SECONDS = 4.0
"""After this time a scan answers with what it has; 30 MB take about one second."""
BATCH = 200
"""Files that are read at once."""
MAX_BYTES = 1 << 20
"""Larger files are data."""
MAX_LINE = 2_000
"""Characters of a line; longer ones are data."""
MAX_FOUND = 5_000
_DOCUMENT_ENDING = lazy_regex(r"\.(?:md|mdx|markdown|rst|txt|adoc|asciidoc|html?|org|pod|rdoc|textile)$", re.IGNORECASE)

LINES_OF_SENTENCE, MAX_SENTENCE = 2, 260
"""Lines behind that of a match that its sentence may go on in, and characters of it."""
LINES_AROUND = 200
"""Lines above a line in which the definitions around it are looked for."""
_DEFINES = lazy_regex(
    r"\s*(?:(?:export|default|public|private|protected|internal|static|abstract|final|async|pub(?:\([^)]*\))?|unsafe"
    r"|data|sealed|open|override|virtual|suspend) )*"
    r"(?:class|struct|interface|trait|object|module|namespace|enum|def|fn|func|function|fun|impl(?:<[^>]*>)?)\s(?P<name>[^\n({]{1,80})"
)
_BUILT = lazy_regex(r"(?:^|/)(?:dist|out|target|bundles?|node_modules|generated)/|\.min\.\w+$")

_FOLDED_TO_ASCII = (("\u0130", "i"), ("\u0131", "i"), ("\u017f", "s"), ("\u212a", "k"))
"""Letters that equal those of ASCII where case is ignored."""
MAX_KEPT_BYTES = 8 << 20
"""Texts that are kept for the questions of a generation, those of product code first; inflating them takes as long as
searching them."""
_NOTHING_KNOWN = r"\1"
Span = tuple[int, int, int, int]
"""Number, start and end of a line, and where the next one ends; in characters."""


class ScanEntry(NamedTuple):
    """What decides whether a file is scanned; `FileRecord` has more, and is read for each question."""

    is_test: bool
    path: str
    language: str
    size: int
    is_generated: bool


@dataclass(frozen=True)
class IndexedText:
    """A file of the project with its text."""

    path: str
    text: str
    is_test: bool

    @property
    def is_document(self) -> bool:
        """Whether it is a document rather than code or configuration."""
        return is_document(self.path)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text; line n is `lines[n - 1]`."""
        return self.text.split("\n")

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line, and that behind the last one."""
        starts, at = [0], 0
        for line in self.lines:
            at += len(line) + 1
            starts.append(at)
        return starts

    def line_at(self, offset: int) -> int:
        """Return the number of the line that holds a character, from 1."""
        return bisect_right(self.starts, offset)


@dataclass(frozen=True, slots=True)
class TextMatch:
    """A match in a text."""

    file: IndexedText
    line: int
    match: re.Match[str]

    @property
    def text(self) -> str:
        """The whole line of the start of the match."""
        return self.file.lines[self.line - 1]

    @property
    def place(self) -> str:
        """`path:line`."""
        return f"{self.file.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class TextScan:
    """The matches of a scan in the order of paths, product code before tests."""

    found: tuple[TextMatch, ...]
    notes: tuple[str, ...] = ()


def is_document(path: str) -> bool:
    """Return whether a file is a document by its name."""
    return bool(_DOCUMENT_ENDING.search(path)) and not path.rpartition("/")[2].startswith("requirements")


def is_aside(path: str) -> bool:
    """Return whether a file is built, vendored, an example or a benchmark: what it says stands elsewhere as well."""
    return bool(_BUILT.search(path)) or is_copy(path)


async def scan_texts(
    reader: Reader,
    where: Filter,
    pattern: re.Pattern[str],
    needles: Sequence[bytes] = (),
    wanted: Callable[[str], bool] | None = None,
    holds: Callable[[str], bool] | None = None,
    narrowed: str = "",
    *,
    having: Sequence[str] = (),
    is_constant: bool = False,
) -> TextScan:
    """Return every match of a pattern in the indexed files that pass the filter.

    `needles`: only lines that contain one of them (ignoring case) are searched, up to the end of the next line; () for
    whole texts. `wanted`: by path, `holds`: by the whole text. `narrowed`: an expression that matches at every line
    whose matches are needed, in place of the pattern; only the others are left out. `having`: texts without any of
    these, in lower case, are left out. `is_constant`: every question has this pattern and these needles, so that files
    without a line of theirs are read once for a generation. Raises store errors.
    """
    asked = [(pattern, needles)]
    return (await scan_patterns(reader, where, asked, wanted, holds, narrowed, having, is_constant=is_constant))[0]


async def scan_patterns(
    reader: Reader,
    where: Filter,
    asked: Sequence[tuple[re.Pattern[str], Sequence[bytes]]],
    wanted: Callable[[str], bool] | None = None,
    holds: Callable[[str], bool] | None = None,
    narrowed: str = "",
    having: Sequence[str] = (),
    *,
    is_constant: bool = False,
) -> list[TextScan]:
    """Return what `scan_texts` returns for each pattern with its needles; the texts are read once for all of them."""
    found: list[list[TextMatch]] = [[] for _ in asked]
    notes: list[str] = []
    open_ones = list(range(len(asked)))
    tried = [TriedLines(pattern, needles, narrowed) for pattern, needles in asked]
    kept = await _kept(reader, where.project or reader.project)
    key = (narrowed, *((pattern.pattern, pattern.flags, *needles) for pattern, needles in asked))
    without = kept.without.setdefault(key, set()) if is_constant else None
    read = None if is_constant else kept
    has_some = _HavingSome(having)
    async for batch in _batches(reader, where, wanted, notes, read, without or ()):
        batch = has_some.of(batch)
        contents = [data for _, data in batch]
        lines = {number: tried[number].in_texts(contents) for number in open_ones}
        if without is not None and len(lines) == len(tried):
            without.update(
                each.path for at, (each, _) in enumerate(batch) if all(own[at] == [] for own in lines.values())
            )
        for at, (record, data) in enumerate(batch):
            with_lines = [number for number in open_ones if lines[number][at] != []]
            file = indexed(record, data) if with_lines else None
            if file is None or (holds is not None and not holds(file.text)):
                continue
            for number in with_lines:
                found[number] += tried[number].matches(file, lines[number][at])
            open_ones = [number for number in open_ones if len(found[number]) < MAX_FOUND]
        if not open_ones:
            break
    for own in found:
        own.sort(key=lambda each: (each.file.is_test, is_aside(each.file.path), each.file.path, each.line))
    full = f"only the first {MAX_FOUND:,} matches were read"
    kinds = [(own, (*notes, full) if number not in open_ones else tuple(notes)) for number, own in enumerate(found)]
    return [TextScan(tuple(own), tuple(dict.fromkeys(said))) for own, said in kinds]


async def read_texts(reader: Reader, where: Filter, wanted: Callable[[str], bool]) -> list[IndexedText]:
    """Return the indexed files whose path is wanted, sorted by path."""
    return [indexed(*each) async for batch in _batches(reader, where, wanted, []) for each in batch]


async def _batches(
    reader: Reader,
    where: Filter,
    wanted: Callable[[str], bool] | None,
    notes: list[str],
    kept: _KeptTexts | None = None,
    without: Collection[str] = (),
) -> AsyncIterator[list[tuple[ScanEntry, bytes]]]:
    """Yield the files that pass, each with its content, product code before tests; none of those `without` a line."""
    store, project = reader.store, where.project or reader.project
    listed = await _listed(reader, project)
    chosen = [each for each in listed if _passes(each, where) and (wanted is None or wanted(each.path))]
    chosen = [each for each in chosen if each.path not in without] if without else chosen
    until = time.monotonic() + SECONDS
    for at in range(0, len(chosen), BATCH):
        if time.monotonic() > until:
            notes.append(f"the time for this question ended after {at:,} of {counted(len(chosen), 'file', ',')}")
            return
        batch = chosen[at : at + BATCH]
        paths = [each.path for each in batch]
        contents = await store.content(project, paths) if kept is None else await kept.content(store, project, paths)
        yield [(each, contents.get(each.path, b"")) for each in batch]
        await asyncio.sleep(0)


class _KeptTexts:
    """What scans have read of a project: contents up to `MAX_KEPT_BYTES`, and which files have no line of a pattern."""

    def __init__(self) -> None:
        self.without: dict[Hashable, set[str]] = {}
        """By patterns and needles: the paths of the files that have no line at which these are tried."""
        self._contents: dict[str, bytes] = {}
        self._size = 0

    async def content(self, store: Store, project: str, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the contents of files as `Store.content` does."""
        missing = [path for path in paths if path not in self._contents]
        read = await store.content(project, missing) if missing else {}
        for path, data in read.items():
            if path not in self._contents and self._size + len(data) <= MAX_KEPT_BYTES:
                self._contents[path] = data
                self._size += len(data)
        return {path: self._contents[path] for path in paths if path in self._contents} | read


class _HavingSome:
    """Files whose text has one of some words, ignoring case; every file without words."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._finder = LineFinder([word.encode() for word in words], MAX_LINE) if words else None

    def of(self, batch: list[tuple[ScanEntry, bytes]]) -> list[tuple[ScanEntry, bytes]]:
        """Return those of a batch."""
        if self._finder is None:
            return batch
        known = self._finder.are_in([data for _, data in batch])
        return [
            each for each, is_in in zip(batch, known, strict=True) if (self._has(each[1]) if is_in is None else is_in)
        ]

    def _has(self, data: bytes) -> bool:
        lowered = data.decode("utf-8", "replace").lower()
        return any(word in lowered for word in self._words)


async def _kept(reader: Reader, project: str) -> _KeptTexts:
    """Return what scans have read of the generation of the reader's project; nothing of another one."""

    async def nothing() -> _KeptTexts:
        return _KeptTexts()

    if project != reader.project:
        return _KeptTexts()
    return await reader.cache.get(reader.store, project, "scanned texts", nothing)


async def _listed(reader: Reader, project: str) -> tuple[ScanEntry, ...]:
    """Return all files of a project, product code before tests, by path; kept for a generation of the reader's one."""

    async def read() -> tuple[ScanEntry, ...]:
        records = (await reader.store.manifest(project)).values()
        return tuple(
            sorted(ScanEntry(each.is_test, each.path, each.language, each.size, each.is_generated) for each in records)
        )

    if project != reader.project:
        return await read()
    return await reader.cache.get(reader.store, project, "files to scan", read)


def indexed(record: ScanEntry, data: bytes) -> IndexedText:
    """Return a file with its text, whose lines end with one character."""
    text = data.decode("utf-8", "replace")
    # to look for one character takes a fraction of the time
    return IndexedText(record.path, text.replace("\r\n", "\n") if "\r" in text else text, record.is_test)


class TriedLines:
    """The lines of texts at which a pattern is tried: those with one of its needles; () for whole texts."""

    def __init__(self, pattern: re.Pattern[str], needles: Sequence[bytes], narrowed: str = "") -> None:
        self._pattern, self._needles = pattern, needles
        self._finder = LineFinder(needles, MAX_LINE) if needles else None
        # what is unknown, such as re.VERBOSE, gives an expression that matches everything
        is_known = pattern.flags & ~(re.UNICODE | re.IGNORECASE) == 0
        text = narrowed or (pattern.pattern if is_known else _NOTHING_KNOWN)
        self._wider = _wider(text, bool(pattern.flags & re.IGNORECASE))

    def in_texts(self, contents: Sequence[bytes]) -> list[list[Span] | None]:
        """Return the lines of each text; None for a text in which `matches` has to find them."""
        return [None] * len(contents) if self._finder is None else self._finder.find(contents, self._wider)

    def matches(self, file: IndexedText, lines: Sequence[Span] | None) -> Iterator[TextMatch]:
        """Yield the matches that begin in these lines of a text."""
        if not self._needles:
            for match in self._pattern.finditer(file.text):
                line = file.line_at(match.start())
                if len(file.lines[line - 1]) <= MAX_LINE:
                    yield TextMatch(file, line, match)
            return
        for number, start, end, reach in self._lines(file) if lines is None else lines:
            for match in self._pattern.finditer(file.text, start, reach):
                if match.start() < end:
                    yield TextMatch(file, number, match)

    def _lines(self, file: IndexedText) -> Iterator[Span]:
        """Yield the lines with a needle where letters beyond ASCII may equal others."""
        text, needles = file.text, [needle.decode() for needle in self._needles]
        if all(needle.isascii() for needle in needles):
            lowered = text
            for letter, equal in _FOLDED_TO_ASCII:
                lowered = lowered.replace(letter, equal)
            lowered = lowered.lower()  # of all other letters, the lower form has one character
            every = re.finditer("|".join(re.escape(needle.lower()) for needle in needles), lowered)
        else:
            every = re.finditer("|".join(map(re.escape, needles)), text, re.IGNORECASE)
        for start in sorted({text.rfind("\n", 0, each.start()) + 1 for each in every}):
            end = text.find("\n", start) + 1 or len(text) + 1
            if end - 1 - start <= MAX_LINE:
                reach = min(text.find("\n", end) + 1 or len(text) + 1, end + MAX_LINE)
                yield file.line_at(start), start, end, reach


@lru_cache(16)
def _wider(text: str, ignores_case: bool) -> WiderPattern:
    return WiderPattern(text, ignores_case)


def _passes(each: ScanEntry, where: Filter) -> bool:
    if not each.path or each.size > MAX_BYTES or (each.is_generated and not where.include_generated):
        return False
    if where.path and not path_matches(where.path, each.path):
        return False
    return (where.include_tests or not each.is_test) and (not where.languages or each.language in where.languages)


def with_rest(found: TextMatch) -> str:
    """Return a line of a document with the rest of its sentence."""
    text = found.text.strip()
    for line in found.file.lines[found.line : found.line + LINES_OF_SENTENCE]:
        if not line.strip(" #*/") or text.endswith((".", ":", "|", ">")) or len(text) > MAX_SENTENCE:
            break
        text = f"{text} {line.strip(' #*/')}"
    return " ".join(text.split())[:MAX_SENTENCE]


def definitions_around(lines: Sequence[str], line: int) -> Iterator[tuple[int, str]]:
    """Yield the lines (1-based) and names of the definitions around a line, the innermost first."""
    text = lines[line - 1]
    depth = len(text) - len(text.lstrip())
    if (match := _DEFINES.match(text)) is not None:
        yield line, _defined(match["name"])
    for number in range(line - 1, max(0, line - LINES_AROUND), -1):
        if depth == 0:
            return
        above = lines[number - 1]
        own = len(above) - len(above.lstrip())
        if own < depth and above.strip(" \t{(") and above[own] not in ")]}":
            depth = own
            if (match := _DEFINES.match(above)) is not None:
                yield number, _defined(match["name"])


def _defined(said: str) -> str:
    return said.replace(" for ", ".").split("(")[0].split(" ")[0].split("<")[0].strip(" :;{")
