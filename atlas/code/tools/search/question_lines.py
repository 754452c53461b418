"""Find the lines of a project that have most of the rare words of a question: what a reader with grep would look at.

An answer that reads a question in one way shows what that way finds. These lines depend on no reading: of a question
with several halves they show the half that was not understood, and usages that no edge stands for.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atlas.code.lines.scan_texts import is_aside, is_document
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.core.english.stems import stem
from atlas.core.english.stop_words import CONTRACTED, STOP_WORDS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Label
from atlas.parsing import score_lines

MAX_SYMBOLS = 150
"""Symbols found by the words of the question whose files are read."""
MAX_NAMED = 60
"""Symbols found by one name of the question."""
MAX_FILES = 25
MAX_BYTES = 400_000
"""Larger files are data."""
MAX_WORDS = 24
MOST_LINES = 12
MOST_OF_FILE = 6
LEAST_SHARE = 0.55
"""Share of the best line's score below which a line has only the common words of the question."""
SHORTEST = 3
"""Letters of a stem that is looked for."""
_WORD = lazy_regex(r"(?<![\w$@-])[A-Za-z_$@][\w$-]*+(?<![-])")
_NAME = lazy_regex(r"[_\d$]|[a-z][A-Z]|^[A-Z].*[A-Z]")
_PATH = lazy_regex(r"(?<![\w@./\[\]-])[\w@./\[\]-]++(?<!\d)(?=:|$)")
_HEADS_LINES = lazy_regex(r"\d{1,3}\. (?:(?:module|package|file|doc_file|chunk) |[^\n]{0,300}:\d{1,7}-\d)")
"""Heads a hit that is a file or a range of lines: these are a place, not lines that are shown."""
_NUMBERED = lazy_regex(r"^ {0,9}\d{1,7}: ", re.MULTILINE)
_NUMBER = lazy_regex(r"(?<![\w.])\d{1,6}(?![\w.])")
_PART = lazy_regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """A line of a file with words of a question."""

    path: str
    line: int
    text: str
    score: float


async def find_question_lines(
    reader: Reader, query: Query, where: Filter, shown: str, *, only_unsaid: bool = False
) -> list[QuestionLine]:
    """Return the lines that have most of the rare words of a question and are not shown yet, best first.

    `shown` is the text of the answer so far; with `only_unsaid`, a line has a name or rare word that it does not have.
    Raises store errors.
    """
    stems, names = words_of(query.text)
    if not stems:
        return []
    paths = await _paths(reader, query, names, where)
    contents = await reader.store.content(where.project or reader.project, list(paths))
    read = [path for path in paths if len(contents.get(path, b"")) <= MAX_BYTES and path in contents]
    texts = [(contents[path], is_document(path), paths[path] and not query.wants_tests) for path in read]
    lowered = shown.lower() if only_unsaid else ""
    said = {*(each for each in stems if each in lowered), *(f"={each}" for each in names if _has(lowered, each))}
    without = said | _everyday(reader, query.text, names)
    words = [(each, False, each not in without) for each in stems]
    words += [(each, True, f"={each}" not in without) for each in names]
    found = await asyncio.to_thread(score_lines, texts, words, bool(said))
    scored = [QuestionLine(read[number], line, text, score) for number, line, text, score in found]
    return list(_best(sorted(scored, key=lambda each: (-each.score, each.path, each.line)), shown))


def _has(text: str, name: str) -> bool:
    """Return whether a text has a name as a whole: `shop-mail` does not say `mail`."""
    at = text.find(name)
    while at >= 0:
        around = text[at - 1 : at] + text[at + len(name) : at + len(name) + 1]
        if not any(each.isalnum() or each in "_-" for each in around):
            return True
        at = text.find(name, at + 1)
    return False


def _everyday(reader: Reader, text: str, names: Sequence[str]) -> set[str]:
    """Return the stems and names that are words of English: a few lines that have one of them tell nothing.

    A word is one if the model of prose has it whole; without that model, all are.
    """
    encoder = reader.prose_encoder()
    parts = {part.lower() for word in _WORD.findall(text) for part in _PART.findall(word)}
    if encoder is None:
        return {stem(part) for part in parts}
    known = {word for word in (*parts, *names) if len(encoder.tokens(word)) <= 1}
    return {*(stem(part) for part in parts & known), *(f"={name}" for name in names if name in known)}


def words_of(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the stems of a text's words and parts of names, without function words, and its names in lower case."""
    words = dict.fromkeys(_WORD.findall(text))
    parts = (part.lower() for word in words for part in _PART.findall(word))
    stems = (stem(part) for part in parts if len(part) > 1 and part not in STOP_WORDS and part not in CONTRACTED)
    names = (word for at, word in enumerate(words) if _NAME.search(word) or (at and not word.islower()))
    kept = (word.lower() for word in names if len(word) > 1)
    stems = (each for each in stems if len(each) >= SHORTEST)
    return tuple(dict.fromkeys(stems))[:MAX_WORDS], tuple(dict.fromkeys(kept))[:MAX_WORDS]


async def _paths(reader: Reader, query: Query, names: Sequence[str], where: Filter) -> dict[str, bool]:
    """Return the paths of the files that have words of the question, best first, and whether each is a test."""
    found = await reader.store.search_text((*query.words, *query.variants), where, MAX_SYMBOLS)
    uids = [hit.uid for hit in found]
    for name in names:
        uids += [hit.uid for hit in await reader.store.search_text([name], where, MAX_NAMED)]
    nodes = await reader.store.symbols(list(dict.fromkeys(uids)))
    rank = {uid: at for at, uid in reversed(list(enumerate(uids)))}
    paths: dict[str, bool] = {}
    for node in sorted(nodes, key=lambda each: rank.get(each.row.uid, len(rank))):
        row = node.row
        if row.path and row.label != Label.PROJECT and not is_aside(row.path):
            paths.setdefault(row.path, row.is_test)
    return dict(list(paths.items())[:MAX_FILES])


def _best(scored: Sequence[QuestionLine], shown: str) -> Iterator[QuestionLine]:
    """Yield the best lines, each text once, without those that the answer shows."""
    said, cited, known = _bare(_NUMBERED.sub("", shown)), cited_lines(shown), set[str]()
    of_file: dict[str, int] = {}
    for each in scored:
        if each.score < LEAST_SHARE * scored[0].score or len(known) >= MOST_LINES:
            return
        bare = _bare(each.text)
        is_shown = (len(bare) > 8 and bare[:40] in said) or (each.path, each.line) in cited
        if is_shown or bare in known or of_file.get(each.path, 0) >= MOST_OF_FILE:
            continue
        known.add(bare)
        of_file[each.path] = of_file.get(each.path, 0) + 1
        yield each


def cited_lines(text: str) -> set[tuple[str, int]]:
    """Return path and line of the places that the text of an answer names, also below and behind a path."""
    cited: set[tuple[str, int]] = set()
    heading = ""
    for row in text.splitlines():
        if not row.startswith(" "):
            heading = ""
        for part in () if _HEADS_LINES.match(row) else row.split("; "):
            path = _PATH.search(part)
            of = path[0] if path else heading
            cited.update((of, int(number)) for number in _NUMBER.findall(part[path.end() :] if path else part) if of)
        if (only := _PATH.match(row)) and not row[only.end() :].strip(" :"):
            heading = only[0]
    return cited


def _bare(text: str) -> str:
    return re.sub(r"\W+", "", text)
