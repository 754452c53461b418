"""Lines that the finder leaves out have no match of the pattern: its result is that of trying every line."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest

from atlas.code.lines.plain_values import narrowed_to
from atlas.code.lines.scan_texts import IndexedText, TriedLines
from atlas.parsing import LineFinder, WiderPattern

MOST = 60
PATTERNS = (
    r"(?<![\w$])(?P<name>[A-Za-z_]\w*)\s?(?::=|=(?![=>~])|:(?!:))\s*(?P<value>[-+]?\.?\d[\w.]*|[\"'][^\n]*)",
    r"\bdef (?P<method>[a-z_]\w*)\s*\n\s*(?P<value>\d+|[\"'])",
    r"(?m:^[ \t]*)(?:pub )?max\s*:",
    r"--(?P<flag>[a-z][\w-]*[a-z0-9])(?![\w-])$",
    r"(?i)max[-_. ]?size[^\n]*",
    r"(?P<quote>['\"])max(?P=quote)",
    r"max\b|\Bize\b",
)
PIECES = (
    *(
        "max",
        "MAX",
        "size",
        "max_size",
        "--max-size",
        " = ",
        ": ",
        "::",
        "=>",
        "1",
        "2.5",
        "'a'",
        '"max"',
        "def max\n",
        "pub ",
    ),
    *("\n", "\n", "\n", "\r\n", "  ", "é", "\x1d", "y" * 61, ".", "-", "\u0660", "ı", "\u212a"),
)


def _tried(text: str, needles: Sequence[str], pattern: re.Pattern[str]) -> set[tuple[int, int, int]]:
    """Return line, start and end of the matches in every line with a needle."""
    found: set[tuple[int, int, int]] = set()
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        end = start + len(line) + 1
        if len(line) <= MOST and re.search("|".join(needles), line, re.IGNORECASE):
            reach = min(text.find("\n", end) + 1 or len(text) + 1, end + MOST)
            found.update(
                (number, *match.span()) for match in pattern.finditer(text, start, reach) if match.start() < end
            )
        start = end
    return found


@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
@pytest.mark.parametrize("expression", PATTERNS)
def test_the_lines_found_have_every_match(expression: str, flags: int) -> None:
    pattern, chance = re.compile(expression, flags), random.Random(expression)
    wider, matches, known = WiderPattern(expression, bool(flags)), 0, 0
    for _ in range(4000):
        raw = "".join(chance.choice(PIECES) for _ in range(chance.randrange(40)))
        needles = chance.sample(("max", "size", "--"), 2)
        (lines,) = LineFinder([needle.encode() for needle in needles], MOST).find([raw.encode()], wider)
        text = raw.replace("\r\n", "\n")
        if lines is None:
            continue
        known += 1
        found = {
            (number, *match.span())
            for number, start, end, reach in lines
            for match in pattern.finditer(text, start, reach)
            if match.start() < end
        }
        if not any(needle in text.lower() for needle in needles):
            assert lines == []  # letters that equal others only where case is ignored are no needle of their own
            continue
        assert found == _tried(text, needles, pattern), repr(raw)
        matches += len(found)
    assert matches > 5
    assert known > 300


def test_a_line_without_a_match_is_left_out() -> None:
    finder = LineFinder([b"max"], MOST)
    text = b"max\nmax = 1\nmaximum\n"
    assert finder.find([text], WiderPattern(r"max\s?=\s\d", False)) == [[(1, 0, 4, 12), (2, 4, 12, 20)]]
    assert finder.find([text, b"min = 1"], WiderPattern(r"(m)ax\1", False))[1] == []


def test_values_are_looked_for_only_at_names_with_a_root() -> None:
    having = (
        "MAX_RETRIES = 3",
        "    self.retryLimit: int = 5,",
        'x = Client(retries=3, "a")',
        "const retry = options.retry || 5",
        "set :retry_limit, 5",
        "#define RETRIES 3",
        "def retries",
        'parser.add_argument("--port", default=3)  # retry',
    )
    without = ("limit = 3  # of a retry", "retry()", "if retry(x): y = 3", "return retry")
    text = "\n".join((*having[:6], f"{having[6]}\n  5", having[7], *without))
    (lines,) = LineFinder([b"retr"], 2000).find([text.encode()], WiderPattern(narrowed_to({"retr"}), False))
    assert lines is not None
    assert [number for number, *_ in lines] == [1, 2, 3, 4, 5, 6, 7, 9]


def test_letters_beyond_ascii_equal_those_that_re_takes_for_equal() -> None:
    text = "KINDS = 1\r\n\u212aınd\u017f = 2\nkind = 3\nkinds\nİ kinds = 4"
    tried = TriedLines(re.compile(r"kinds = \d", re.IGNORECASE), (b"kinds",))
    (lines,) = tried.in_texts([text.encode()])
    assert lines is None
    file = IndexedText("a.py", text.replace("\r\n", "\n"), is_test=False)
    assert [(each.line, each.match[0]) for each in tried.matches(file, lines)] == [
        (1, "KINDS = 1"),
        (2, "\u212aınd\u017f = 2"),
        (5, "kinds = 4"),
    ]
    assert tried.in_texts([b"kind = 1", b"kinds = 1"]) == [[], [(1, 0, 10, 10)]]


def test_texts_with_a_needle_are_those_whose_lower_form_has_one() -> None:
    chance, unknown, without = random.Random(7), 0, 0
    for _ in range(4000):
        text = "".join(chance.choice((*PIECES, "K", "k", "\u0130")) for _ in range(chance.randrange(12)))
        needles = chance.sample(("max", "size", "kmax", "imax", "--"), 2)
        (is_in,) = LineFinder([needle.encode() for needle in needles], MOST).are_in([text.encode()])
        holds = any(needle in text.lower() for needle in needles)
        assert is_in in (None, holds)
        unknown += is_in is None
        without += is_in is False
    assert unknown > 100
    assert without > 300
    assert LineFinder([b"max", "\xe9".encode()], MOST).are_in([b"max"]) == [None]
