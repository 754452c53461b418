"""The agent's journey with the index on a Neo4j: index, search, edit, index, search, over a real MCP server.

Only Django's `db.models`: all of it takes minutes there on a busy machine, which the test run has not got.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.neo4j.empty import empty_neo4j
from tests.neo4j.server import open_uri
from tests.surfaces.processes import atlas, environment

from .test_django import ask, edges, line_of, names

pytestmark = pytest.mark.e2e


async def test_index_search_edit_index_search(django_parts: Path, tmp_path: Path) -> None:
    tree = tmp_path / "project"
    shutil.copytree(django_parts / "django" / "db" / "models", tree / "django" / "db" / "models")
    await (await empty_neo4j()).aclose()
    place = ["--project", str(tree), "--data-dir", str(tmp_path / "data")]
    variables = {"ATLAS_STORE_URL": open_uri()}
    done = await asyncio.to_thread(atlas, "index", *place, env=variables, timeout=300)
    assert done.returncode == 0, done.stderr
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "atlas", "mcp", *place], env=environment(**variables)
    )
    async with Client(parameters) as client:
        found = await ask(client, "get_node", name="django.db.models.query.QuerySet")
        assert line_of(tree, found["node"]["place"]).startswith("class QuerySet(")
        answer = await ask(client, "hybrid_search", query="delete rows and collect what depends on them")
        assert any("deletion.py:" in name for name in names(answer)[:5]), names(answer)
        context = await ask(
            client, "get_context", name="django.db.models.query.QuerySet.bulk_create", token_budget=6000
        )
        for name, at, strategy, confidence in edges(context, "callees"):
            assert strategy and 0 < confidence <= 1, (name, at)
        assert "django.db.models.query.QuerySet._batched_insert" in [name for name, *_ in edges(context, "callees")]
        table = await ask(
            client,
            "cypher_query",
            query="MATCH (c:Class)-[:INHERITS]->(b:Class {qualified_name: $base}) RETURN c.qualified_name AS name ORDER BY name",
            parameters={"base": "django.db.models.fields.Field"},
        )
        assert "django.db.models.fields.CharField" in [row[0] for row in table["rows"]]
        file = tree / "django" / "db" / "models" / "utils.py"
        file.write_text(
            file.read_text("utf8") + "\n\ndef zebra_crossing():\n    return make_model_tuple('zebra.Zebra')\n", "utf8"
        )
        # indexed before the answer, or named as newer where that takes longer than an answer may wait
        known = await ask(client, "get_node", name="django.db.models.utils.make_model_tuple")
        newer = [note for note in known["evidence"].get("notes", ()) if "django/db/models/utils.py" in note]
        assert known["stale"] is bool(newer), known
        await ask(client, "index")
        answer = await ask(client, "text_search", query="zebra crossing")
        assert "zebra_crossing(" in names(answer)[0]
        context = await ask(client, "get_context", name="zebra_crossing")
        assert "django.db.models.utils.make_model_tuple" in [name for name, *_ in edges(context, "callees")]
        status = await ask(client, "status")
        assert status["projects"][0]["vectors"] == status["projects"][0]["chunks"] > 1_000
