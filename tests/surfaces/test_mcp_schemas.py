"""What `tools/list` says: small, true to the functions, and held by every answer."""

from __future__ import annotations

import inspect
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from opentelemetry import trace

from atlas._parser import count_tokens
from atlas.answers.answer import Answer, structure_text
from atlas.answers.schema import check_arguments
from atlas.app.toolsets import BY_NAME, TOOLSETS, offered_tools
from atlas.code.atlas import Atlas
from atlas.code.tools.catalogue import INSTRUCTIONS, QUERIES, TOOLS
from atlas.code.tools.state.index import status
from atlas.code.tools.symbol.symbol_answers import ContextAnswer
from atlas.core.errors import ConfigError
from atlas.server.mcp import make_server

NAMES = (
    "hybrid_search text_search vector_search get_node get_context impact cypher_query index status health schema_info"
)

CALLS: list[tuple[str, dict[str, object]]] = [
    ("hybrid_search", {"query": "discount"}),
    ("hybrid_search", {"query": "callers of apply_discount"}),
    ("hybrid_search", {"query": "discount", "token_budget": 1}),
    ("text_search", {"query": "nothing_like_this_anywhere"}),
    ("vector_search", {"query": "basket of goods", "limit": 2}),
    ("get_node", {"name": "apply_discount"}),
    ("get_node", {"name": "Cart.save"}),
    ("get_node", {"name": "applydiscount"}),
    ("get_node", {"name": "no_such_name_at_all"}),
    ("get_node", {"name": "Cart", "token_budget": 1}),
    ("get_context", {"name": "Cart.total"}),
    ("get_context", {"name": "Cart", "token_budget": 200}),
    ("get_context", {"name": "nowhere"}),
    ("impact", {"name": "apply_discount"}),
    ("impact", {"name": "apply_discount", "format": "mermaid"}),
    ("impact", {"name": "no_such_name_at_all"}),
    ("impact", {"name": "apply_discount", "token_budget": 60}),
    ("hybrid_search", {"query": "impact of apply_discount"}),
    ("hybrid_search", {"query": "what changed recently"}),
    ("status", {}),
    ("status", {"skipped": True, "everything": True}),
    ("schema_info", {}),
    ("schema_info", {"token_budget": 200}),
    ("hybrid_search", {"query": "keep values in the basket"}),
    ("hybrid_search", {"query": "keep values in the basket", "brief": True}),
    ("hybrid_search", {"query": "keep values in the basket", "snippets": True, "limit": 3}),
    ("hybrid_search", {"query": "callers of nobody_at_all"}),
    ("hybrid_search", {"query": "how does test_total reach apply_discount"}),
    ("hybrid_search", {"query": "subclasses of Store"}),
]
TABLES: list[tuple[str, dict[str, object]]] = [
    ("cypher_query", {"query": query})
    for query in (
        "MATCH (n:Class) RETURN n",
        "MATCH (n) RETURN count(n)",
        "MATCH (n) RETURN n.label AS label, count(*) AS symbols ORDER BY symbols DESC",
        "MATCH (a)-[r:CALLS]->(b) RETURN a, r, b",
        "MATCH p = (:Function)-[:CALLS]->(:Method)-[:CALLS]->() RETURN p",
        "MATCH (n:Function) RETURN properties(n)",
        "MATCH (n:Class) RETURN collect(n.name), {kind: 'class', none: null}",
        "MATCH (n:Nothing) RETURN n",
    )
]


def test_the_tools_in_their_order() -> None:
    assert [tool.name for tool in TOOLS] == NAMES.split()
    assert {tool.name for tool in QUERIES} | {"index", "status", "health"} == set(NAMES.split())


async def test_all_schemas_together_cost_at_most_2400_tokens() -> None:
    server = make_server(None)  # type: ignore[arg-type]
    entry = server.get_request_handler("tools/list")
    assert entry is not None
    listed = await entry.handler(None, None)  # type: ignore[arg-type]
    wire = listed.model_dump(by_alias=True, mode="json", exclude_none=True)
    tokens = count_tokens(json.dumps(wire, ensure_ascii=False, separators=(",", ":")))
    assert 1_000 < tokens <= 2_400
    assert count_tokens(INSTRUCTIONS) <= 150


async def test_annotations_tell_readers_from_writers() -> None:
    server = make_server(None)  # type: ignore[arg-type]
    listed = await server.get_request_handler("tools/list").handler(None, None)  # type: ignore[union-attr,arg-type]
    for tool in listed.tools:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (tool.name != "index")
        assert tool.annotations.destructive_hint is False
        assert tool.annotations.idempotent_hint is True
        assert tool.annotations.open_world_hint is False


async def test_index_is_not_offered_when_it_is_not_allowed() -> None:
    server = make_server(None, offer_index=False)  # type: ignore[arg-type]
    listed = await server.get_request_handler("tools/list").handler(None, None)  # type: ignore[union-attr,arg-type]
    assert [tool.name for tool in listed.tools] == [name for name in NAMES.split() if name != "index"]


@pytest.mark.parametrize("name", BY_NAME)
def test_arguments_are_those_of_the_function(name: str) -> None:
    tool = BY_NAME[name]
    context, *parameters = inspect.signature(tool.function).parameters.values()
    assert context.default is context.empty
    arguments = {tool.parameters.get(argument, argument) for argument in tool.arguments}
    own = {parameter.name for parameter in parameters}
    assert arguments <= own
    assert own - arguments <= {
        "timeout",
        *({"limit"} if name == "impact" else ()),
    }, "an argument that agents cannot give"
    needed = {parameter.name for parameter in parameters if parameter.default is parameter.empty}
    assert {tool.parameters.get(argument, argument) for argument in tool.required} == needed


@pytest.mark.parametrize("name", BY_NAME)
def test_a_handler_stands_in_the_folder_of_its_toolset(name: str) -> None:
    handler = BY_NAME[name].handler
    assert isinstance(handler, str)
    feature = next(one for one in TOOLSETS.values() if any(tool.name == name for tool in one.tools)).name
    room = {"code": "code", "query": "code", "claims": "knowledge", "memory": "knowledge", "packs": "packs"}[feature]
    assert handler.startswith(f"atlas.{room}.tools.")


async def call(atlas: Atlas, name: str, arguments: dict[str, object]) -> Answer:
    return await (status(atlas, **arguments) if name == "status" else BY_NAME[name].run(atlas, arguments))


def schemas_of(schema: object) -> Iterator[dict[str, Any]]:
    """Yield every schema in a schema, itself first."""
    if isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            if key == "properties":
                for inner in value.values():
                    yield from schemas_of(inner)
            elif key == "items":
                yield from schemas_of(value)


KEYWORDS = frozenset(
    {"type", "description", "properties", "required", "additionalProperties", "items", "enum", "default"}
    | {"minimum", "maximum", "minLength", "maxLength", "maxItems", "words", "place"}
)
"""The keywords that `atlas.answers.schema` and `atlas.answers.file_uri` read; clients see neither of the last two."""


@pytest.mark.parametrize("name", BY_NAME)
def test_schemas_are_valid_and_use_only_checked_keywords(name: str) -> None:
    tool = BY_NAME[name]
    for schema in (tool.input_schema, tool.output_schema):
        jsonschema.Draft202012Validator.check_schema(schema)
        for part in schemas_of(schema):
            assert set(part) <= KEYWORDS
    assert tool.input_schema["additionalProperties"] is False


@pytest.mark.parametrize(("name", "arguments"), CALLS)
async def test_answers_hold_their_output_schema_and_budget(
    shop: Atlas, name: str, arguments: dict[str, object]
) -> None:
    tool = BY_NAME[name]
    result = await call(shop, name, check_arguments(tool.input_schema, arguments))
    content = result.structure()
    jsonschema.validate(content, tool.output_schema)
    unknown = set(content) - set(tool.output_schema["properties"])
    assert not unknown, f"{name} answers {unknown}, which its schema does not mention"
    if not result.evidence.below_floor:
        larger = max(count_tokens(result.render()), count_tokens(structure_text(result)))
        assert larger == result.evidence.tokens <= result.evidence.token_budget


@pytest.mark.parametrize("shop", ["embedded"], indirect=True)
@pytest.mark.parametrize(("name", "arguments"), [*CALLS, *TABLES])
async def test_structured_content_costs_at_most_a_tenth_more_than_the_text(
    shop: Atlas, name: str, arguments: dict[str, object]
) -> None:
    result = await call(shop, name, arguments)
    text, structured = count_tokens(result.render()), count_tokens(structure_text(result))
    assert structured <= 1.1 * text + quoted(result), (text, structured, structure_text(result))


def quoted(answer: Answer) -> int:
    """Return the tokens that JSON needs to quote lines of source, which the text shows as they are."""
    if not isinstance(answer, ContextAnswer) or answer.source is None:
        return 0
    lines = json.dumps(answer.source.text.split("\n"), ensure_ascii=False, separators=(",", ":"))
    return count_tokens(lines) - count_tokens(answer.source.text)


@pytest.mark.parametrize("shop", ["embedded"], indirect=True)
async def test_nodes_in_a_table_are_short_and_without_texts(shop: Atlas) -> None:
    result = await call(shop, "cypher_query", {"query": "MATCH (c:Class) RETURN c ORDER BY c.name LIMIT 1"})
    content = result.structure()
    assert content["columns"] == ["c"]
    assert content["rows"] == [["Class shop:shop.cart.Cart shop/cart.py:6"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "missing argument query"),
        ({"query": None}, "missing argument query"),
        ({"query": ""}, "query must not be empty"),
        ({"query": 3}, "query must be text, not 3"),
        ({"query": "x" * 100_001}, "query has 100,001 characters"),
        ({"query": "x", "qery": "y"}, "unknown argument 'qery'"),
        ({"query": "x", "limit": "three"}, "limit must be a whole number, not 'three'"),
        ({"query": "x", "limit": "3.5"}, "limit must be a whole number, not '3.5'"),
        ({"query": "x", "limit": "51"}, "limit must be at most 50"),
        ({"query": "x", "limit": float("inf")}, "limit must be a whole number, not inf"),
        ({"query": "x", "limit": True}, "limit must be a whole number, not True"),
        ({"query": "x", "limit": 1.5}, "limit must be a whole number, not 1.5"),
        ({"query": "x", "limit": 0}, "limit must be at least 1"),
        ({"query": "x", "limit": 51}, "limit must be at most 50"),
        ({"query": "x", "labels": {"Class": True}}, "labels must be a list"),
        ({"query": "x", "labels": "[Class"}, "labels must be a list, not '[Class'"),
        ({"query": "x", "labels": ["Class", 3]}, "labels[1] must be text"),
        ({"query": "x", "labels": ["x"] * 21}, "labels has 21 items"),
        ({"query": "x", "include_tests": "yes"}, "include_tests must be a boolean"),
        ({"query": "x", "token_budget": 0}, "token_budget must be at least 1"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_arguments(BY_NAME["hybrid_search"].input_schema, arguments)
    assert message in caught.value.message
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    ("tool", "name", "written", "meant"),
    [
        ("hybrid_search", "limit", 5.0, 5),
        ("hybrid_search", "limit", "5", 5),
        ("hybrid_search", "limit", " 5.0 ", 5),
        ("hybrid_search", "include_tests", "True", True),
        ("hybrid_search", "brief", "false", False),
        ("hybrid_search", "labels", "Class", ["Class"]),
        ("hybrid_search", "languages", "go, python", ["go", "python"]),
        ("hybrid_search", "languages", '["go", "python"]', ["go", "python"]),
        ("semantic_search", "min_confidence", "0.5", 0.5),
        ("semantic_search", "min_confidence", "1", 1.0),
        ("remember", "aliases", "Smith, John", ["Smith, John"]),
        ("update_unit", "about", "Map<K, V>", ["Map<K, V>"]),
        ("cypher_query", "parameters", '{"name": "save"}', {"name": "save"}),
        ("hybrid_search", "query", "5", "5"),
    ],
)
def test_what_can_only_mean_one_value_is_accepted(tool: str, name: str, written: object, meant: object) -> None:
    required = {each: "x" for each in BY_NAME[tool].required}
    given = check_arguments(BY_NAME[tool].input_schema, {**required, name: written})
    assert given == {**required, name: meant}
    assert type(given[name]) is type(meant)


def test_null_is_not_given() -> None:
    given = check_arguments(BY_NAME["get_node"].input_schema, {"name": "x", "path": None})
    assert given == {"name": "x"}


def test_spans_are_made_for_who_asked_for_traces_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_server(None).middleware == []  # type: ignore[arg-type]
    monkeypatch.setattr(trace, "get_tracer_provider", trace.NoOpTracerProvider)
    assert len(make_server(None).middleware) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("writes", [True, False])
@pytest.mark.parametrize("indexes", [True, False])
@pytest.mark.parametrize(
    "toolsets", [names for size in range(1, 6) for names in itertools.combinations(TOOLSETS, size)], ids=",".join
)
def test_instructions_name_only_tools_that_are_offered(toolsets: tuple[str, ...], indexes: bool, writes: bool) -> None:
    server = make_server(None, toolsets=toolsets, offer_index=indexes, offer_writes=writes)  # type: ignore[arg-type]
    text = server.instructions or ""
    offered = {tool.name for tool in offered_tools(toolsets, offer_index=indexes, offer_writes=writes)}
    assert set(re.findall(r"\w+", text)) & set(BY_NAME) <= offered
    assert ("Call hybrid_search first" in text) == ("hybrid_search" in offered)
    assert ("call index." in text) == ("index" in offered)
    assert text.count("Code Atlas answers") == ("hybrid_search" in offered)
