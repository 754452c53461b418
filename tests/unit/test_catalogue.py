"""The catalogue: names and descriptions lead to the right tool, and toolsets offer what they say."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest

from atlas._parser import count_tokens
from atlas.app.toolsets import BY_NAME, TOOLSETS, offered_tools
from atlas.code.tools.catalogue import TOOLS
from atlas.code.tools.prompts import PROMPTS, prompt_text
from atlas.core.errors import ConfigError

TABLE = Path(__file__).parent / "data" / "intents.txt"
INTENTS = [
    (intent.strip(), tool.strip())
    for intent, _, tool in (line.partition("=>") for line in TABLE.read_text().splitlines() if line[:1] != "#")
]
K1, B = 1.2, 0.75
STOP = frozenset(
    re.findall(r"\w+", "a an and are as at by do for from how i in is it its of on or that the to which what")
)


def words(text: str) -> list[str]:
    """Lower-case words without their plural ending."""
    return [
        word[:-1] if word.endswith("s") and not word.endswith("ss") else word
        for word in re.findall(r"[a-z]+", text.lower())
        if word not in STOP
    ]


def chosen(intent: str) -> str:
    """The tool that BM25 over names and descriptions ranks first: a model does better, but not against the words."""
    documents = {tool.name: Counter(words(f"{tool.name.replace('_', ' ')} {tool.description}")) for tool in TOOLS}
    mean = sum(map(Counter.total, documents.values())) / len(documents)

    def score(name: str) -> float:
        document, total = documents[name], 0.0
        for word in words(intent):
            having = sum(word in other for other in documents.values())
            weight = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
            count = document[word]
            total += weight * count * (K1 + 1) / (count + K1 * (1 - B + B * document.total() / mean))
        return total

    return max(documents, key=score)


def test_the_table_has_sixty_intents_for_all_tools() -> None:
    assert sum(tool != "impact" for _, tool in INTENTS) >= 60
    assert {tool for _, tool in INTENTS} == {tool.name for tool in TOOLS}


@pytest.mark.parametrize("tool", sorted({tool for _, tool in INTENTS if tool in BY_NAME}))
def test_descriptions_lead_to_the_tool(tool: str) -> None:
    wrong = [(intent, chosen(intent)) for intent, wanted in INTENTS if wanted == tool and chosen(intent) != tool]
    assert not wrong


def test_toolsets_offer_tools_in_the_order_of_the_catalogue() -> None:
    assert offered_tools(["code"]) == TOOLS
    assert offered_tools(["query", "code"]) == TOOLS
    query = [tool.name for tool in offered_tools(["query"])]
    assert set(query) == {tool.name for tool in TOOLSETS["query"].tools}
    assert not {"index", "status", "health"} & set(query)
    assert all(tool.read_only for tool in offered_tools(["code"], offer_index=False))


@pytest.mark.parametrize("toolset", ["claims", "memory", "packs"])
def test_a_toolset_of_knowledge_costs_at_most_1300_tokens_of_schemas(toolset: str) -> None:
    tools = [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.declared_input,
            "outputSchema": tool.output_schema,
            "annotations": {"readOnlyHint": tool.read_only, "destructiveHint": tool.destructive},
        }
        for tool in offered_tools([toolset])
    ]
    assert {tool["name"] for tool in tools} == {tool.name for tool in TOOLSETS[toolset].tools}
    assert count_tokens(json.dumps(tools, separators=(",", ":"))) <= 1300


def test_tools_that_write_notes_can_be_left_out() -> None:
    offered = offered_tools(["code", "claims", "memory"], offer_writes=False)
    assert {"index", "get_unit", "recall"} <= {tool.name for tool in offered}
    assert not {"remember", "ingest_hypothesis", "forget"} & {tool.name for tool in offered}


@pytest.mark.parametrize(("names", "message"), [(["coed"], "unknown toolset 'coed'"), ([], "no toolset")])
def test_an_unknown_toolset_lists_those_that_exist(names: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        offered_tools(names)
    assert caught.value.hint == "Toolsets: code, query, claims, memory, packs."


def test_prompts_name_tools_that_exist_and_take_checked_values() -> None:
    for prompt in PROMPTS:
        _, text = prompt_text(prompt.name, {one.name: "the-value" for one in prompt.arguments})
        assert "the-value" in text
        assert "{" not in text
        assert {word for word in re.findall(r"\b[a-z]+_[a-z]+\b", text)} <= set(BY_NAME)
    assert "uncommitted change" in prompt_text("review_change", {})[1]
    for name, values, message in (
        ("explain", {}, "unknown prompt"),
        ("explain_symbol", {}, "missing argument symbol"),
        ("explain_symbol", {"symbol": "a\nb"}, "control characters"),
        ("explain_symbol", {"symbol": "x" * 1001}, "too long"),
        ("explain_symbol", {"name": "x"}, "unknown argument 'name'"),
    ):
        with pytest.raises(ConfigError, match=message):
            prompt_text(name, values)
