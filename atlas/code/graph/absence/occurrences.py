"""Find where a word stands in text: in the files of the index, and in source files that the index has skipped.

Words are compared with their case. Places in skipped files have no text, because nothing has checked these files for
secrets.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from types import MappingProxyType

from atlas.code.reader import Reader, batches
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Node, Skipped

MAX_NODES = 400
"""Symbols of the index whose text has the word; a word that more symbols have says little about one of them."""
MAX_FILES = 150
MAX_NOTEBOOKS = 100
"""Notebooks that are read whole, because the index has only the words of their cells."""
MAX_LINE = 2_000
"""Characters of a line; longer ones are data."""
MAX_PLACES = 400
MAX_SKIPPED, MOST_OF_REASON = 1_000, 40
MAX_SKIPPED_BYTES = 64 << 20
MAX_SKIPPED_FILE = 32 << 20
SECONDS = 1.0
"""After this time no further skipped file is read."""
_LOOKED_INTO = frozenset(("too-large", "generated", "minified", "data", "plain-text", "vendored", "language", "scope"))
"""Reasons of skipped files that are text. Ignored and hidden files, links and secrets are never read."""
_UNREADABLE = frozenset(("unreadable", "control-characters"))
_NO_TEXT_ENDINGS = """
7z a avi bin bmp bz2 class dat db dll doc docx dylib eot exe gif gz ico icns jar jpeg jpg lib mo mov mp3 mp4 npy npz
o obj ogg otf parquet pdf pkl png ppt pptx psd pyc rar so sqlite svg tar tgz tif tiff ttf wasm wav webm webp whl woff
woff2 xls xlsx xz zip zst
"""
_NO_TEXT = frozenset(_NO_TEXT_ENDINGS.split())
_WORD = lazy_regex(r"[\w$]+")
_AFTER_WORD = lazy_regex(r"(?<=[\w$])[^\w$\s-]")
"""Start of type parameters, arguments or an operator; a hyphen or a space separates words of one name."""
_COMMENT = lazy_regex(r"\s*(?:#|//|/\*|\*|--|;|%|<!--|\"\"\"|''')")
_BLOCKS = MappingProxyType({"/*": "*/", "=begin": "=end", "--[[": "]]", "<!--": "-->", '"""': '"""', "'''": "'''"})
"""What opens a comment or text of several lines, and what ends it."""
_OPENS = lazy_regex("|".join(map(re.escape, _BLOCKS)))
_QUOTES = ('"""', "'''")
_BEFORE_DOCSTRING = lazy_regex(r"[ \t]*(?:@\w{0,20}doc[ \t]+)?(?:~[sS]|[rRuU])?")
_CONTINUES = frozenset("(,=[{+%\\")
"""At the end of the line before, they say that quotes hold a value."""
_SNIFFED = 8_192
_FEW_WORDS = 20
"""Words up to which looking for each takes less time than splitting a text."""
_IMPORTS = rb"\b(?:import|require|include|from|use|using|source|load)\b[^\n]{0,200}?"
_DEFINES = lazy_regex(
    rb"\b(?:def|func|fn|function|fun|sub|class|interface|trait|struct|enum|type|protocol|module|const|let|var|val|object|"
    rb"record|impl|macro_rules!|#\s*define)\s+(?:\([^()\n]{0,80}\)\s*)?[*&]?\Z"
)
_BEFORE = 200
_RARE_LINE_ENDS = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_KEYWORD = 40
"""Bytes before a word in which what defines it stands, with parameters between them and without."""
_LETTER = lazy_regex(rb"\w")


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A line that has a word."""

    path: str
    line: int
    text: str = ""
    """The line; "" in a skipped file."""
    node: Node | None = None
    """The innermost symbol of the index around the line that has the word."""
    skipped: str = ""
    """Why the file is not indexed."""
    defines: bool = False
    """Whether the line of a skipped file looks like a definition of the word."""
    in_comment: bool = False
    """Whether a comment or docstring of several lines holds the line."""

    @property
    def at(self) -> str:
        """Path and line, with the reason for which the file is not indexed."""
        return f"{self.path}:{self.line}{f' ({self.skipped})' if self.skipped else ''}"


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Where a word stands; `more` says that not all files with the word were read."""

    places: tuple[TextPlace, ...] = ()
    more: bool = False


@dataclass(frozen=True, slots=True)
class SkippedText:
    """Where words stand in skipped files, by word; `unread` are the files that were not looked into."""

    places: Mapping[str, Sequence[TextPlace]] = field(default_factory=dict[str, Sequence[TextPlace]])
    unread: tuple[str, ...] = ()


def is_comment(line: str) -> bool:
    """Return whether a line is a comment, which does not refer to the names in it."""
    return bool(_COMMENT.match(line))


def lines_of_blocks(text: str) -> frozenset[int]:
    """Return the lines, from 1, of comments and docstrings that begin a line and end in a later one."""
    found: set[int] = set()
    at = counted = 0
    line = 1
    if not any(sign in text for sign in _BLOCKS):
        return frozenset()
    while (opened := _OPENS.search(text, at)) is not None:
        sign, start = opened[0], opened.start()
        at = opened.end()
        begins_line = not text[text.rfind("\n", 0, start) + 1 : start].strip()
        if sign not in _QUOTES and not begins_line:
            continue
        end = text.find(_BLOCKS[sign], at)
        end = end if end >= 0 else len(text)
        at = end + len(_BLOCKS[sign])
        if sign not in _QUOTES or _is_docstring(text, start):
            line += text.count("\n", counted, start)
            counted = start
            last = line + text.count("\n", start, end)
            found.update(range(line, last + 1) if last > line else ())
    return frozenset(found)


def _is_docstring(text: str, at: int) -> bool:
    """Return whether quotes begin a statement, or stand behind what marks documentation: `@doc`."""
    start = text.rfind("\n", 0, at) + 1
    if not _BEFORE_DOCSTRING.fullmatch(text, start, at):
        return False
    before = text[max(0, start - MAX_LINE) : start].rstrip()
    return before[-1:] not in _CONTINUES


def single_word(name: str) -> str:
    """Return the word of a name without type parameters and operators; "" for a name of several words or none."""
    found = _WORD.findall(_AFTER_WORD.split(name, 1)[0])
    return found[0] if len(found) == 1 else ""


def find_word(text: str, word: str) -> int:
    """Return the first place of a word with no letter, digit or underscore beside it; -1 if there is none.

    A regular expression would have to be compiled for each name.
    """
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (at and _is_letter(text[at - 1])) and not (end < len(text) and _is_letter(text[end])):
            return at
        at = text.find(word, at + 1)
    return -1


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


def lines_with_name(text: str, name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of `str.splitlines` that contain a name, with their numbers from 1."""
    if any(end in text for end in _RARE_LINE_ENDS):
        return ((number, line) for number, line in enumerate(text.splitlines(), 1) if name in line)
    return _lines_with(text, name)


def _lines_with(text: str, word: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that contain a text, with their numbers from 1, each ended by a line feed."""
    number, start, at = 1, 0, text.find(word)
    while at >= 0:
        number += text.count("\n", start, at)
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        yield number, text[text.rfind("\n", 0, at) + 1 : end]
        start, at = end, text.find(word, end)


async def find_occurrences(reader: Reader, word: str, project: str) -> Occurrences:
    """Return the lines of indexed files that have a word, by relevance of the file and line. Raises store errors."""
    words = reader.split_words(word)[:1]
    hits = await reader.store.search_text(words, Filter(project=project), MAX_NODES) if words else []
    nodes = [node for node in await reader.store.symbols([hit.uid for hit in hits]) if node.row.path]
    paths = list(dict.fromkeys(node.row.path for node in nodes))
    notebooks = await reader.cache.get(reader.store, project, "notebooks", partial(_notebooks, reader, project))
    read = list(dict.fromkeys((*paths[:MAX_FILES], *notebooks[:MAX_NOTEBOOKS])))
    inside: dict[str, list[Node]] = {}
    for node in nodes:
        inside.setdefault(node.row.path, []).append(node)
    found: list[TextPlace] = []
    for some in batches(read):
        contents = await reader.store.content(project, some)
        for path in some:
            left = MAX_PLACES + 1 - len(found)
            found += islice(_in_text(path, contents.get(path, b""), word, inside.get(path, ())), left)
        if len(found) > MAX_PLACES:
            break
    more = len(hits) >= MAX_NODES or len(paths) > MAX_FILES or len(found) > MAX_PLACES
    more = more or len(notebooks) > MAX_NOTEBOOKS
    return Occurrences(tuple(found[:MAX_PLACES]), more)


async def _notebooks(reader: Reader, project: str) -> list[str]:
    return [path for path in await reader.store.paths(project) if path.endswith(".ipynb")]


def _in_text(path: str, content: bytes, word: str, nodes: Sequence[Node]) -> Iterable[TextPlace]:
    if word.encode() not in content:
        return
    if path.endswith(".ipynb"):
        # a cell on one line of JSON: `\nword` is not one word
        content = content.replace(b"\\n", b"  ").replace(b"\\t", b"  ")
    text = content.decode("utf-8", "replace")
    blocks: frozenset[int] | None = None
    for number, line in _lines_with(text, word):
        if (at := find_word(line, word)) >= 0:
            blocks = lines_of_blocks(text) if blocks is None else blocks
            around = [node for node in nodes if node.row.start_line <= number <= node.row.end_line]
            inner = min(around, key=lambda node: node.row.end_byte - node.row.start_byte, default=None)
            start = max(at - MAX_LINE // 2, 0)
            yield TextPlace(path, number, line[start : start + MAX_LINE], inner, in_comment=number in blocks)


async def find_in_skipped(
    reader: Reader, words: Collection[str], project: str, *, imported: bool = False, reason: str = ""
) -> SkippedText:
    """Return where words stand in the skipped files of a project, as they are on disk; `imported`: in imports only.

    `reason`: only the first `MOST_OF_REASON` files that are skipped for it. Raises store errors.
    """
    root = next((state.root for state in await reader.store.projects() if state.project == project), str(reader.root))
    read_list = partial(_skipped_texts, reader, project)
    wanted, unreadable = await reader.cache.get(reader.store, project, "skipped texts", read_list)
    wanted = [each for each in wanted if each.reason == reason][:MOST_OF_REASON] if reason else wanted
    if not wanted or not words:
        return SkippedText(unread=tuple(unreadable))
    if reader.read_file is None:
        return SkippedText(unread=(*unreadable, *(each.path for each in wanted)))
    read = partial(reader.read_file, root)
    found, unread = await asyncio.to_thread(_look_into, read, wanted, words, imported)
    return SkippedText(found, (*unreadable, *unread))


async def _skipped_texts(reader: Reader, project: str) -> tuple[list[Skipped], list[str]]:
    """Return the skipped files to look into, in this order, and the paths of those that nobody can read."""
    skipped = [each for each in await reader.store.skipped(project) if not each.path.endswith("/")]
    wanted = [each for each in skipped if each.reason in _LOOKED_INTO and _ending(each.path) not in _NO_TEXT]
    wanted.sort(key=lambda each: (each.reason != "too-large", each.reason == "language"))
    return wanted, [each.path for each in skipped if each.reason in _UNREADABLE]


def _look_into(
    read: Callable[[str, int], bytes | None], skipped: Sequence[Skipped], words: Collection[str], imported: bool
) -> tuple[dict[str, list[TextPlace]], list[str]]:
    end, left = time.monotonic() + SECONDS, MAX_SKIPPED_BYTES
    found: dict[str, list[TextPlace]] = {}
    unread: list[str] = []
    for number, each in enumerate(skipped):
        if number >= MAX_SKIPPED or left <= 0 or time.monotonic() > end:
            unread += (other.path for other in skipped[number:])
            break
        data = read(each.path, MAX_SKIPPED_FILE)
        if data is None:
            unread.append(each.path)
            continue
        left -= len(data)
        if b"\0" in data[:_SNIFFED]:
            continue
        text = data.decode("utf-8", "replace") if len(words) > _FEW_WORDS else ""
        known = set(words).intersection(re.findall(r"\w+", text)) if text else words
        for word in known:
            if places := _in_bytes(each, data, word.encode(), imported):
                found.setdefault(word, []).extend(places)
    return found, unread


def _in_bytes(file: Skipped, data: bytes, word: bytes, imported: bool) -> list[TextPlace]:
    """Return the first places of a word in a skipped file: the first line, and the first that defines it."""
    ends = [at + len(word) for at in _starts(data, word)]
    if not ends:
        return []
    first = ends[0]
    if imported:
        match = re.search(_IMPORTS + rb"(?<!\w)" + re.escape(word) + rb"(?!\w)", data)
        if match is None:
            return []
        first = match.end()
    defined = next((end for end in ends if _is_defined(data, end - len(word))), 0)
    line = data.count(b"\n", 0, defined or first) + 1
    return [TextPlace(file.path, line, skipped=file.reason, defines=defined > 0)]


def _is_defined(data: bytes, at: int) -> bool:
    """Return whether what stands before a word defines it. Of a keyword alone, only the last bytes are looked at."""
    before = data[max(at - _BEFORE, 0) : at]
    told = before.rstrip(b"*&").rstrip()
    near = len(before) if told.endswith(b")") else len(before) - len(told) + _KEYWORD
    return _DEFINES.search(data, max(at - near, 0), at) is not None


def _starts(data: bytes, word: bytes) -> Iterator[int]:
    """Yield where a word stands, with no letter, digit or underscore beside it."""
    at = data.find(word)
    while at >= 0:
        if not _LETTER.match(data, at - 1, at) and not _LETTER.match(data, at + len(word)):
            yield at
        at = data.find(word, at + 1)


def _ending(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""
