"""Fusion of rankings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas.code.retrieve.fuse import fuse_rrf, normalised, order, weighted
from atlas.core.model import Scored

uids = st.sampled_from([f"p:{name}" for name in "abcdefgh"])
rankings = st.lists(
    st.dictionaries(uids, st.floats(0, 100)).map(
        lambda scores: [
            Scored(uid, score) for uid, score in sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        ]
    ),
    min_size=1,
    max_size=4,
)


def test_rrf_is_the_published_formula() -> None:
    words = [Scored("a", 9.0), Scored("b", 5.0), Scored("c", 1.0)]
    meaning = [Scored("b", 0.9), Scored("d", 0.8)]
    fused = dict(fuse_rrf([words, meaning]))
    assert fused["b"] == pytest.approx(1 / 62 + 1 / 61)
    assert fused["a"] == pytest.approx(1 / 61)
    assert fused["d"] == pytest.approx(1 / 62)
    assert [hit.uid for hit in fuse_rrf([words, meaning])] == ["b", "a", "d", "c"]


def test_rrf_ignores_the_size_of_scores() -> None:
    assert fuse_rrf([[Scored("a", 1000.0), Scored("b", 0.1)]]) == fuse_rrf([[Scored("a", 2.0), Scored("b", 1.9)]])


def test_weighted_keeps_the_distance_of_scores() -> None:
    words = [Scored("a", 10.0), Scored("b", 1.0)]
    meaning = [Scored("b", 0.8), Scored("a", 0.7)]
    fused = order(weighted([words, meaning], [0.4, 0.6]))
    assert [hit.uid for hit in fused] == ["a", "b"]
    assert dict(fused)["b"] == pytest.approx(0.4 * 0.1 + 0.6)


def test_normalised_has_best_one_and_no_negatives() -> None:
    assert normalised([Scored("a", 4.0), Scored("b", 1.0), Scored("c", -1.0)]) == {"a": 1.0, "b": 0.25, "c": 0.0}
    assert normalised([Scored("a", 0.0)]) == {"a": 0.0}
    assert normalised([]) == {}


@given(rankings)
def test_every_candidate_survives_once_in_a_stable_order(given_rankings: list[list[Scored]]) -> None:
    expected = {hit.uid for ranking in given_rankings for hit in ranking}
    for fused in (fuse_rrf(given_rankings), order(weighted(given_rankings, [1.0] * len(given_rankings)))):
        assert {hit.uid for hit in fused} == expected
        assert len(fused) == len(expected)
        assert fused == sorted(fused, key=lambda hit: (-hit.score, hit.uid))


@given(rankings)
def test_rrf_does_not_depend_on_the_order_of_rankings(given_rankings: list[list[Scored]]) -> None:
    forward, backward = dict(fuse_rrf(given_rankings)), dict(fuse_rrf(given_rankings[::-1]))
    assert forward == pytest.approx(backward)


def test_weights_must_match_rankings() -> None:
    with pytest.raises(ValueError, match="zip"):
        weighted([[Scored("a", 1.0)]], [0.4, 0.6])
