"""Parts of an answer by value per token."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from atlas.answers.packing import AnswerPart, affordable, order_parts, rounded
from atlas.code.tools.symbol.context import plan_context

values = st.floats(0, 1, allow_nan=False)


@st.composite
def trees(draw: st.DrawFn) -> list[AnswerPart[int]]:
    """Draw parts, each after an earlier one or none."""
    count = draw(st.integers(0, 25))
    return [
        AnswerPart(
            number,
            draw(values),
            draw(st.integers(0, 60)),
            draw(st.sampled_from([None, *range(number)])) if number else None,
        )
        for number in range(count)
    ]


@given(trees(), st.floats(0, 0.1))
def test_each_part_is_once_and_after_what_it_needs(parts: list[AnswerPart[int]], least: float) -> None:
    ordered = [part.key for part in order_parts(parts, least)]
    assert len(set(ordered)) == len(ordered)
    for part in parts:
        if part.key in ordered and part.after is not None:
            assert ordered.index(part.after) < ordered.index(part.key)
    kept = {part.key: part for part in parts if part.key in ordered}
    assert all(part.rate >= least for part in kept.values())
    assert order_parts(parts, least) == order_parts(parts, least)


@given(trees())
def test_without_a_least_rate_nothing_is_left_out(parts: list[AnswerPart[int]]) -> None:
    assert sorted(part.key for part in order_parts(parts)) == list(range(len(parts)))


@given(trees(), st.integers(0, 500), st.integers(0, 100))
def test_a_larger_budget_keeps_all_and_is_worth_no_less(parts: list[AnswerPart[int]], budget: int, more: int) -> None:
    ordered = order_parts(parts)
    few, many = affordable(ordered, budget), affordable(ordered, budget + more)
    assert sum(part.price for part in ordered[:few]) <= budget
    assert few <= many
    assert sum(part.value for part in ordered[:few]) <= sum(part.value for part in ordered[:many])


def test_the_best_part_that_is_free_comes_next() -> None:
    parts = [
        AnswerPart("hit", 0.5, 20),
        AnswerPart("body", 0.4, 10, "hit"),
        AnswerPart("other", 0.2, 10),
        AnswerPart("lost", 1.0, 1, "gone"),
    ]
    assert [part.key for part in order_parts(parts)] == ["hit", "body", "other"]
    assert [part.key for part in order_parts(parts, 0.03)] == []


@given(st.lists(st.integers(1, 50), max_size=60), st.lists(st.integers(1, 50), max_size=60), st.integers(0, 2000))
def test_sections_of_a_context_share_a_budget_by_their_weights(
    source: list[int], callers: list[int], budget: int
) -> None:
    parts = plan_context({"source": source, "callers": callers}, {"callers": [1.0] * len(callers)})
    shown = parts[: affordable(parts, budget)]
    for kind in ("source", "callers"):
        numbers = [part.key[1] for part in shown if part.key[0] == kind]
        assert numbers == list(range(len(numbers))), "the items of a section keep their order"


def test_long_sections_get_tokens_by_weight_and_sure_edges_come_first() -> None:
    prices = {"source": [10] * 400, "callers": [10] * 400}
    sure = plan_context(prices, {"callers": [1.0] * 400})
    shown = sure[: affordable(sure, 2000)]
    spent = sum(part.price for part in shown if part.key[0] == "source")
    assert 1400 <= spent <= 1600, ".4 to .14"
    unsure = plan_context(prices, {"callers": [0.5] * 400})
    shown = unsure[: affordable(unsure, 2000)]
    assert sum(part.price for part in shown if part.key[0] == "source") > spent


def test_prices_are_rounded_to_tens() -> None:
    assert [rounded(tokens) for tokens in (0, 4, 14, 16, 314)] == [10, 10, 10, 20, 310]
