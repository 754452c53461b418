"""Cypher's equality, order and grouping of values, and the numbers that differ from Python's."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from atlas.adapters.stores.sqlite.cypher.expressions.conversions import to_string
from atlas.adapters.stores.sqlite.cypher.expressions.operators import ARITHMETIC
from atlas.adapters.stores.sqlite.cypher.values import compare, equals, group_key, order_key

scalars = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(-5, 5), st.sampled_from(["", "a", "1"]))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)),
    max_leaves=5,
)


@given(values, values)
def test_equality_is_symmetric_and_agrees_with_grouping(left: object, right: object) -> None:
    assert equals(left, right) == equals(right, left)
    if equals(left, right) is True:
        assert group_key(left) == group_key(right)
        assert order_key(left) == order_key(right)
    if equals(left, right) is False:
        assert group_key(left) != group_key(right)


@given(values, values, values)
def test_order_is_total(first: object, second: object, third: object) -> None:
    keys = sorted(order_key(value) for value in (first, second, third))
    assert keys[0] <= keys[1] <= keys[2]


@given(scalars, scalars)
def test_less_and_greater_exclude_each_other(left: object, right: object) -> None:
    less, greater = compare("<", left, right), compare(">", left, right)
    assert (less is None) == (greater is None)
    assert not (less and greater)


@given(st.integers(-100, 100), st.integers(-100, 100).filter(bool))
def test_division_cuts_towards_zero(left: int, right: int) -> None:
    quotient, rest = ARITHMETIC["/"](left, right), ARITHMETIC["%"](left, right)
    assert quotient == math.trunc(left / right)
    assert isinstance(quotient, int)
    assert isinstance(rest, int)
    assert quotient * right + rest == left


def test_booleans_are_not_numbers() -> None:
    assert equals(True, 1) is False
    assert group_key(True) != group_key(1)
    assert group_key(1) == group_key(1.0)


def test_floats_are_written_as_neo4j_writes_them() -> None:
    written = {
        1.0: "1.0",
        0.1: "0.1",
        1e7: "1.0E7",
        123456789.5: "1.234567895E8",
        1e-4: "1.0E-4",
        -2.5: "-2.5",
        0.0: "0.0",
    }
    assert {value: to_string(value) for value in written} == written
