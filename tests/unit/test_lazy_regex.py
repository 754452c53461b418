"""A pattern of a module is compiled with its first use, and then costs what a compiled one costs."""

from __future__ import annotations

import re

import pytest

from atlas.core.lazy_regex import LazyRegex, lazy_regex


def test_a_pattern_is_compiled_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    real = re.compile
    monkeypatch.setattr(re, "compile", lambda pattern, flags=0: compiled.append(pattern) or real(pattern, flags))
    made = lazy_regex(r"(?P<word>o+)(\d)?", re.IGNORECASE)
    assert made.pattern == r"(?P<word>o+)(\d)?" and not compiled
    assert made.sub("0", "fOo bar") == "f0 bar"
    found = made.search("fOo bar")
    assert found is not None and found["word"] == "Oo" and made.fullmatch("oo5") and not made.match("foo")
    assert [made.findall("o o"), made.split("aob"), [each[0] for each in made.finditer("o O")]] == [
        real(made.pattern, re.I).findall("o o"),
        ["a", "o", None, "b"],
        ["o", "O"],
    ]
    assert compiled == [made.pattern]
    assert made.groups == 2 and dict(made.groupindex) == {"word": 1} and made.flags == re.IGNORECASE | re.UNICODE


def test_patterns_of_bytes_and_wrong_ones() -> None:
    assert lazy_regex(rb"a+").sub(b"b", b"caat") == b"cbt"
    wrong = lazy_regex("(")
    assert isinstance(wrong, LazyRegex)
    with pytest.raises(re.error, match="missing \\)"):
        wrong.search("x")
