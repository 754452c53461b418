"""What a page shows of its hits for a number of parts."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from atlas.code.tools.search.parts import LEAST, Body, PageHit, Pricing, assemble_hits, plan_page
from atlas.code.tools.symbol.symbols import SourceLine, Symbol, SymbolHit
from atlas.parsing import count_tokens

PRICING = Pricing(count_tokens)


def hit(number: int, likelihood: float, same_file: int, lines: int) -> PageHit:
    symbol = Symbol(
        f"p:f{number}", "function", f"f{number}", f"f{number}", f"a{number}.py:1", "", "def f(a)", "Sum it."
    )
    names = tuple(f"g{index} {index}" for index in range(same_file))
    found = SymbolHit(number + 1, symbol, 1.0, (), (), (), same_file=names, near=("calls load b.py:1",))
    pieces = tuple((SourceLine(index + 2, "load(cart)" if index % 3 else "pass"),) for index in range(lines))
    return PageHit(found, likelihood, (likelihood / 2,) * same_file, Body(pieces), near=(0.5,))


pages = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 5), st.integers(0, 8)), max_size=8).map(
    lambda rows: [
        hit(number, likelihood, same_file, lines)
        for number, (likelihood, same_file, lines) in enumerate(sorted(rows, reverse=True))
    ]
)


@given(pages, st.integers(0, 60))
def test_hits_keep_their_order_and_each_part_is_shown_once(page: list[PageHit], count: int) -> None:
    parts = plan_page(page, PRICING)
    shown = assemble_hits(page, parts[:count])
    assert [each.rank for each in shown] == list(range(1, len(shown) + 1))
    for each, whole in zip(shown, page, strict=False):
        numbers = [line.line for line in each.lines]
        assert numbers == sorted(set(numbers))
        assert each.same_file == whole.hit.same_file[: len(each.same_file)]
    more = assemble_hits(page, parts[: count + 1])
    assert len(more) >= len(shown)
    assert all(set(few.lines) <= set(many.lines) for few, many in zip(shown, more, strict=False))


def test_a_certain_hit_leaves_out_the_others_unless_they_are_required() -> None:
    sure = [hit(0, 0.99, 0, 0), hit(1, LEAST, 2, 3), hit(2, LEAST / 2, 0, 0)]
    shown = assemble_hits(sure, plan_page(sure, PRICING))
    assert [each.rank for each in shown] == [1]
    required = replace(PRICING, required=3)
    shown = assemble_hits(sure, plan_page(sure, required))
    assert [(each.rank, len(each.same_file)) for each in shown] == [(1, 0), (2, 2), (3, 0)]
    assert [bool(each.symbol.signature) for each in shown] == [True, False, False]


def test_the_likeliest_statements_come_first_and_unlikely_ones_are_left_out() -> None:
    first = hit(0, 0.5, 0, 3)
    page = [replace(first, body=replace(first.body, values=(0.01, 0.3, 0.0)))]
    keys = [part.key for part in plan_page(page, PRICING) if part.key[0] == "piece"]
    assert keys == [("piece", 0, 1), ("piece", 0, 0)]
    assert [line.line for line in assemble_hits(page, plan_page(page, PRICING))[0].lines] == [2, 3]


def test_a_constant_shows_its_value_before_other_hits_are_described() -> None:
    first, second = hit(0, 0.4, 0, 0), hit(1, 0.2, 0, 0)
    symbol = replace(second.hit.symbol, kind="constant", name="LIMIT", signature="LIMIT = 10", summary="")
    second = replace(second, hit=replace(second.hit, symbol=symbol))
    described = [part.key[1] for part in plan_page([first, second], PRICING) if part.key[0] == "description"]
    assert described == [1, 0]
