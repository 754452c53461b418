"""The journey of an agent: index Django, ask a real MCP server over stdio with the SDK's client, edit, ask again.

What is expected was read from Django's source by hand; each answer's `path:line` is checked against the file.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.model import Filter
from atlas.parsing import VectorIndex, split_words
from tests.surfaces.processes import environment

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def indexed(django: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    data = tmp_path_factory.mktemp("data") / "index"
    command = [sys.executable, "-m", "atlas", "index", str(django), "--data-dir", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return django, data


@asynccontextmanager
async def server(tree: Path, data: Path) -> AsyncIterator[Client]:
    arguments = ["-m", "atlas", "mcp", "--project", str(tree), "--data-dir", str(data)]
    async with Client(StdioServerParameters(command=sys.executable, args=arguments, env=environment())) as client:
        yield client


async def ask(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


def line_of(tree: Path, place: str) -> str:
    """The text at `path:line`."""
    path, _, line = place.rpartition(":")
    return (tree / path).read_text(encoding="utf-8").splitlines()[int(line) - 1]


def places(answer: dict[str, Any]) -> list[str]:
    return [" ".join(hit[1:2]) for hit in answer["hits"]]


def names(answer: dict[str, Any]) -> list[str]:
    return [" ".join(hit[1::-1]) for hit in answer["hits"]]


def edges(answer: dict[str, Any], kind: str) -> list[tuple[str, str, str, float]]:
    """(name, path:line, strategy, confidence) of the neighbours of a kind."""
    pattern = re.compile(r"(\S+) (\S+:\d+) \((\S+) ([\d.]+)\)")
    found = (pattern.fullmatch(line) for line in answer.get("edges", {}).get(kind, []))
    return [(match[1], match[2], match[3], float(match[4])) for match in found if match]


async def test_ten_questions_about_django(indexed: tuple[Path, Path]) -> None:
    tree, data = indexed
    async with server(tree, data) as client:
        # 1. an exact name
        found = await ask(client, "get_node", name="django.db.models.query.QuerySet")
        place = found["node"]["place"]
        assert place.startswith("django/db/models/query.py:")
        assert line_of(tree, place).startswith("class QuerySet(")
        # 2. a suffix
        found = await ask(client, "get_node", name="QuerySet.bulk_create")
        assert line_of(tree, found["node"]["place"]).strip() == "def bulk_create("
        # 3. an ambiguous name lists candidates and picks none
        found = await ask(client, "get_node", name="save", token_budget=4000)
        assert found["outcome"] == "ambiguous"
        assert "node" not in found or found["node"] is None
        assert any("Model.save(" in one for one in found["candidates"])
        # 4. a misspelt one offers near names
        found = await ask(client, "get_node", name="QuerySett")
        assert found["outcome"] == "not_found"
        assert any(".QuerySet(" in one for one in found["near"])
        # 5. words
        answer = await ask(client, "text_search", query="get_object_or_404", include_tests=False)
        assert "function get_object_or_404(" in names(answer)[0]
        # 6. meaning, without the words of the name
        answer = await ask(client, "hybrid_search", query="parse the body of a multipart form upload")
        assert any(
            place.startswith(("django/http/multipartparser.py", "django/http/request.py"))
            for place in places(answer)[:5]
        ), places(answer)
        # 7. the graph
        answer = await ask(client, "hybrid_search", query="callers of django.utils.text.slugify")
        assert "django/template/defaultfilters.py" in answer["relation"]["edges"], answer
        # 8. context with callers and callees, each with its evidence
        context = await ask(client, "get_context", name="django.shortcuts.get_object_or_404", token_budget=6000)
        assert "django.shortcuts._get_queryset" in [name for name, *_ in edges(context, "callees")]
        for name, at, strategy, confidence in edges(context, "callers"):
            assert "get_object_or_404" in line_of(tree, at), name
            assert 0 < confidence <= 1
            assert strategy
        # 9. Cypher
        table = await ask(
            client,
            "cypher_query",
            query="MATCH (c:Class)-[:INHERITS]->(b:Class {qualified_name: $base}) RETURN c.qualified_name AS name ORDER BY name",
            parameters={"base": "django.views.generic.base.View"},
        )
        rows = [row[0] for row in table["rows"]]
        assert {"django.views.generic.base.TemplateView", "django.views.generic.base.RedirectView"} <= set(rows)
        # 10. what is indexed
        status = await ask(client, "status")
        assert status["projects"][0]["files"] > 2_800
        assert status["projects"][0]["vectors"] == status["projects"][0]["chunks"]


async def test_edit_then_search(indexed: tuple[Path, Path]) -> None:
    tree, data = indexed
    file = tree / "django" / "shortcuts.py"
    before = file.read_text(encoding="utf-8")
    try:
        async with server(tree, data) as client:
            file.write_text(
                before + "\n\ndef zebra_crossing_lights(request):\n    return render(request, 'zebra.html')\n"
            )
            # indexed before the answer, or named as newer where that takes longer than an answer may wait
            known = await ask(client, "get_node", name="django.shortcuts.get_object_or_404")
            newer = [note for note in known["evidence"].get("notes", ()) if "django/shortcuts.py" in note]
            assert known["stale"] is bool(newer), known
            await ask(client, "index")
            answer = await ask(client, "text_search", query="zebra crossing lights")
            assert "django/shortcuts.py" in names(answer)[0] and "zebra_crossing_lights(" in names(answer)[0]
            context = await ask(client, "get_context", name="zebra_crossing_lights")
            assert "django.shortcuts.render" in [name for name, *_ in edges(context, "callees")]
    finally:
        file.write_text(before, encoding="utf-8")


SEARCHES = """Return the list of fields in the model form
how is a request routed to a view
create a new database connection object
delete the cache key if it exists
self
test that a queryset with select_related works
get set self value name return
render the template with context
QuerySet
ünïcode wörds and 数字
""".splitlines()


async def test_word_search_is_the_same_with_sqlites_own_ranking(indexed: tuple[Path, Path]) -> None:
    """The ranking that passes over rows gives every answer, score and order of the one that scores them all."""
    _, data = indexed
    own = EmbeddedStore.open(data, writing=False, vector_index=VectorIndex)
    plain = EmbeddedStore.open(data, writing=False, vector_index=VectorIndex)
    narrow = Filter(path="django/db/**", labels=("Method",), include_tests=False)
    for question in SEARCHES:
        words = split_words(question)
        for where in (Filter(), narrow):
            for limit in (1, 100, 3_000):
                expected = await plain.search_text(words, where, limit)
                assert await own.search_text(words, where, limit) == expected, (question, limit)
    await own.aclose()
    await plain.aclose()
