"""What a question is taken apart into."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas._parser import split_words
from atlas.model import Direction, EdgeType
from atlas.search.route import MAX_QUERY_CHARACTERS, MAX_WORDS, base_forms, dotted, route


@pytest.mark.parametrize(
    ("text", "kind", "name", "direction"),
    [
        ("callers of save_user", "callers", "save_user", Direction.IN),
        ("who calls `Model.save`?", "callers", "Model.save", Direction.IN),
        ("what calls the function save", "callers", "save", Direction.IN),
        ("where is save_user called", "callers", "save_user", Direction.IN),
        ("what does get_user call?", "callees", "get_user", Direction.OUT),
        ("functions called by Flask.run", "callees", "Flask.run", Direction.OUT),
        ("subclasses of Model", "subclasses", "Model", Direction.IN),
        ("implementations of Store", "subclasses", "Store", Direction.IN),
        ("which classes extend BaseView", "subclasses", "BaseView", Direction.IN),
        ("base classes of JSONField", "bases", "JSONField", Direction.OUT),
        ("what does JSONField inherit from", "bases", "JSONField", Direction.OUT),
        ("overrides of get_queryset", "overrides", "get_queryset", Direction.IN),
        ("tests for parse_date", "tests", "parse_date", Direction.IN),
        ("usages of HttpRequest", "usages", "HttpRequest", Direction.IN),
        ("where is HttpRequest used", "usages", "HttpRequest", Direction.IN),
        ("docs for url_for", "docs", "url_for", Direction.IN),
        ("imports of app.models", "imports", "app.models", Direction.OUT),
        ("who imports app.models", "importers", "app.models", Direction.IN),
        ("where is Store::open defined", "definition", "Store.open", Direction.OUT),
    ],
)
def test_relations(text: str, kind: str, name: str, direction: Direction) -> None:
    relation = route(text, split_words).relation
    assert relation is not None
    assert (relation.kind, relation.name, relation.direction) == (kind, name, direction)
    assert route(text, split_words).names == (name,)


@pytest.mark.parametrize(
    "text",
    [
        "parse a date from a string",
        "Return the documentation for name",
        "how are calls to the database retried when it is busy",
        "tests for the login page fail sometimes",
        "x" * 300 + " callers of save_user",
    ],
)
def test_no_relation_where_a_phrase_only_occurs(text: str) -> None:
    assert route(text, split_words).relation is None


def test_usage_relation_follows_every_kind_of_use() -> None:
    relation = route("usages of Cart", split_words).relation
    assert relation is not None
    assert {EdgeType.CALLS, EdgeType.REFERENCES, EdgeType.USES_TYPE, EdgeType.INHERITS} <= set(relation.types)


def test_identifiers_are_names_and_plain_words_are_not() -> None:
    query = route("how does getUserById use the session_cache in app.models.User for `cart`", split_words)
    assert query.names == ("cart", "getUserById", "session_cache", "app.models.User")


def test_single_word_is_a_name() -> None:
    assert route("checkout", split_words).names == ("checkout",)
    assert route("  Cart()  ", split_words).names == ("Cart",)


def test_short_questions_are_tried_as_one_identifier() -> None:
    assert route("dispatch request", split_words).joined == ("dispatch_request", "dispatchrequest")
    assert route("how to parse the date of a request", split_words).joined == ()


def test_paths_are_recognised_and_are_not_names() -> None:
    query = route("open src/shop/cart.py and views.ts", split_words)
    assert query.paths == ("src/shop/cart.py", "views.ts")
    assert query.names == ()


def test_words_are_split_as_the_index_is_and_stop_words_dropped() -> None:
    assert route("what is the getUserById function", split_words).words == (
        "getuserbyid",
        "get",
        "user",
        "id",
        "function",
    )


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("closes", {"close", "clos"}),
        ("queries", {"query"}),
        ("parsing", {"pars", "parse"}),
        ("running", {"runn", "runne", "run"}),
        ("stopped", {"stopp", "stoppe", "stop"}),
        ("values", {"value", "valu"}),
        ("class", set()),
        ("this", set()),
        ("string", {"str", "stre"}),
        ("utf8s", set()),
    ],
)
def test_base_forms(word: str, forms: set[str]) -> None:
    assert set(base_forms(word)) == forms


def test_base_forms_are_searched_beside_the_words() -> None:
    query = route("closes the connections", split_words)
    assert query.words == ("closes", "connections")
    assert query.variants == ("close", "clos", "connection")


def test_only_stop_words_are_kept() -> None:
    assert route("what is this", split_words).words == ("what", "is", "this")


def test_tests_and_languages_are_noticed() -> None:
    query = route("unit tests of the parser in TypeScript", split_words)
    assert query.wants_tests
    assert query.languages == ("typescript",)
    assert not route("latest attestation", split_words).wants_tests


def test_long_queries_are_cut_with_a_note() -> None:
    query = route(" ".join(f"word{n}" for n in range(20_000)), split_words)
    assert len(query.text) == MAX_QUERY_CHARACTERS
    assert len(query.words) == MAX_WORDS
    assert len(query.notes) == 2


def test_hostile_text_is_quick() -> None:
    for text in ("a/" * 50_000, "callers of " * 9_000, "`" * 100_000, "a." * 50_000, "who calls " + "x" * 100_000):
        assert len(route(text, split_words).text) <= MAX_QUERY_CHARACTERS


@pytest.mark.parametrize(
    ("written", "expected"),
    [("a::b::c", "a.b.c"), ("Class#method", "Class.method"), ("p->run()", "p.run"), ("`f()`", "f"), ("f#2", "f#2")],
)
def test_names_of_other_languages(written: str, expected: str) -> None:
    assert dotted(written) == expected


@given(st.text(max_size=300))
def test_any_text_routes_the_same_way_twice(text: str) -> None:
    first = route(text, split_words)
    assert first == route(text, split_words)
    assert len(first.words) == len(set(first.words))
