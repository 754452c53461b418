"""A question for several things: each part is answered by itself, within the budget, under its own line."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.graph.absence.name_lines import NameLines
from atlas.code.graph.cards import SubjectCard
from atlas.code.tools.search.card import card_lines
from atlas.code.tools.search.search import hybrid_search
from atlas.code.tools.search.search_answer import SearchAnswer
from atlas.code.tools.search.several import SeveralAnswers
from atlas.code.tools.symbol.name_lines import name_lines

FILES = {
    "shop/cli.py": '''import argparse


def parse_colours(pairs):
    """Turn the values of --colours into a map."""
    return dict(each.split("=") for each in pairs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--colours", action="append", help="colours of the report")
    return parse_colours(parser.parse_args().colours)
''',
    "shop/orders.py": '''import httpx
import rich


class Order:
    """One order of a customer."""

    def total(self):
        return 0


def load_order(number):
    """Fetch the order from the warehouse."""
    if not number:
        raise ValueError("no order has this number at all")
    return httpx.get(str(number))


def report():
    rich.print("report")
    return Order().total()
''',
    "shop/places.py": '''import os

from shop.orders import load_order


def warehouse_url():
    """Return where the warehouse is."""
    return os.environ.get("WAREHOUSE_URL", "")


def refresh():
    load_order(warehouse_url())
''',
    "tests/test_orders.py": """from shop.orders import Order


def test_total():
    assert Order().total() == 0
""",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.12"\ndependencies = ["httpx>=0.27", "rich>=13"]\n',
}


async def test_each_part_has_its_own_line_and_answer(atlas: Atlas) -> None:
    answer = await hybrid_search(atlas, "who calls Order.total, and which tests cover it?")
    assert isinstance(answer, SeveralAnswers)
    said = answer.render().splitlines()
    first, second = said.index("1) who calls Order.total"), said.index("2) which tests cover Order.total?")
    assert any("report 21" in line for line in said[first:second]), said
    assert any("test_total" in line for line in said[second:]), said
    assert list(answer.structure()) == ["stale", "parts", "evidence"]
    assert [part.content()["asked"] for part in answer.parts] == [
        "who calls Order.total",
        "which tests cover Order.total?",
    ]


async def test_a_part_that_an_answerer_repeats_is_searched(atlas: Atlas) -> None:
    answer = await hybrid_search(atlas, "where is the --colours flag declared and which function turns it into a map?")
    assert isinstance(answer, SeveralAnswers)
    first, second = answer.parts
    assert first.answer is not None and "shop/cli.py:11" in "\n".join(first.answer.lines()).replace(": ", ":")
    assert isinstance(second.answer, SearchAnswer)
    assert second.answer.hits[0].symbol.name == "parse_colours"


async def test_every_package_of_a_list_is_answered(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "Which packages in this repo use httpx or rich?")).render()
    assert "httpx: declared by 1 project; imported by 1 file" in said
    assert "rich: declared by 1 project; imported by 1 file" in said
    other = await hybrid_search(atlas, "Which packages in this repo use orders or colours?")
    assert not isinstance(other, SeveralAnswers), "neither is a package"


async def test_hits_of_an_earlier_part_are_not_shown_again(atlas: Atlas) -> None:
    answer = await hybrid_search(
        atlas, "How is an order fetched from the warehouse and what is raised when the order has no number?"
    )
    assert isinstance(answer, SeveralAnswers)
    found = [part.answer for part in answer.parts]
    assert all(isinstance(each, SearchAnswer) for each in found)
    seen: set[str] = set()
    for each in found:
        assert isinstance(each, SearchAnswer)
        assert not any(hit.lines for hit in each.hits if hit.symbol.uid in seen)
        seen |= {hit.symbol.uid for hit in each.hits}


@pytest.mark.parametrize("budget", [300, 450, 900])
async def test_the_parts_share_the_budget(atlas: Atlas, budget: int) -> None:
    question = "How is an order fetched from the warehouse, who calls Order.total and which tests cover Order.total?"
    answer = await hybrid_search(atlas, question, token_budget=budget)
    assert isinstance(answer, SeveralAnswers)
    assert answer.evidence.tokens <= budget
    assert len(answer.parts) == 3
    assert budget < 900 or all(part.answer is not None for part in answer.parts)
    for part in answer.parts:
        assert part.answer is not None or "not answered" in "\n".join(part.lines())


async def test_names_that_nothing_has_are_said_once(atlas: Atlas) -> None:
    answer = await hybrid_search(atlas, "who calls Basket.register_all and which tests cover it?")
    assert not isinstance(answer, SeveralAnswers)
    assert answer.result().is_missing


async def test_a_limit_asks_for_one_list(atlas: Atlas) -> None:
    answer = await hybrid_search(atlas, "who calls Order.total, and which tests cover it?", limit=3)
    assert not isinstance(answer, SeveralAnswers)


async def test_one_list_answers_the_other_part_as_well(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "who calls Order.total, and which tests cover it?", limit=3)).render()
    assert "callers of" in said and "tests of" in said, said
    said = (await hybrid_search(atlas, "who calls load_order and what does it return", limit=3)).render()
    assert "signature: def load_order(number)" in said, said
    said = (await hybrid_search(atlas, "who calls load_order and how are orders shipped abroad", limit=3)).render()
    assert 'not answered: "how are orders shipped abroad"' in said, said
    said = (
        await hybrid_search(atlas, "which python versions are supported and what are the dependencies", limit=9)
    ).render()
    assert ">=3.12" in said and "httpx >=0.27" in said, said


async def test_a_statement_of_a_change_asks_for_what_breaks_and_for_tests(atlas: Atlas) -> None:
    said = (
        await hybrid_search(atlas, "I want to change Order.total, tell me what breaks and which tests to run")
    ).render()
    first, second = said.split("\n2) ")
    assert "report 21" in first and "test_total" in second, said


async def test_only_the_message_of_a_paste_is_looked_for(atlas: Atlas) -> None:
    text = "ValueError: no order has this number at all\nI get this since the update. Where does that come from?"
    answer = await hybrid_search(atlas, text)
    assert isinstance(answer, SearchAnswer)
    assert answer.nowhere == ()
    assert answer.hits[0].symbol.name == "load_order"


async def test_a_sentence_of_who_asks_is_no_message(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "I plan to split the class Order. Which functions make it?")).render()
    assert "occurs in no indexed file" not in said


def _parts(answer: object) -> list[tuple[str, str]]:
    assert isinstance(answer, SeveralAnswers)
    return [(part.title(), "\n".join(part.lines())) for part in answer.parts]


@pytest.mark.parametrize("pronoun", ["it", "them"])
async def test_a_pronoun_may_stand_for_what_the_first_part_asks_for(atlas: Atlas, pronoun: str) -> None:
    parts = _parts(await hybrid_search(atlas, f"what reads WAREHOUSE_URL and who calls {pronoun}?"))
    asked, said = parts[1]
    assert asked == "who calls `shop.places.warehouse_url`? (found above)"
    assert "refresh 12" in said


async def test_of_things_in_the_plural_a_singular_pronoun_means_the_subject(atlas: Atlas) -> None:
    whole = (await hybrid_search(atlas, "which files import httpx and what is it needed for?")).render()
    alone = (await hybrid_search(atlas, "what is httpx needed for?")).render()
    assert "used_by:" in whole and "imported_by:" in whole, "one answer says both"
    assert whole.partition("\n")[2] == alone.partition("\n")[2]
    parts = _parts(await hybrid_search(atlas, "which functions call load_order and who calls those functions?"))
    assert parts[1][0] == "who calls `shop.places.refresh`? (found above)"


async def test_a_package_that_a_search_found_is_called_a_guess(atlas: Atlas) -> None:
    parts = _parts(
        await hybrid_search(atlas, "which library gets a number from the warehouse and which files import it?")
    )
    asked, said = parts[1]
    assert asked == "which files import `httpx`? (found above, a guess)"
    assert "shop/orders.py" in said


async def test_what_names_nothing_is_not_asked_about(atlas: Atlas) -> None:
    parts = _parts(await hybrid_search(atlas, "which classes extend Order and who creates them?"))
    assert "not answered: it asks about what the part before finds" in parts[1][1]


async def test_a_function_stays_the_subject(atlas: Atlas) -> None:
    parts = _parts(await hybrid_search(atlas, "who calls load_order and what does it return?"))
    assert parts[1][0] == "what does load_order return?"


async def test_results_may_be_the_packages_of_a_report_or_the_kinds_of_a_relation(atlas: Atlas) -> None:
    parts = _parts(await hybrid_search(atlas, "which package sends the letters and which files import it"))
    # the first part finds nothing here, since meaning is switched off
    assert "not answered: it asks about what the part before finds" in parts[1][1], parts
    parts = _parts(await hybrid_search(atlas, "what calls load_order and where are those functions tested?"))
    assert "`shop.places.refresh`" in parts[1][0] and "(found above)" in parts[1][0]


def test_a_name_that_no_line_read_so_far_has_is_said_to_be_no_symbol() -> None:
    lines = [*name_lines("maxRetries", NameLines("maxRetries", more=True), is_symbol=False)]
    assert lines == ["`maxRetries` is no symbol; not all files were read for it"]
    card = SubjectCard("maxRetries", text=NameLines("maxRetries", more=True))
    assert list(card_lines([card], len)) == lines


async def test_a_statement_with_a_question_behind_its_colon_is_no_message(atlas: Atlas) -> None:
    said = (
        await hybrid_search(atlas, "An order has no number: is it fetched anyway, and what if fetching it fails?")
    ).render()
    assert "occurs in no indexed file" not in said


async def test_a_further_kind_is_asked_of_the_same_symbol(atlas: Atlas) -> None:
    answer = await hybrid_search(atlas, "is there a unit test for Order.total? also an example?")
    assert isinstance(answer, SeveralAnswers)
    assert [part.asked for part in answer.parts] == [
        "is there a unit test for Order.total?",
        "is there an example for Order.total?",
    ]
