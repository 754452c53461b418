"""The automaton behind `=~` against Python's own regular expressions, which may be slow but are right."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas.errors import QueryError
from atlas.stores.sqlite.cypher.regex import compile_regex

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


@settings(max_examples=400, deadline=None)
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
    ],
)
def test_refused(pattern: str) -> None:
    with pytest.raises(QueryError, match="regular expression"):
        compile_regex(pattern)
