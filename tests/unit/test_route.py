"""What a question is taken apart into."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas._parser import split_words
from atlas.code.question.languages import LanguageRow, language_terms
from atlas.code.question.names import dotted
from atlas.code.question.parse_question import MAX_QUERY_CHARACTERS, MAX_WORDS, Query, route
from atlas.core.english.stems import base_forms
from atlas.core.model import Direction, EdgeType
from atlas.parsing import search_terms

LANGUAGES = language_terms(map(LanguageRow._make, search_terms()))


def taken_apart(text: str) -> Query:
    return route(text, split_words, LANGUAGES)


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
    relation = taken_apart(text).relation
    assert relation is not None
    assert (relation.kind, relation.name, relation.direction) == (kind, name, direction)


@pytest.mark.parametrize(
    "text",
    [
        "parse a date from a string",
        "how are calls to the database retried when it is busy",
        "tests for the login page fail sometimes",
        "x" * 300 + " callers of save_user",
        "what happens when a responder raises HTTPError",
        "what happens if add_route is called twice",
        "which Python version does it need, and what are the direct dependencies?",
    ],
)
def test_no_relation_where_a_phrase_only_occurs(text: str) -> None:
    assert taken_apart(text).relation is None


@pytest.mark.parametrize(
    ("text", "name", "reports"),
    [
        ("Cookies are lost\n\nA zone cannot impersonate its parent and forge callers of save_user.", "", True),
        ("I want to change it.\n\nWho are the callers of save_user?", "save_user", False),
        ("callers of save_user\n\nI want to change it.", "save_user", True),
        (
            "Properly verify save_user.\n\n" + "The value was never compared with the one that was stored. " * 3,
            "",
            True,
        ),
        ("what are the callers of save_user\n", "save_user", False),
        ("callers of\nsave_user", "save_user", False),
    ],
)
def test_a_relation_is_asked_for_by_the_question_or_the_title(text: str, name: str, reports: bool) -> None:
    query = taken_apart(text)
    assert (query.relation.name if query.relation else "", query.reports) == (name, reports)


def test_usage_relation_follows_every_kind_of_use() -> None:
    relation = taken_apart("usages of Cart").relation
    assert relation is not None
    assert {EdgeType.CALLS, EdgeType.REFERENCES, EdgeType.USES_TYPE, EdgeType.INHERITS} <= set(relation.types)


def test_identifiers_are_names_and_plain_words_are_not() -> None:
    query = taken_apart("how does getUserById use the session_cache in app.models.User for `cart`")
    assert query.names == ("cart", "getUserById", "session_cache", "app.models.User")


def test_single_word_is_a_name() -> None:
    assert taken_apart("checkout").names == ("checkout",)
    assert taken_apart("  Cart()  ").names == ("Cart",)


def test_short_questions_are_tried_as_one_identifier() -> None:
    assert taken_apart("dispatch request").joined == ("dispatch_request", "dispatchrequest")
    assert taken_apart("how to parse the date of a request").joined == ()


def test_paths_are_recognised_and_are_not_names() -> None:
    query = taken_apart("open src/shop/cart.py and views.ts")
    assert query.paths == ("src/shop/cart.py", "views.ts")
    assert query.names == ()


def test_words_are_split_as_the_index_is_and_stop_words_dropped() -> None:
    assert taken_apart("what is the getUserById function").words == (
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
    query = taken_apart("closes the connections")
    assert query.words == ("closes", "connections")
    assert query.variants == ("close", "clos", "connection")


@pytest.mark.parametrize("key", ["Ctrl-C", "ctrl+c", "Control-C", "^C", "ctrl c"])
def test_a_key_is_searched_by_what_it_causes(key: str) -> None:
    assert {"interrupt", "sigint", "ctrl"} <= {*(query := taken_apart(f"what does {key} do")).words, *query.variants}
    assert "eof" in taken_apart("end the input with Ctrl-D").variants
    assert not {"interrupt", "eof"} & {*taken_apart("control C code and 2^C").variants}


def test_only_stop_words_are_kept() -> None:
    assert taken_apart("what is this").words == ("what", "is", "this")


def test_tests_and_languages_are_noticed() -> None:
    query = taken_apart("unit tests of the parser in TypeScript")
    assert query.wants_tests
    assert query.languages == ("typescript",)
    assert not taken_apart("latest attestation").wants_tests


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("which page explains routing", True),
        ("where is ProxyAgent documented", True),
        ("how do I mock a request", True),
        ("where are pagers closed", False),
        ("how many callers has explain_query", False),
    ],
)
def test_questions_for_documents_are_noticed(text: str, expected: bool) -> None:
    assert taken_apart(text).wants_documents is expected


def test_long_queries_are_cut_with_a_note() -> None:
    query = taken_apart(" ".join(f"word{n}" for n in range(20_000)))
    assert len(query.text) == MAX_QUERY_CHARACTERS
    assert len(query.words) == MAX_WORDS
    assert len(query.notes) == 2


def test_hostile_text_is_quick() -> None:
    for text in ("a/" * 50_000, "callers of " * 9_000, "`" * 100_000, "a." * 50_000, "who calls " + "x" * 100_000):
        assert len(taken_apart(text).text) <= MAX_QUERY_CHARACTERS


@pytest.mark.parametrize(
    ("written", "expected"),
    [("a::b::c", "a.b.c"), ("Class#method", "Class.method"), ("p->run()", "p.run"), ("`f()`", "f"), ("f#2", "f#2")],
)
def test_names_of_other_languages(written: str, expected: str) -> None:
    assert dotted(written) == expected


@given(st.text(max_size=300))
def test_any_text_routes_the_same_way_twice(text: str) -> None:
    first = taken_apart(text)
    assert first == taken_apart(text)
    assert len(first.words) == len(set(first.words))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("which python versions are supported", True),
        ("minimum supported rust version", True),
        ("make targets for running the tests", True),
        ("github actions that build the wheels", True),
        ("console entry points of the package", True),
        ("mapper entry point for reading and writing rows", False),
        ("which http versions are supported", False),
        ("where is the configuration of a logger read", False),
    ],
)
def test_settings_of_the_project_are_configuration(text: str, expected: bool) -> None:
    assert taken_apart(text).wants_configuration is expected


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('where does "no such table" come from', ("no such table",)),
        ("who raises 'cannot resolve keyword 'foo' into field'", ("cannot resolve keyword foo into field",)),
        ("ValueError: too many values to unpack", ("too many values to unpack",)),
        ("Reverse for 'detail' not found.", ("reverse for detail not found",)),
        ("callers of `save`", ()),
        ("how does the resolver match a path", ()),
        ("resolve url patterns", ()),
    ],
)
def test_quoted_texts_and_messages_are_phrases(text: str, phrases: tuple[str, ...]) -> None:
    assert taken_apart(text).phrases == phrases


@pytest.mark.parametrize(
    ("line", "words", "constants"),
    [
        (
            r'level=error msg="Loading the file failed" file=am.yml err="undefined receiver \"team-x\" used in route"',
            ("loading the file failed", "undefined receiver team used in route"),
            (("loading the file failed",), ("undefined receiver", "used in route")),
        ),
        (
            '{"level": "error", "ts": 17, "err": "open /etc/x: no such file or directory"}',
            ("open etc no such file or directory",),
            (("no such file or directory",),),
        ),
        (
            "Incorrect Usage: flag provided but not defined: -bogus",
            ("incorrect usage flag provided but not defined bogus",),
            (("incorrect usage", "flag provided but not defined"),),
        ),
        ("callers not in tests: save_user", (), ()),
        ("fix: do not drop cookies", (), ()),
        ('who calls f(name="some text")', (), ()),
        ('ValueError: "the text" is wrong', (), ()),
    ],
)
def test_messages_in_a_line_of_a_log(line: str, words: tuple[str, ...], constants: tuple[tuple[str, ...], ...]) -> None:
    query = taken_apart(line)
    assert tuple(each.words for each in query.errors) == words
    assert tuple(each.constants for each in query.errors) == constants
    assert query.phrases[: len(words)] == words


def test_a_quoted_text_is_no_name() -> None:
    assert taken_apart('what raises "Cannot resolve keyword foo"').relation is None


def test_a_text_that_may_be_quoted_from_the_code_is_searched_as_it_stands() -> None:
    text = "No mandatory attributes allowed after a default value."
    assert taken_apart(text).verbatim == "no mandatory attributes allowed after default value"
    assert taken_apart("how are mandatory attributes ordered here").verbatim == ""
    assert taken_apart("mandatory attributes").verbatim == ""
