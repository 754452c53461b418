"""Which symbol of a bare name comes first, and how whole files match."""

from __future__ import annotations

from atlas._parser import split_words
from atlas.code.question.languages import LanguageRow, language_terms
from atlas.code.question.parse_question import is_documentation, route
from atlas.code.rank.rank import Candidate
from atlas.code.rank.symbol_order import names_first
from atlas.core.model import Node
from atlas.parsing import search_terms

from .test_rank import node

LANGUAGES = language_terms(map(LanguageRow._make, search_terms()))


def first(name: str, *nodes: Node, is_word: bool = False) -> list[str]:
    query = route(name, split_words, LANGUAGES)
    ranked = names_first([Candidate(each, 0.5) for each in nodes], query, LANGUAGES, is_word=is_word)
    return [each.node.row.qualified_name for each in ranked]


def test_exact_case_then_kind() -> None:
    method, function = node("shop.Response.request", "Method"), node("shop.request")
    kind = node("shop.Request", "Class")
    assert first("Request", method, function, kind)[0] == "shop.Request"
    assert first("request", method, kind, function)[:3] == ["shop.request", "shop.Response.request", "shop.Request"]


def test_a_type_of_another_package_before_names_in_other_case() -> None:
    method = node("shop.Cart.into_response", "Method")
    outside = node("ext:web.IntoResponse", "ExternalSymbol", "")
    assert first("IntoResponse", method, outside) == ["ext:web.IntoResponse", "shop.Cart.into_response"]
    own = node("shop.IntoResponse", "Class")
    assert first("IntoResponse", method, outside, own)[0] == "shop.IntoResponse"
    function = node("ext:web.into_Response", "ExternalSymbol", "")
    assert first("into_Response", method, function)[0] == "shop.Cart.into_response"


def test_the_newest_of_versions_beside_each_other() -> None:
    old, new = node("src.v3.Shop", "Class", "src/v3/shop.ts"), node("src.v10.web.Shop", "Class", "src/v10/web/shop.ts")
    assert first("Shop", old, new) == ["src.v10.web.Shop", "src.v3.Shop"]
    assert first("v3.Shop", old, new)[0] == "src.v3.Shop"
    elsewhere = node("lib.v11.deep.er.Shop", "Class", "lib/v11/deep/er/shop.ts")
    assert first("Shop", old, new, elsewhere) == ["src.v10.web.Shop", "lib.v11.deep.er.Shop", "src.v3.Shop"]
    beta, stable = node("api.v1beta2.Cart", "Class", "api/v1beta2/a.go"), node("api.v1.Cart", "Class", "api/v1/a.go")
    alpha = node("api.v1alpha1.Cart", "Class", "api/v1alpha1/a.go")
    assert first("Cart", alpha, beta, stable)[0] == "api.v1.Cart"


def test_overloads_are_one_hit() -> None:
    assert first("total", node("shop.total#2"), node("shop.total")) == ["shop.total"]


def test_similar_names_only_without_the_name_itself() -> None:
    other, wanted = node("shop.sums"), node("shop.get_user_name")
    assert first("getusername", other, wanted)[0] == "shop.get_user_name"
    assert first("get_usr_name", other, wanted)[0] == "shop.get_user_name"
    assert first("get_usr_name", other, wanted, is_word=True)[0] == "shop.sums"
    assert first("sums", other, node("shop.sum"))[0] == "shop.sums"


def test_documentation_asks_for_no_relation() -> None:
    assert is_documentation("Construct an Interval object")
    assert is_documentation("Send a file using :func:`send_file`")
    assert is_documentation("walks any router tree that implements the Routes interface")
    assert is_documentation("HandlerFunc builds and returns a http.Handler from the chain")
    assert not is_documentation("Cart.save calls the function write")
    assert not is_documentation("all classes the user may extend")
    assert not is_documentation("callers of Interval")
    assert not is_documentation("where is send_file used")
