"""The product on a real Neo4j: commands, an agent's session and the daemon, told by one setting where the index is."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from atlas.answers.items import ItemsAnswer, body_structure
from atlas.app.session import make_session
from atlas.app.toolsets import BY_NAME
from atlas.runtime.config.load import load_settings
from atlas.runtime.process.lock import lock_folder
from tests.neo4j.empty import empty_neo4j
from tests.neo4j.server import PASSWORD, guarded_uri, open_uri
from tests.surfaces.http_server import http_server
from tests.surfaces.processes import Place, atlas, server
from tests.surfaces.shop import write_files

DISCOUNT = "shop.cart.apply_discount"


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    """The shop project as files, and an empty server."""
    await (await empty_neo4j()).aclose()
    write_files(tmp_path / "shop")
    yield Place(tmp_path / "shop", tmp_path / "data")


def run(place: Place, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    words = ["index", str(place.root), "--data-dir", str(place.data)] if arguments[0] == "index" else [*arguments]
    options = arguments[1:] if arguments[0] == "index" else place.options
    return atlas(*words, *options, env={"ATLAS_STORE_URL": open_uri(), **env})


def answer(place: Place, *arguments: str, **env: str) -> dict[str, Any]:
    done = run(place, *arguments, "--json", **env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def best(found: dict[str, Any]) -> str:
    """Name of the first hit: commands and agents get it at different places."""
    hit = found["hits"][0]
    return str(hit["symbol"]["name"] if isinstance(hit, dict) else hit[0].split()[1].partition("(")[0])


def add_function(place: Place, name: str) -> None:
    file = place.root / "shop" / "cart.py"
    text = file.read_text("utf8")
    file.write_text(f"{text}\n\ndef {name}() -> int:\n    return apply_discount(7)\n", "utf8")


def test_index_search_edit_index_search(place: Place) -> None:
    first = run(place, "search", "discount")
    assert (first.returncode, "not indexed yet: indexing it first" in first.stderr) == (0, True), first.stderr
    assert answer(place, "index")["parsed"] == 0
    assert best(answer(place, "search", "apply_discount")) == "apply_discount"
    add_function(place, "zebra_price")
    # an answer has the newer file indexed first, unless that takes longer than it may wait
    until(60, lambda: bool(answer(place, "node", DISCOUNT)["evidence"]["freshness"] == "fresh"))
    again = answer(place, "index")
    assert (again["parsed"], again["written"]) == (0, 0)
    assert best(answer(place, "search", "zebra price")) == "zebra_price"
    assert "shop.cart.zebra_price shop/cart.py:" in run(place, "context", DISCOUNT).stdout
    table = answer(place, "cypher", "MATCH (f:Function {name: 'zebra_price'})-[:CALLS]->(g) RETURN g.name")
    assert table["rows"] == [["apply_discount"]]
    status = answer(place, "status")["projects"][0]
    assert (status["files"], status["vectors"]) == (6, status["chunks"])
    assert not (place.data / "atlas.db").exists()


def test_what_is_exported_is_what_the_embedded_store_exports(place: Place) -> None:
    """Facts are cached in the data folder: the second index parses nothing."""
    answer(place, "index")
    answer(place, "index", ATLAS_STORE_URL="")
    there, here = (run(place, "export", "--canonical", ATLAS_STORE_URL=url) for url in (open_uri(), ""))
    assert there.stdout == here.stdout
    assert there.stdout.count("\n") > 60


async def test_an_agents_session_over_stdio_and_http(place: Place) -> None:
    async with server(place, ATLAS_STORE_URL=open_uri(), ATLAS_MCP_INDEX_ON_DEMAND="false") as client:
        early = await client.call_tool("get_node", {"name": DISCOUNT})
        assert early.is_error
        await client.call_tool("index", {})
        found = await client.call_tool("get_node", {"name": DISCOUNT})
        assert (found.structured_content or {})["node"]["place"] == "shop/cart.py:20"
        add_function(place, "yak_price")
        await client.call_tool("index", {})
        found = await client.call_tool("hybrid_search", {"query": "yak price"})
        assert best(found.structured_content or {}) == "yak_price"
    with http_server(place, "--port", "0", ATLAS_STORE_URL=open_uri()) as served:
        assert "yak_price" in served.ask("text_search", {"query": "yak price"}).body.decode()


def test_one_process_of_a_host_writes(place: Place) -> None:
    lock = lock_folder(place.data)
    try:
        done = run(place, "index", "--no-wait")
        assert (done.returncode, "is writing to the index" in done.stderr) == (7, True), done.stderr
    finally:
        lock.release()


def until(seconds: float, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.3)


def test_the_daemon_keeps_a_server_true(place: Place) -> None:
    try:
        assert run(place, "daemon", "start").returncode == 0
        until(60, lambda: run(place, "node", DISCOUNT).returncode == 0)
        add_function(place, "ibex_price")
        until(60, lambda: run(place, "node", "shop.cart.ibex_price").returncode == 0)
        assert answer(place, "index")["by"] == "daemon"
    finally:
        assert run(place, "daemon", "stop").returncode == 0


def test_user_and_password_come_from_the_environment(place: Place) -> None:
    who = {"ATLAS_STORE_URL": guarded_uri(), "ATLAS_STORE_USER": "neo4j", "ATLAS_STORE_DATABASE": "neo4j"}
    assert answer(place, "index", **who, ATLAS_STORE_PASSWORD=PASSWORD)["files"] == 6
    wrong = run(place, "search", "discount", **who, ATLAS_STORE_PASSWORD="wrong")
    assert (wrong.returncode, "rejected the user or password" in wrong.stderr) == (2, True), wrong.stderr
    shown = run(place, "config", "show", **who, ATLAS_STORE_PASSWORD=PASSWORD).stdout
    assert "store.password" in shown and PASSWORD not in shown


def test_papers_are_nodes_on_a_server(place: Place) -> None:
    def claim(last: str, source: str) -> Path:
        file = place.root / ".knowledge" / f"{last}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"---\nid: c-01JD2V9Q7K4M8N3P5R6S7T8V9{last}\nkind: claim\nsource: {source}\n---\nOne.\n")
        return file

    def papers() -> list[list[object]]:
        query = (
            "MATCH (c:Claim)-[:SOURCE]->(p:Paper) RETURN p.qualified_name AS paper, count(c) AS claims ORDER BY paper"
        )
        rows: list[list[object]] = answer(place, "cypher", query)["rows"]
        return rows

    claim("A", "arxiv:1706.03762v5, section 3, and doi:10.18653/v1/N18-1202")
    second = claim("B", "https://doi.org/10.48550/arXiv.1706.03762")
    answer(place, "index")
    assert papers() == [["arxiv:1706.03762", 2], ["doi:10.18653/v1/n18-1202", 1]]
    shown = run(place, "node", "arxiv:1706.03762")
    assert shown.returncode == 0 and "paper, " in shown.stdout and "source of 2" in shown.stdout, shown.stdout
    second.unlink()
    claim("A", "arxiv:1810.04805")
    answer(place, "index")
    assert papers() == [["arxiv:1810.04805", 1]]
    everything = answer(place, "cypher", "MATCH (p:Paper) RETURN p.qualified_name")["rows"]
    assert everything == [["arxiv:1810.04805"]], "a paper goes with the last note that names it"


async def test_claims_and_memories_on_a_server(place: Place) -> None:
    """The same tools as on the embedded store: cases of all of them are in tests/surfaces."""
    answer(place, "index")
    settings = load_settings(str(place.root), str(place.data), environment={"ATLAS_STORE_URL": open_uri()})
    session = make_session(settings, serves_agents=True, personal=False)

    async def ask(tool: str, **arguments: object) -> dict[str, Any]:
        found = await session.answer(BY_NAME[tool], arguments, "tester/1")
        assert isinstance(found, ItemsAnswer)
        return body_structure(found.body)

    try:
        first = await ask("ingest_hypothesis", hypothesis="Discounts are never negative.", about=["apply_discount"])
        one = first["unit"][0]["id"]
        second = await ask("ingest_hypothesis", hypothesis="Discounts may be negative.", kind="decision")
        other = second["unit"][0]["id"]
        await ask("connect_propositions", **{"from": other, "to": one, "relation": "refutes"})
        await ask("remember", entity="Payments", observation="Owns the discounts.", type="team")
        assert [unit["id"] for unit in (await ask("list_propositions", filter="about:apply_discount"))["units"]] == [
            one
        ]
        assert [unit["id"] for unit in (await ask("list_propositions", order="confidence"))["units"]] == [other, one]
        assert (await ask("list_entities", type="team"))["entities"][0]["observations"] == 1
        assert (await ask("recall", query="who owns discounts"))["memories"][0]["entity"] == "Payments"
        assert (await ask("find_contradictions", claim=one))["stated"][0]["id"] == other
        lineage = await ask("find_scientific_lineage", start_concept=other, end_concept=one)
        assert [step["relation"] for step in lineage["paths"][0]["steps"]] == ["refutes"]
        file = place.root / "shop" / "cart.py"
        file.write_text(file.read_text().replace("def apply_discount(", "def apply_discount(extra, "), "utf8")
        unit = await ask("get_unit", id=one)
        assert unit["about"][0]["changed"] == ["signature"]
    finally:
        await session.aclose()
