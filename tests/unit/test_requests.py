"""What a text asks: one thing, which is left as it is, or several, each of which can be asked alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas.code.question.requests.several import MOST_REQUESTS, quote_pasted, read_requests
from tests.unit.test_grammar import ROWS

SEVERAL = (
    (
        "I want to change Cart.total, tell me what breaks and which tests to run",
        "tell me what breaks if I change Cart.total",
        "which tests to run for Cart.total",
    ),
    (
        "I am about to touch load_cart. Tell me what breaks and which specs I should run.",
        "Tell me what breaks if I change load_cart",
        "which specs I should run for load_cart",
    ),
    (
        "I need to know who calls load_cart and which tests cover it",
        "I need to know who calls load_cart",
        "which tests cover load_cart",
    ),
    ("who calls Cart.total, and which tests cover it?", "who calls Cart.total", "which tests cover Cart.total?"),
    (
        "where is the --retries option declared and which function reads its value?",
        "where is the --retries option declared",
        "which function reads value of --retries?",
    ),
    (
        "I want to add a method to the shop.Store interface. Which types implement it, and what other code is affected?",
        "Which types implement shop.Store",
        "what other code is affected if I change shop.Store",
    ),
    (
        "When an order fails, what rolls the payment back and where is the customer told?",
        "what rolls the payment back when an order fails",
        "where is the customer told when an order fails",
    ),
    (
        "what does load_orders in shop/orders.py import and who imports that file?",
        "what does load_orders in shop/orders.py import",
        "who imports shop/orders.py?",
    ),
    (
        "What is the default page size, and is there an environment variable that changes the log level?",
        "What is the default page size",
        "is there an environment variable that changes the log level?",
    ),
    (
        "default connectTimeout, readTimeout and retry limit of Client? also how many sockets does the pool keep",
        "default connectTimeout of Client",
        "default readTimeout of Client",
        "default retry limit of Client",
        "how many sockets does the pool keep",
    ),
    (
        "How is the session key generated and which option names the file it is read from?",
        "How is the session key generated",
        "which option names the file session key is read from?",
    ),
    (
        "what imports pkg/cart, and what does cart itself import from this module?",
        "what imports pkg/cart",
        "what does cart itself import from this module?",
    ),
    (
        "Does the server need LibZ? If not, which folder pulls it in?",
        "Does the server need LibZ?",
        "which folder pulls LibZ in?",
    ),
    (
        "If I change how the lock file is found (lock_path), which modules are affected, and who writes there?",
        "which modules are affected if I change lock_path",
        "who writes in lock_path?",
    ),
    (
        "is there a unit test for LruCache? also a benchmark?",
        "is there a unit test for LruCache?",
        "is there a benchmark for LruCache?",
    ),
    (
        "Who raises and who catches StockError?",
        "Who raises StockError?",
        "who catches StockError?",
    ),
    (
        "What throws the error for orders that get too large? I want to export it and need to know who depends on it.",
        "What throws the error for orders that get too large?",
        "need to know who depends on error for orders that get too large.",
    ),
    (
        "is zlib mandatory? how does the build find it",
        "is zlib mandatory?",
        "how does the build find zlib",
    ),
    ("where's zlib used and is it required at runtime?", "where's zlib used", "is zlib required at runtime?"),
    (
        "Who fires order_paid and who in the package listens to it?",
        "Who fires order_paid",
        "who in the package listens to order_paid?",
    ),
    (
        "is the zlib package needed to run with --fast? who imports it",
        "is the zlib package needed to run with --fast?",
        "who imports the zlib package",
    ),
    (
        "Since when is that refused? Who asked for it?",
        "Since when is that refused?",
        "Who asked for it?",
    ),
    (
        "which modules pass LibZ on, which only need it for their tests, and where is the port chosen?",
        "which modules pass LibZ on",
        "which only need LibZ for their tests",
        "where is the port chosen?",
    ),
    ("where is Cart created, who extends Order, and what tests cover Shop?", "where is Cart created", *(
        "who extends Order", "what tests cover Shop?")),
)  # fmt: skip

ONE = (
    "How often is a failing order sent again, and for which codes?",
    "How do we get from main to Cart.total? give me the chain of calls",
    "How does main get to Cart.total? show the call path",
    "how does the parser decide whether to skip a line and when to stop",
    "what decides which class is used and how it is built",
    "Where is cert.check invoked, i.e. who enforces the pins?",
    "Is Cart.add called anywhere or is it dead?",
    "Who introduced load_orders and when, and what was the point of that commit?",
    "which commits changed pkg/cart since v2, and who made them?",
    "In what order are the sources read? Where is that order coded?",
    "Who last touched orders.py and why?",
    "which functions call Cart.total and which do not",
    "where is Cart.total defined and who calls it",
    "the reader, which is slow, keeps all lines",
    "I want to rename Cart.total. What would break?",
    "What implements Store? Include test doubles.",
    "callers of Cart.add and Cart.remove",
    "where are include and exclude entries expanded into combinations",
    'who logs "the order failed, and what happens is unknown"',
    "Add the default of a field, and return what it was before.",
    "",
    ". : who calls Cart.total?",
    "-- ; , and what",
)


@pytest.mark.parametrize("row", SEVERAL, ids=lambda row: row[0][:40])
def test_each_request_can_be_asked_alone(row: tuple[str, ...]) -> None:
    text, *requests = row
    read = read_requests(text)
    assert read is not None
    assert [each.text for each in read.requests] == requests
    assert not read.are_alternatives


@pytest.mark.parametrize("text", ONE)
def test_one_request_stays_as_it_is(text: str) -> None:
    assert read_requests(text) is None


def test_the_phrasings_of_relations_ask_one_thing() -> None:
    assert [question for question, _ in ROWS if read_requests(question) is not None] == []


def test_a_question_about_packages_is_asked_for_each_name_of_its_list() -> None:
    read = read_requests("Which modules use requests or httpx?")
    assert read is not None and read.are_alternatives
    assert [each.text for each in read.requests] == ["Which modules use requests?", "Which modules use httpx?"]
    assert read_requests("which functions use caching or logging in shop?") is None


@given(st.text(alphabet="aWho it,.?;`\" andwhichis'-", max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    read = read_requests(text)
    assert read is None or 1 < len(read.requests) <= MOST_REQUESTS
    assert isinstance(quote_pasted(text), str)


def test_of_a_pasted_message_only_its_line_is_quoted() -> None:
    told = "OrderError: no order has this number\nI got this after the update. Where does it come from?"
    assert quote_pasted(told) == "“no order has this number” I got this after the update. Where does it come from?"
    pointed = "no `order` has this number\n^ which code prints it?"
    assert quote_pasted(pointed) == "“no `order` has this number” which code prints it?"


@pytest.mark.parametrize(
    "text",
    [
        "where is this raised?\nno order has this number",
        "Fix the totals\n\nThey were rounded twice. Who calls round?",
        "I renamed a method\nwho calls it?",
        "no order has this number",
        "first line of a note\nsecond line of a note",
    ],
)
def test_other_texts_of_several_lines_are_not_quoted(text: str) -> None:
    assert quote_pasted(text) == text


def test_which_one_may_be_asked_of_the_results_before() -> None:
    read = read_requests("What implements Store, and which of them can be closed?")
    assert read is not None
    assert [each.is_among for each in read.requests] == [False, True]


@pytest.mark.parametrize("clause", ["what runs in each?", "what happens in each of them?"])
def test_what_is_asked_of_each_result_stays_with_the_question_for_them(clause: str) -> None:
    assert read_requests(f"Who starts jobs through run_later, and {clause}") is None
