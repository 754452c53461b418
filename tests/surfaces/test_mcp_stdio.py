"""The server as agents meet it: a process of its own, the SDK's client, both protocol eras."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from atlas._parser import VectorIndex
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.code.tools.catalogue import TOOLS
from tests.raw_database import raw

from .processes import COMMAND, Place, answer, environment, refusal, server, text_of
from .shop import fill, write_files


@pytest.fixture
def empty(tmp_path: Path) -> Place:
    """The shop project without an index."""
    place = Place(tmp_path / "shop", tmp_path / "data")
    write_files(place.root)
    return place


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_both_eras_list_and_call(place: Place, mode: str) -> None:
    async with server(place, mode=mode) as client:
        listed = await client.list_tools()
        assert len(listed.tools) == len(TOOLS)
        assert listed.tools == (await client.list_tools()).tools
        found = await answer(client, "get_node", name="apply_discount")
        assert found["outcome"] == "found"
        assert found["node"]["place"].startswith("shop/cart.py:")


async def test_each_query_tool_answers(place: Place) -> None:
    async with server(place) as client:
        hybrid = await answer(client, "hybrid_search", query="reduce the amount for customers")
        assert any(hit[0].startswith("function apply_discount(") for hit in hybrid["hits"])
        assert hybrid["evidence"]["generation"] == 1
        assert hybrid["stale"] is False
        words = await answer(client, "text_search", query="apply_discount", limit=1)
        assert words["hits"][0][0].startswith("function apply_discount")
        assert words["evidence"]["cursor"]
        further = await answer(
            client, "text_search", query="apply_discount", limit=1, cursor=words["evidence"]["cursor"]
        )
        assert further["hits"] and further["hits"] != words["hits"]
        meaning = await answer(client, "vector_search", query="customer's basket")
        assert meaning["evidence"]["notes"], "vectors of another model must not pass as an empty answer"
        context = await answer(client, "get_context", name="Cart.total")
        assert any("apply_discount" in line for line in context["source"]["text"])
        assert "shop.cart.apply_discount shop/cart.py:15 (module 0.97)" in context["edges"]["callees"]
        assert (await answer(client, "status"))["projects"][0]["files"] > 0
        assert (await answer(client, "health"))["state"] in ("ok", "degraded")
        assert any(line.startswith("Class ") for line in (await answer(client, "schema_info"))["labels"])
        table = await answer(client, "cypher_query", query="MATCH (c:Class) RETURN c.name AS name ORDER BY name")
        assert ["Cart"] in table["rows"]


async def test_text_is_the_lean_rendering_not_json_again(place: Place) -> None:
    async with server(place) as client:
        result = await client.call_tool("get_context", {"name": "Cart.total"})
        text = text_of(result)
        assert "called by" in text or "calls" in text
        with pytest.raises(ValueError, match=r"Expecting value|Extra data"):
            json.loads(text)


async def test_equal_questions_get_equal_answers(place: Place) -> None:
    async with server(place) as client:
        first = [await client.call_tool("hybrid_search", {"query": "cart store"}) for _ in range(2)]
    async with server(place) as client:
        first.append(await client.call_tool("hybrid_search", {"query": "cart store"}))
    assert first[0].content == first[1].content == first[2].content
    assert first[0].structured_content == first[2].structured_content


async def test_wrong_calls_are_answers_with_a_way_out(place: Place) -> None:
    async with server(place) as client:
        assert "Did you mean query?" in await refusal(client, "hybrid_search", qery="x")
        assert "at most 50" in await refusal(client, "hybrid_search", query="x", limit=1000)
        assert "100,000" in await refusal(client, "hybrid_search", query="x" * 102_400)
        assert "labels: " in await refusal(client, "hybrid_search", query="x", labels=["Klass"])
        unknown = await refusal(client, "hybrid_search", query="x", project="shopp")
        assert "near: shop" in unknown
        assert "outside the project" in await refusal(client, "hybrid_search", query="x", path="../../etc")
        assert "line 1, column 10" in await refusal(client, "cypher_query", query="MATCH (n RETURN n")
        assert "error:" in await refusal(client, "cypher_query", query="CREATE (n:Class {name: 'x'}) RETURN n")
        with pytest.raises(MCPError, match="unknown tool 'get_nod'; did you mean get_node"):
            await client.call_tool("get_nod", {"name": "x"})
        assert (await answer(client, "get_node", name="apply_discount"))["outcome"] == "found"


async def test_arguments_in_the_forms_that_models_write(place: Place) -> None:
    async with server(place) as client:
        plain = await answer(client, "hybrid_search", query="cart", limit=2, labels=["Class"], brief=True)
        loose = await answer(client, "hybrid_search", query="cart", limit="2", labels="Class", brief="true")
        assert plain["hits"] == loose["hits"]
        assert plain == await answer(client, "hybrid_search", query="cart", limit=2.0, labels=["Class"], brief=True)


async def test_uris_of_editors_name_files(place: Place) -> None:
    (place.root / "a b.py").write_text("def spaced(): pass\n")
    cart = (place.root / "shop" / "cart.py").as_uri()
    async with server(place) as client:
        assert (await answer(client, "get_node", name="apply_discount", path=cart))["outcome"] == "found"
        line = await answer(client, "get_node", name=f"{cart}#L15")
        assert line["node"]["uid"] == (await answer(client, "get_node", name="shop/cart.py:15"))["node"]["uid"]
        hits = await answer(client, "hybrid_search", query="members", relation="members", of=cart)
        assert (
            hits["relation"]
            == (await answer(client, "hybrid_search", query="members", relation="members", of="shop/cart.py"))[
                "relation"
            ]
        )
        assert (await answer(client, "get_node", name="spaced", path=(place.root / "a b.py").as_uri()))["node"]
        for outside in ("file:///etc/passwd", f"{place.root.as_uri()}/../secret", "file://elsewhere/shop/cart.py"):
            for argument in ({"path": outside}, {"of": outside, "relation": "members"}):
                text = await refusal(client, "hybrid_search", query="cart", **argument)
                assert "outside the project" in text
                assert "root:" not in text


async def test_a_budget_of_one_token_has_a_defined_answer(place: Place) -> None:
    async with server(place) as client:
        for tool, arguments in (
            ("hybrid_search", {"query": "cart"}),
            ("get_node", {"name": "Cart"}),
            ("get_context", {"name": "Cart"}),
            ("schema_info", {}),
            ("status", {}),
            ("cypher_query", {"query": "MATCH (n) RETURN n.uid"}),
        ):
            content = await answer(client, tool, token_budget=1, **arguments)
            assert content["evidence"]["below_floor"] is True
            assert "too small" in content["evidence"]["withheld"][0]


async def test_without_an_index_nothing_answers_as_if_there_was_nothing(empty: Place) -> None:
    async with server(empty, ATLAS_MCP_INDEX_ON_DEMAND="false") as client:
        for tool, arguments in (
            ("hybrid_search", {"query": "cart"}),
            ("get_node", {"name": "Cart"}),
            ("cypher_query", {"query": "MATCH (n) RETURN n.uid"}),
            ("status", {}),
        ):
            text = await refusal(client, tool, **arguments)
            assert "shop is not indexed yet" in text
            assert "index tool" in text
        health = await answer(client, "health")
        assert health["state"] == "degraded"
        assert health["checks"]["index"].startswith("missing: ")
    assert not empty.data.exists(), "reading must not create a data folder"


async def test_a_first_search_tells_how_far_the_first_index_is(empty: Place) -> None:
    for number in range(300):
        names = "\n".join(f"def made_{number}_{one}(): return {one}" for one in range(40))
        (empty.root / f"many{number}.py").write_text(names)
    told: list[tuple[float, float | None, str | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with server(empty) as client:
        result = await client.call_tool("hybrid_search", {"query": "made_7_3"}, progress_callback=tell)
        assert "made_7_3" in text_of(result)
        during = list(told)
        await client.call_tool("hybrid_search", {"query": "made_8_3"}, progress_callback=tell)
    assert during
    assert [one[0] for one in during] == sorted({one[0] for one in during})
    assert {one[1] for one in during} == {100}
    assert told == during, "an index that is complete needs no progress"


async def test_an_index_that_appears_later_is_found(empty: Place) -> None:
    async with server(empty, ATLAS_MCP_INDEX_ON_DEMAND="false") as client:
        assert "not indexed" in await refusal(client, "get_node", name="Cart")
        store = EmbeddedStore.open(empty.data, writing=True, vector_index=VectorIndex)
        await fill(store, empty.root)
        await store.aclose()
        assert (await answer(client, "get_node", name="Cart"))["outcome"] == "found"


async def test_an_index_that_is_rebuilt_is_opened_anew(place: Place) -> None:
    async with server(place) as client:
        assert (await answer(client, "get_node", name="Cart"))["outcome"] == "found"
        store = EmbeddedStore.open(place.data, writing=True, vector_index=VectorIndex, reset=True)
        await fill(store, place.root)
        await store.aclose()
        assert (await answer(client, "get_node", name="Cart"))["outcome"] == "found"


async def test_a_store_of_another_version_and_a_damaged_one_say_so(place: Place) -> None:
    connection = raw(place.data / "atlas.db")
    connection.execute("UPDATE meta SET value = '999' WHERE key = 'schema'")
    connection.close()
    async with server(place) as client:
        assert "999" in await refusal(client, "get_node", name="Cart")
        health = await answer(client, "health")
        assert health["state"] == "broken"
    for suffix in ("-wal", "-shm"):
        (place.data / f"atlas.db{suffix}").unlink(missing_ok=True)
    (place.data / "atlas.db").write_bytes(b"not a database" * 1000)
    async with server(place) as client:
        assert "atlas index --full" in await refusal(client, "get_node", name="Cart")


async def test_a_resource_is_an_answer_with_its_evidence(place: Place) -> None:
    file = place.root / "shop" / "cart.py"
    file.write_text(file.read_text() + "\n# changed\n")
    async with server(place) as client:
        for uri in ("atlas://node/shop:shop.cart.Cart.total", "atlas://file/shop/cart.py"):
            (content,) = (await client.read_resource(uri)).contents
            assert content.text.startswith("[shop @1, ")
            assert "stale: shop/cart.py (changed on disk)" in content.text


async def test_toolsets_limit_the_tools(place: Place) -> None:
    async with server(place, "--toolsets", "query") as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools[0] == "hybrid_search"
        assert not {"index", "status", "health"} & set(tools)
        with pytest.raises(MCPError, match="unknown tool 'index'"):
            await client.call_tool("index", {})


def test_an_unknown_toolset_ends_the_server_at_once(place: Place) -> None:
    refused = subprocess.run(
        [*COMMAND, "mcp", "--toolsets", "code,claim", *place.options],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "unknown toolset 'claim'" in refused.stderr
    assert "Toolsets: code, query, claims, memory, packs." in refused.stderr


async def test_stale_files_are_named(place: Place) -> None:
    file = place.root / "shop" / "cart.py"
    file.write_text(file.read_text() + "\n# changed\n")
    async with server(place, ATLAS_MCP_ALLOW_INDEX="false") as client:
        found = await answer(client, "get_node", name="apply_discount", path="shop/cart.py")
        assert found["evidence"]["stale_files"] == {"shop/cart.py": "changed on disk"}
        assert found["stale"] is True
        assert next(iter(found)) == "stale"
        other = await answer(client, "get_node", name="shop/half.py")
        assert other["stale"] is True
        assert "stale_files" not in other["evidence"], "this answer cites no file that has changed"
        assert any("1 changed (shop/cart.py)" in note for note in other["evidence"]["notes"])


def test_end_of_input_ends_the_server_and_only_the_protocol_is_on_stdout(place: Place) -> None:
    process = subprocess.Popen(
        [*COMMAND, "mcp", *place.options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
    ]
    started = time.perf_counter()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    seconds = time.perf_counter() - started
    assert {one["id"] for one in answers} == {1, 2}
    rest, log = process.communicate(timeout=20)
    assert process.returncode == 0
    assert rest == ""
    assert log == ""
    print(f"start to tools/list: {seconds:.2f} s")


async def test_many_calls_at_once_get_their_own_answers(place: Place) -> None:
    names = ["Cart", "apply_discount", "Store", "nobody", "Cart.total"] * 6
    async with server(place) as client:
        answers = await asyncio.gather(*(answer(client, "get_node", name=name, path="shop/") for name in names))
    for name, found in zip(names, answers, strict=True):
        if name == "nobody":
            assert found["outcome"] == "not_found"
        else:
            uids = [found["node"]["uid"]] if "node" in found else found["candidates"]
            assert all(name in uid for uid in uids)
