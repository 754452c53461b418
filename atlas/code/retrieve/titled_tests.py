"""Tests by their titles: `it("stops reactivity")`, `it "works" do`, `t.Run("empty")` say in words what they test.

A question that nearly repeats a title asks for that test; the function of such a test has no name. The titles of the
groups around a test belong to its own, and so does the name of its file. Reads the indexed texts of tests only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atlas.code.lines.line_report import LineReport, TextLine, shown
from atlas.code.lines.scan_texts import TextMatch, scan_texts
from atlas.code.question.names import is_code_shaped
from atlas.code.question.parse_question import Query, asks_for_tests
from atlas.code.question.relation_kinds import Kind, RelationIntent
from atlas.code.question.unaccounted import WordsLeft, find_unaccounted
from atlas.code.reader import Reader
from atlas.core.english.stems import base_forms, root_of
from atlas.core.english.stop_words import STOP_WORDS
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Match

MIN_HITS, MIN_SHARE = 3, 0.6
"""Words of a question, and the share of all of them, that the titles of a test have."""
MIN_OWN = 2
"""Words that the title itself has; others may stand in those of its groups and in the name of its file."""
NEAR_BEST = 0.8
MOST_TESTS = 8
MIN_LETTERS, LETTERS_OF_NEEDLE = 3, 4
MAX_LINE = 400
_CALL = (
    r"(?<![\w$.@])(?:[xf]?(?:it|describe|context|specify)|test|suite|scenario|feature|should|[tbs]\.Run|@DisplayName|@Test"
    r"|TEST_CASE|SECTION|SCENARIO)(?:\.[a-z]\w{0,20}){0,2}"
)
_TITLE = lazy_regex(
    rf"(?:{_CALL}\s?\(?\s?|^[ \t]{{0,80}})(?P<quote>[\"'`])(?P<title>(?:\\.|[^\\\n]){{3,300}}?)(?P=quote)", re.MULTILINE
)
_OPENS = lazy_regex(rf"{_CALL}\($")
"""The call of a title that stands on the next line."""
_WORD = lazy_regex(r"[^\W_]+")
_JOINED = lazy_regex(r"(?<=[a-z0-9])(?=[A-Z])|_")
_OF_TESTS = frozenset(
    """
    test tests tested testing spec specs case cases unit integration regression functional cover covers covered covering
    coverage check checks checked checking verify verifies verified assert asserts asserted exercise exercises exercised
    ensure ensures prove proves make makes sure exist exists file files code behaviour behavior please show find list
    give anywhere already actually correctly properly really somewhere suite line lines place located title titles
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class _Titled:
    """A title in a test, with the words of the question that it and the titles around it have."""

    found: TextMatch
    own: frozenset[str]
    words: frozenset[str]


async def answer_titled_tests(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer for the tests whose titles have most of the words of a question; None for others and without such titles.

    Raises store errors.
    """
    relation = query.relation
    if not asks_for_tests(query) or (relation is not None and await _asks_of_symbol(reader, query, relation, where)):
        return None
    words = _asked_words(query.text)
    if len(words) < 2:
        return None
    needles = [(root if len(root) < LETTERS_OF_NEEDLE else root[:LETTERS_OF_NEEDLE]).encode() for root in words]
    scan = await scan_texts(reader, where, _TITLE, needles)
    titled = [each for file in _by_file(scan.found) for each in _titled(file, words)]
    least = len(words) if len(words) < MIN_HITS else max(MIN_HITS, MIN_SHARE * len(words))
    kept = [each for each in titled if len(each.words) >= least]
    if not kept:
        return None
    best = max(len(each.words) for each in kept)
    kept = [each for each in kept if len(each.words) >= best * NEAR_BEST]
    kept.sort(key=lambda each: (-len(each.words), -len(each.own), each.found.file.path, each.found.line))
    missing = [word for root, word in words.items() if root not in kept[0].words]
    title = f"tests whose titles have most of the words: {len(kept)}"
    title += f"; the first is without {' and '.join(f'`{word}`' for word in missing)}" if missing else ""
    lines = tuple(TextLine("tests", each.found.place, shown(each.found.match["title"])) for each in kept)
    return LineReport("tests", title, lines, scan.notes, first=MOST_TESTS)


async def _asks_of_symbol(reader: Reader, query: Query, relation: RelationIntent, where: Filter) -> bool:
    """Return whether a question says nothing but that it asks for the tests of a symbol of the index."""
    is_plain = relation.kind == Kind.TESTS and relation.certain and is_code_shaped(relation.name)
    if not is_plain or find_unaccounted(query.text, relation) != WordsLeft():
        return False
    return bool(await reader.store.find(relation.name, Match.SUFFIX, where, 1))


def _asked_words(text: str) -> dict[str, str]:
    """Return by root the words of a question that say what is tested."""
    spoken = (word.lower() for word in _WORD.findall(_JOINED.sub(" ", re.sub(r"['’](?:s|t|re)\b", "", text))))
    kept = [word for word in spoken if len(word) >= MIN_LETTERS and word not in STOP_WORDS and word not in _OF_TESTS]
    return {root_of(word): word for word in reversed(kept)}


def _by_file(found: Sequence[TextMatch]) -> Iterator[list[TextMatch]]:
    files: dict[str, list[TextMatch]] = {}
    for each in found:
        if each.file.is_test and len(each.text) <= MAX_LINE and _is_title(each):
            files.setdefault(each.file.path, []).append(each)
    yield from files.values()


def _is_title(found: TextMatch) -> bool:
    """Return whether a text in quotes is the title of a test: the call of one stands before it."""
    if found.match[0].lstrip()[:1] != found.match["quote"]:
        return True
    return found.line > 1 and _OPENS.search(found.file.lines[found.line - 2].rstrip()[-MAX_LINE:]) is not None


def _titled(found: Sequence[TextMatch], roots: dict[str, str]) -> Iterator[_Titled]:
    """Yield the titles of a file with the words that they, its name and those further to the left above them have."""
    named = _roots_in(found[0].file.path.rpartition("/")[2], roots)
    around: list[tuple[int, frozenset[str]]] = []
    for each in found:
        indent = len(each.text) - len(each.text.lstrip())
        while around and around[-1][0] >= indent:
            around.pop()
        own = _roots_in(each.match["title"], roots)
        outer = around[-1][1] if around else named
        around.append((indent, own | outer))
        if len(own) >= MIN_OWN:
            yield _Titled(each, own, own | outer)


def _roots_in(title: str, roots: dict[str, str]) -> frozenset[str]:
    said = {word.lower() for word in _WORD.findall(_JOINED.sub(" ", title))}
    forms = {root_of(form) for word in said for form in (word, *base_forms(word))} | said
    return frozenset(root for root, word in roots.items() if root in forms or word in forms)
