"""How stores compare names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from atlas.adapters.stores.shared.names import front_variants, segments, similar, suffix_matcher, tails
from atlas.core.edit_distance import distance, tolerance

TEXT = st.text("abAB_1é", max_size=8)


def reference(left: str, right: str) -> int:
    """Optimal string alignment distance by its definition."""
    rows = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in range(len(left) + 1):
        for j in range(len(right) + 1):
            if not i or not j:
                rows[i][j] = i + j
                continue
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (left[i - 1] != right[j - 1]))
            if i > 1 and j > 1 and left[i - 1] == right[j - 2] and left[i - 2] == right[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


@given(TEXT, TEXT, st.integers(0, 3))
def test_distance_is_cut_off_but_right(left: str, right: str, limit: int) -> None:
    assert distance(left, right, limit) == min(reference(left, right), limit + 1)


@given(st.text("abc", min_size=1, max_size=7))
def test_front_variants_are_one_edit_away(name: str) -> None:
    for variant in front_variants(name):
        assert reference(name, variant) == 1 and variant[:1] != name[:1]


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_similar_means_few_edits(wanted: str, name: str) -> None:
    edits = similar(wanted, name)
    assert edits is None or edits == reference(wanted, name) <= tolerance(wanted)
    if wanted and name and wanted[0] == name[0] and reference(wanted, name) <= tolerance(wanted):
        assert edits is not None


def test_segments() -> None:
    assert segments("a::b.c/d#e") == ("a", "b", "c", "d", "e")
    assert segments("C#2.f#3") == ("C#2", "f#3")
    assert segments("..a..") == ("a",)
    assert segments("") == ()


def test_tails_are_what_a_plain_name_may_be() -> None:
    assert tails("pkg/mod.py") == ["pkg/mod.py", "mod.py", "py"]
    assert tails("Class::method#2") == ["Class::method#2", "Class::method", "method"]
    assert len(tails(".".join("abcdefghijklmnopqrstuvwxyz"))) <= 13


def test_suffixes() -> None:
    assert suffix_matcher("C.f")("f", "a.b.C.f")
    assert suffix_matcher("C.f")("f", "a.C#2.f#3")
    assert not suffix_matcher("C#2.f")("f", "a.C.f")
    assert not suffix_matcher("b.f")("f", "a.b.C.f")
    assert not suffix_matcher("C.f")("f", "a.XC.f")
    assert suffix_matcher("Getting started")("Getting started", "README.md#getting-started")


@given(st.lists(st.text("ab", min_size=1, max_size=2), min_size=1, max_size=5), st.integers(0, 4))
def test_every_suffix_of_a_dotted_name_means_it(parts: list[str], start: int) -> None:
    text = ".".join(parts[min(start, len(parts) - 1) :])
    assert suffix_matcher(text)(parts[-1], ".".join(parts))
