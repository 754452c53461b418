"""Files without definitions and documents in other formats, from a tree on disk to the answers of tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.app.main import index_project, open_atlas
from atlas.code.atlas import Atlas
from atlas.code.index.events import no_progress
from atlas.core.model import Filter
from atlas.runtime.config.load import load_settings
from tests.pipeline.trees import write_tree

TREE = {
    ".github/workflows/ci.yml": "name: CI\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n",
    "Dockerfile": "FROM python:3.12-slim\nEXPOSE 8080\nCMD serve\n",
    "db/schema.sql": "CREATE TABLE users (\n  id int\n);\n\nCREATE TABLE orders (\n  user_id int\n);\n",
    "templates/page.html": '{% extends "base.html" %}\n{% block content %}Hello{% endblock %}\n',
    "templates/base.html": "<html><body>{% block content %}{% endblock %}</body></html>\n",
    "docs/guide.rst": "Guide\n=====\n\nOrders are shipped by :func:`shop.ship_order`.\n",
    "docs/zh/guide.rst": "Guide\n=====\n\nOrders are shipped by :func:`shop.ship_order`.\n",
    "src/parse.zig": "/// Reads a number.\npub fn parseNumber(text: []const u8) !u32 {\n    return 0;\n}\n",
    "shop.py": 'def ship_order(order):\n    """Ship an order to a user."""\n',
    "config/secrets.yaml": "password: hunter2\n",
    "deep.json": "[\n" * 5_000 + "]\n" * 5_000,
    "laughs.xml": '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n<x>&b;</x>\n',
    "binary.yaml": "\x00\x01\x02\x03" * 100,
}


async def first(atlas: Atlas, question: str, where: Filter | None = None) -> str:
    found = await atlas.search(question, where or Filter(project=atlas.reader.project))
    return found.ranked[0].node.row.path if found.ranked else ""


async def test_text_is_found_from_the_first_question_on(tmp_path: Path) -> None:
    write_tree(tmp_path / "tree", TREE)
    settings = load_settings(str(tmp_path / "tree"), str(tmp_path / "data"))
    await index_project(settings, no_progress)
    async with open_atlas(settings) as atlas:
        project = atlas.reader.project
        for question, path in (
            ("where is the CI workflow", ".github/workflows/ci.yml"),
            ("what does the Dockerfile expose", "Dockerfile"),
            ("which SQL creates table users", "db/schema.sql"),
            ("which template extends base.html", "templates/page.html"),
            ("where are numbers parsed in zig", "src/parse.zig"),
            ("ship an order to a user", "shop.py"),
            ("guide to orders", "docs/guide.rst"),
        ):
            assert await first(atlas, question) == path, question
        assert await first(atlas, "users", Filter(project=project, languages=("sql",))) == "db/schema.sql"
        assert await first(atlas, "content", Filter(project=project, path="templates/p")) == "templates/page.html"
        table = await atlas.reader.store.cypher(
            "MATCH (f:File)-[:CONTAINS]->(c:Chunk) WHERE f.path = 'db/schema.sql' RETURN c.qualified_name, c.signature",
            {},
            10,
            5,
            project,
        )
        assert table.rows == (("db/schema.sql#table-users", "table users, table orders"),)
        documents = await atlas.reader.store.cypher(
            "MATCH (d)-[r:DOCUMENTS]->(f:Function) RETURN d.path, r.line ORDER BY d.path", {}, 10, 5, project
        )
        assert documents.rows == (("docs/guide.rst", 4), ("docs/zh/guide.rst", 4))
        skipped = {each.path: each.reason for each in await atlas.reader.store.skipped(project)}
        assert skipped == {"config/secrets.yaml": "secret", "binary.yaml": "binary"}


@pytest.mark.parametrize(("path", "expected"), [("deep.json", 167), ("laughs.xml", 1)])
async def test_nothing_of_hostile_text_is_expanded(tmp_path: Path, path: str, expected: int) -> None:
    write_tree(tmp_path / "tree", {path: TREE[path]})
    settings = load_settings(str(tmp_path / "tree"), str(tmp_path / "data"))
    await index_project(settings, no_progress)
    async with open_atlas(settings) as atlas:
        rows = (await atlas.reader.store.cypher("MATCH (c:Chunk) RETURN count(c)", {}, 1, 5, atlas.reader.project)).rows
    assert rows == ((expected,),)
