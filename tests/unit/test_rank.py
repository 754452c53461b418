"""Code-aware ranking: which of two equal text matches comes first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atlas._parser import split_words
from atlas.code.question.languages import LanguageRow, language_terms
from atlas.code.question.parse_question import route
from atlas.code.rank.grouping import group_by_file
from atlas.code.rank.rank import SCORING, Candidate, collapse, describes_one, rank
from atlas.core.model import Node, NodeRow
from atlas.parsing import search_terms

LANGUAGES = language_terms(map(LanguageRow._make, search_terms()))


def node(qualified_name: str, label: str = "Function", path: str = "shop/cart.py", **changes: object) -> Node:
    row = NodeRow(
        uid=f"shop:{qualified_name}",
        label=label,
        kind=label.lower(),
        name=qualified_name.rpartition(".")[2],
        qualified_name=qualified_name,
        path=path,
        language="python",
        line=1,
        start_line=1,
        end_line=2,
        start_byte=0,
        end_byte=10,
        signature="",
        docstring="",
        is_test=False,
        is_generated=False,
        exported=True,
        modifiers="",
        signature_digest="",
        body_digest="",
        docstring_digest="",
        text_digest="",
        chunk_digest="",
        chunk_name="",
    )
    return Node("shop", row._replace(**changes))


def order(query: str, *candidates: Candidate, demote_tests: bool = True) -> list[str]:
    ranked = rank(candidates, route(query, split_words, LANGUAGES), LANGUAGES, demote_tests=demote_tests)
    return [each.node.row.qualified_name for each in ranked]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (node("shop.total"), node("shop.TOTAL", "Value")),
        (node("shop.cart.total"), node("tests.cart.test_total", path="tests/test_cart.py", is_test=True)),
        (node("shop.cart.total"), node("shop.cart_pb2.total", is_generated=True)),
        (node("shop.cart.total"), node("shop.cart._total", exported=False)),
        (node("shop.cart.total"), node("shop.cart.sums", modifiers="declaration")),
        (node("shop.cart.total"), node("shop.total.sums", path="shop/cart.pyi")),
        (node("shop.total"), node("shop.deeply.nested.inside.total")),
        (node("shop.total"), node("ext:total", "ExternalSymbol")),
        (node("shop.total"), node("shop.cart", "Module")),
        (node("shop.sums", path="shop/discount.py"), node("shop.total", path="shop/cart.py")),
        (node("shop.Cart", "Class"), node("shop", "Project", path="")),
    ],
)
def test_of_two_equal_matches(better: Node, worse: Node) -> None:
    expected = [better.row.qualified_name, worse.row.qualified_name]
    assert order("apply a discount", Candidate(worse, 0.8), Candidate(better, 0.8)) == expected


def test_a_much_better_match_still_wins() -> None:
    test = Candidate(node("tests.test_total", is_test=True), 1.0)
    code = Candidate(node("shop.total"), 0.1)
    assert order("total", test, code)[0] == "tests.test_total"


def test_questions_about_tests_lift_them() -> None:
    test = Candidate(node("tests.test_total", path="tests/test_cart.py", is_test=True), 0.8)
    code = Candidate(node("shop.total"), 0.8)
    assert order("total of the cart", test, code)[0] == "shop.total"
    assert order("tests that check the total", test, code)[0] == "tests.test_total"


def test_a_helper_for_tests_that_the_question_names_is_demoted_less() -> None:
    helper = Candidate(node("shop.test.utils.override_settings", path="shop/test/utils.py", is_test=True), 0.8)
    other = Candidate(node("shop.settings"), 0.3)
    assert order("what does override_settings do when it ends", other, helper)[0].endswith("override_settings")
    assert order("what is done when the settings end", other, helper)[0] == "shop.settings"


def test_tests_asked_for_by_argument_are_equals() -> None:
    test = Candidate(node("shop.a", is_test=True), 0.8)
    code = Candidate(node("shop.b"), 0.8)
    assert order("total", test, code, demote_tests=False) == ["shop.a", "shop.b"]


def test_language_of_the_question_is_preferred() -> None:
    python, go = node("a.total"), node("b.total", language="go")
    assert order("total in golang", Candidate(python, 0.8), Candidate(go, 0.8))[0] == "b.total"


def test_documents_rank_below_code_for_a_report_unless_it_asks_for_them() -> None:
    page, code = node("Cookies", "DocSection", "docs/cookies.md"), node("shop.keep_port")
    scored = [Candidate(page, 0.8), Candidate(code, 0.6)]

    def first(**changes: bool) -> str:
        query = replace(route("cookies are lost", split_words, LANGUAGES), **changes)
        return rank(scored, query, LANGUAGES)[0].node.row.path

    assert first() == "docs/cookies.md"
    assert first(reports=True) == "shop/cart.py"
    assert first(reports=True, wants_documents=True) == first(reports=True, wants_reasons=True) == "docs/cookies.md"


def test_the_file_that_a_title_names_comes_first() -> None:
    one, other = node("a.read", path="src/a.py"), node("b.read", path="src/b.py")
    scored = [Candidate(one, 0.6, features={"component": 0.0}), Candidate(other, 0.55, features={"component": 1.0})]
    ranked = rank(scored, route("b: cookies are lost", split_words, LANGUAGES), LANGUAGES)
    assert [each.node.row.path for each in ranked] == ["src/b.py", "src/a.py"]


def test_central_nodes_win_between_equals() -> None:
    assert order("total", Candidate(node("a.x"), 0.8), Candidate(node("b.x"), 0.8, degree=40))[0] == "b.x"


def test_class_absorbs_its_constructor() -> None:
    constructor = Candidate(node("shop.Cart.__init__", "Method"), 0.9, ("meaning",), ("constructor match",))
    cls = Candidate(node("shop.Cart", "Class"), 0.5, ("words",))
    (only,) = collapse([constructor, cls], LANGUAGES)
    assert only.node.row.qualified_name == "shop.Cart"
    assert only.score == 0.9
    assert only.also == ("shop:shop.Cart.__init__",)
    assert set(only.channels) == {"words", "meaning"}


def test_constructor_without_its_class_stays() -> None:
    assert len(collapse([Candidate(node("shop.Cart.__init__", "Method"), 0.9)], LANGUAGES)) == 1


def test_stub_and_declaration_collapse_into_the_definition() -> None:
    source = Candidate(node("shop.cart.total"), 0.5)
    stub = Candidate(node("shop.cart.total#2", path="shop/cart.pyi"), 0.9)
    (only,) = collapse([stub, source], LANGUAGES)
    assert only.node.row.path == "shop/cart.py"
    assert only.also == ("shop:shop.cart.total#2",)


def test_definitions_of_one_name_in_several_files_are_candidates_and_one_hit() -> None:
    unix = Candidate(node("uv_close", path="src/unix/core.c"), 0.5)
    win = Candidate(node("uv_close#2", path="src/win/core.c"), 0.9)
    header = Candidate(node("uv_close#3", path="uv.h", modifiers="declaration"), 0.7)
    ranked = collapse([unix, win, header], LANGUAGES)
    assert [each.node.row.path for each in ranked] == ["src/win/core.c", "src/unix/core.c"]
    (group,) = group_by_file(ranked, route("where is a handle closed", split_words, LANGUAGES))
    assert [each.node.row.path for each in group.twins] == ["src/unix/core.c"]


def test_a_sentence_of_documentation_wants_a_function() -> None:
    names = order("Compute the total of a cart.", *(Candidate(node(n, label), 0.5) for n, label in
        (("shop.Total", "Class"), ("shop.LIMIT", "Value"), ("shop.total", "Function"))))  # fmt: skip
    assert names[0] == "shop.total"


@pytest.mark.parametrize(
    ("text", "describes"),
    [
        ("Return the total of a cart after discounts", True),
        ("Get the price of all items", True),
        ("Check that the cart has items", True),
        ("Helper class that counts the items of a cart", True),
        ("Method called when a cart is closed", True),
        ("A container of prices that have no currency", True),
        ("Appends further prices to a cart", True),
        ("Given a cart, the price of its items", True),
        ("returns the cart of a visitor", True),
        ("append prices to a cart and close it", False),
        ("carts of visitors that are closed", False),
        ("Return the total", False),
        ("Widgets for the prices of carts", False),
        ("Settings of carts that are closed", False),
        ("Support for carts older than a day", False),
        ("Get all callers of the function total", False),
        ("Where is the total of a cart computed", False),
        ("Return the total of a cart?", False),
        ("Run the tests for the discounts of carts", False),
    ],
)
def test_sentences_that_describe_one_definition_are_told_from_headings_and_questions(
    text: str, describes: bool
) -> None:
    assert describes_one(route(text, split_words, LANGUAGES)) == describes


def test_real_redefinitions_do_not_collapse() -> None:
    assert len(collapse([Candidate(node("shop.total"), 0.5), Candidate(node("shop.total#2"), 0.5)], LANGUAGES)) == 2


def test_order_does_not_depend_on_the_order_of_candidates() -> None:
    candidates = [Candidate(node(f"shop.f{n % 7}.g{n}"), (n * 37 % 11) / 11) for n in range(30)]
    assert order("total", *candidates) == order("total", *reversed(candidates))


def test_ranking_changes_scores_not_candidates() -> None:
    candidate = Candidate(node("shop.total"), 0.8, ("name",), ("exact name",))
    (ranked,) = rank([candidate], route("total", split_words, LANGUAGES), LANGUAGES)
    assert replace(ranked, score=candidate.score) == candidate


STEPS: dict[str, tuple[str, Candidate]] = {
    "files": ("apply a discount to the cart", Candidate(node("shop.total"), 0.5, features={"file": 1.0})),
    "stems": ("apply a discount to the cart", Candidate(node("shop.total"), 0.5, features={"stem": 1.0})),
    "coherence": ("apply a discount to the cart", Candidate(node("shop.total"), 0.5, features={"coherence": 1.0})),
    "file_meaning": (
        "apply a discount to the cart",
        Candidate(node("shop.total"), 0.5, features={"file_meaning": 1.0}),
    ),
    "mentions": ("apply a discount to the cart", Candidate(node("shop.total"), 0.5, features={"mentions": 1.0})),
    "coverage": ("apply a discount to the cart", Candidate(node("shop.total"), 0.5, features={"coverage": 1.0})),
    "descriptions": ("apply a discount to the cart", Candidate(node("shop.total"), 0.5, features={"description": 1.0})),
    "components": ("apply a discount to the cart", Candidate(node("shop.total"), 0.5, features={"component": 1.0})),
    "labels": ("apply a discount to the cart", Candidate(node("shop.total", "Value"), 0.5)),
    "namings": ("apply a discount to the cart", Candidate(node("shop.total"), 0.5, features={"naming": 1.0})),
    "tests": ("apply a discount to the cart", Candidate(node("shop.total", is_test=True), 0.5)),
    "generated": ("apply a discount to the cart", Candidate(node("shop.total", is_generated=True), 0.5)),
    "private": ("apply a discount to the cart", Candidate(node("shop.total", exported=False), 0.5)),
    "declarations": ("apply a discount to the cart", Candidate(node("shop.total", modifiers="declaration"), 0.5)),
    "reports": ("Discount lost\n\nIt is not applied.", Candidate(node("Cart", "DocSection", "docs/cart.md"), 0.5)),
    "kinds": ("which page explains discounts", Candidate(node("Cart", "DocSection", "docs/cart.md"), 0.5)),
    "intents": ("why discounts", Candidate(node("Cart", "ADR", "adr/1.md"), 0.5, features={"reason_wanted": 1.0})),
    "stated": ("Computes the discounts of a cart.", Candidate(node("Cart", "DocSection", "docs/cart.md"), 0.5)),
    "namesakes": ("apply a discount", Candidate(node("shop.Cart", "Class"), 0.5)),
    "copies": ("apply a discount to the cart", Candidate(node("shop.total"), 0.5, features={"copy": 1.0})),
    "windowed": ("apply a discount to the cart", Candidate(node("shop", "File", "shop.yaml", language="yaml"), 0.5)),
    "translations": ("apply a discount to the cart", Candidate(node("Cart", "DocSection", "docs/de/cart.md"), 0.5)),
    "paths": ("shop of discounts", Candidate(node("shop.total"), 0.5)),
    "central": ("apply a discount to the cart", Candidate(node("shop.total"), 0.5, degree=10)),
    "depth": ("apply a discount to the cart", Candidate(node("shop.cart.total"), 0.5)),
}
"""By each step of the score a question and a candidate whose score it changes."""


def test_each_step_of_the_score_has_a_case() -> None:
    assert tuple(STEPS) == tuple(each.name for each in SCORING)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_is_off_does_not_count(step: str) -> None:
    question, candidate = STEPS[step]
    query = route(question, split_words, LANGUAGES)
    [with_it] = rank([candidate], query, LANGUAGES)
    [without] = rank([candidate], query, LANGUAGES, off=frozenset((step,)))
    assert with_it.score != without.score
    [fused] = rank([candidate], query, LANGUAGES, off=frozenset(STEPS))
    assert fused.score == candidate.score
