"""Regular expressions of `=~`: compared with Python's `re`, and Java's meaning where the two differ."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas.core.errors import QueryError
from atlas.parsing.cypher_regex import compile_regex

atoms = st.sampled_from(
    ("a", "b", ".", r"\d", "[ab]", "[^a]", r"\w", "_", "1", "^", "$", r"\b", "[a-b1]", r"\.", r"\S")
)
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(("*", "+", "?", "{2}", "{1,2}", "{0,1}", "{2,}", "*?", "{0}"))).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(patterns, st.booleans(), st.text("ab1_. AB", max_size=8))
def test_equals_python(pattern: str, ignore_case: bool, text: str) -> None:
    if text == "" and "\\b" in pattern:
        return
    written = f"(?i){pattern}" if ignore_case else pattern
    expected = re.compile(written, re.ASCII).fullmatch(text) is not None
    assert compile_regex(written).fullmatch(text, lambda: None) == expected


def test_time_is_linear() -> None:
    ticks = 0

    def tick() -> None:
        nonlocal ticks
        ticks += 1

    assert not compile_regex("(a*)*(a|aa)*b").fullmatch("a" * 20_000, tick)
    assert ticks < 100


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "a)",
        "[a",
        "a**",
        "(?=x)",
        "(?<n>a)",
        r"\1",
        "a{3000}",
        "(((a{99}){99}){99})",
        "a{2,1}",
        "\\",
        "*a",
        "a++",
        "(" * 99,
        "(?m)a",
        r"\p{L}",
        r"\v",
        r"\b{start}",
        r"\u{41}",
        "[a&&b]",
        "[[:alpha:]]",
        "[^a]{1000}",
        "a" * 10_001,
    ],
)
def test_refused(pattern: str) -> None:
    with pytest.raises(QueryError, match="regular expression"):
        compile_regex(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (".", "\u2028", False),
        (".", "\x85", False),
        ("(?s).", "\u2028", True),
        ("(?s:.).", "\n\n", False),
        (r"\d", "\u0663", False),
        (r"\w", "é", False),
        (r"(?i)\w", "\u212a", False),
        (r"\W\D\S", "ééé", True),
        (r"a\b.*", "aé", True),
        (r"\s", "\v", True),
        (r"[\w-.]+", "a-b.c", True),
        (r"[\w-.]+", "a+b", False),
        (r"\<a\>[\<\>]", "<a>>", True),
        (r"[]a]+\e\u0041\x42\x{1F40D}", "]a\x1bAB🐍", True),
        ("a|b", "ab", False),
        ("a|ab", "ab", True),
        ("(?i)É", "é", True),
        ("", "", True),
    ],
)
def test_means_what_java_means(pattern: str, text: str, expected: bool) -> None:
    assert compile_regex(pattern).fullmatch(text, lambda: None) is expected


def test_a_long_match_can_be_stopped() -> None:
    class Late(Exception):
        pass

    def check() -> None:
        raise Late

    regex = compile_regex("(a|b)*a(a|b){300}c")
    with pytest.raises(Late):
        regex.fullmatch("ab" * 10_000, check)
    assert regex.fullmatch("a" * 301 + "c", check)


def test_memory_is_bounded() -> None:
    assert compile_regex("(a|b)*a(a|b){300}").memory < 1_000_000
