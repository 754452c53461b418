"""The tools of memory, called as the MCP server calls them, on real files and a real index."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from atlas.adapters.stores.sqlite.short_term import ShortTermFile
from atlas.answers.schema import check_arguments
from atlas.app.toolsets import BY_NAME, instructions_for, offered_tools
from atlas.code.notes.note import read_note
from atlas.core.errors import NotFound
from atlas.knowledge.retrieval.conversation import seconds
from atlas.knowledge.retrieval.scoring import importance_factor

from .knowledge import Desk, Said, desk, no_report, project


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk(project(tmp_path)) as opened:
        yield opened


async def remembered(memory: Desk, entity: str, observation: str, **more: object) -> str:
    return (await memory.say("remember", entity=entity, observation=observation, **more)).id


async def entity_of(memory: Desk, name: str) -> str:
    return str((await memory.say("remember", entity=name)).data["entity"][0]["id"])


async def follow(memory: Desk, said: Said) -> None:
    """Make every call that an answer proposes."""
    assert said.data["available_actions"], said.text
    for action in said.data["available_actions"]:
        check_arguments(BY_NAME[action["tool"]].input_schema, action["arguments"])
        await memory.say(action["tool"], **action["arguments"])


async def test_an_entity_is_known_by_name_alias_and_id(memory: Desk) -> None:
    first = await memory.say(
        "remember", entity="Billing team", observation="Releases on Thursdays.", type="team", aliases=["payments"]
    )
    entity = first.data["entity"][0]["id"]
    for name in ("BILLING TEAM", "payments", entity):
        assert await entity_of(memory, name) == entity
    await remembered(memory, "billing team", "Uses Go.", aliases=["Payments", "money"], type="squad")
    (file,) = memory.files()
    note = read_note(file.read_bytes())
    assert (note.name, note.type, note.aliases) == ("Billing team", "squad", ("payments", "money"))
    assert [(one.text, one.client) for one in note.observations] == [
        ("Releases on Thursdays.", memory.client),
        ("Uses Go.", memory.client),
    ]
    async with desk(memory.place) as other:
        assert await entity_of(other, "money") == entity, "another session, by an alias that was just given"
    assert "no note" in await memory.refusal("remember", entity="e-01JD2V9Q7K4M8N3P5R6S7T8V9A", observation="x")
    await follow(memory, first)
    listed = await memory.say("list_entities")
    assert [(one["id"], one["text"], one["observations"]) for one in listed.data["entities"]] == [
        (entity, "Billing team", 2)
    ]
    await follow(memory, listed)


async def test_a_repeated_call_remembers_once(memory: Desk) -> None:
    arguments = {"entity": "Alice", "observation": "Likes tests.", "when": "7d", "idempotency_key": "a"}
    first = await memory.say("remember", **arguments)
    await asyncio.sleep(1.0)
    assert (await memory.say("remember", **arguments)).data["status"] == "repeated", "7d is another moment now"
    assert "other arguments" in await memory.refusal("remember", **{**arguments, "when": "8d"})
    without = {name: value for name, value in arguments.items() if name != "idempotency_key"}
    again = await memory.say("remember", **without)
    assert again.id != first.id and again.ids("similar") == [first.id], "shown, and not merged"


async def test_times_are_read_and_written(memory: Desk) -> None:
    old = await remembered(memory, "Alice", "Joined the company.", when="0001-01-01")
    new = await remembered(memory, "Alice", "Left the company.", when="2026-05-08T10:00:00+02:00")
    (file,) = memory.files()
    assert [one.created for one in read_note(file.read_bytes()).observations] == [
        "0001-01-01T00:00:00Z",
        "2026-05-08T08:00:00Z",
    ]
    since = {"0001-01-01": {old, new}, "2026-05-08T08:00:00Z": {new}, "2026-05-09": set[str]()}
    for moment, expected in since.items():
        found = await memory.say("recall", query="company", since=moment, entity="alice")
        assert set(found.ids("memories")) == expected, moment
    for wrong in ("soon", "999999w", "2026-13-01", "-7d", "\ud800"):
        await memory.refusal("recall", query="x", since=wrong)
        await memory.refusal("remember", entity="Bob", observation="x", when=wrong)
    assert len(memory.files()) == 1


async def test_recall_searches_notes_and_short_term_memory(memory: Desk) -> None:
    one = await remembered(memory, "Billing team", "Releases on Thursdays.")
    other = await remembered(memory, "Search team", "Releases on Mondays.")
    claim = (await memory.say("ingest_hypothesis", hypothesis="Releases are frequent.")).id
    short = (await memory.say("remember_shortterm", content="The release of today failed.")).id
    found = await memory.say("recall", query="when are releases")
    assert set(found.ids("memories")) == {one, other, claim, short}
    assert {item["entity"] for item in found.data["memories"] if "entity" in item} == {"Billing team", "Search team"}
    await follow(memory, found)
    assert short not in (await memory.say("recall", query="releases", include_shortterm=False)).ids("memories")
    of_one = await memory.say("recall", query="releases", entity="billing TEAM")
    assert of_one.ids("memories") == [one], "neither other entities nor short-term memory"
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert (await memory.say("recall", query="releases", since=tomorrow)).data["status"] == "none"
    assert len((await memory.say("recall", query="releases", limit=2)).ids("memories")) == 2
    assert "no entity" in await memory.refusal("recall", query="x", entity="nobody")


async def test_relations_create_what_is_missing(memory: Desk) -> None:
    first = await memory.say("relate", entity="Billing team", relation="works with", other="Alice")
    assert "entity Alice" in first.text and first.data["relation"][0]["type"] == "WORKS_WITH"
    again = await memory.say("relate", entity="billing team", relation="WORKS-WITH", other="alice")
    assert again.data["status"] == "unchanged" and len(memory.files()) == 2
    assert "the index has" not in first.text
    plain = await memory.say("relate", entity="Billing team", relation="reads", other="app.core.load_settings")
    assert "symbol:app.core.load_settings relates to the symbol instead" in plain.text
    code = await memory.say("relate", entity="Billing team", relation="owns", other="symbol:app.core.load_settings")
    await follow(memory, code)
    links = (await memory.say("get_unit", id=first.data["relation"][0]["from"])).data["relations"]
    assert {(link["type"], link["text"][:5]) for link in links} == {
        ("WORKS_WITH", "Alice"),
        ("READS", "app.c"),
        ("OWNS", "Read "),
    }
    assert "itself" in await memory.refusal("relate", entity="Alice", relation="KNOWS", other="alice")
    await memory.refusal("relate", entity="Alice", relation="OWNS", other="symbol:no.such.thing")
    await memory.refusal("relate", entity="Alice", relation="", other="Bob")


async def test_a_session_begins_with_identity_recent_memory_and_the_greeting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    place = project(tmp_path)
    async with desk(place, personal=True, ATLAS_MEMORY_IDENTITY="the user") as memory:
        assert "names no entity" in (await memory.say("refresh")).text
        for number in range(14):
            when = f"2026-01-{number + 1:02d}"
            await remembered(memory, "The user", f"Trait {number} of the user.", when=when, personal=True)
        await remembered(memory, "Billing team", "Releases on Thursdays.")
        await remembered(memory, "Billing team", "Writes Go.")
        await memory.say("remember_shortterm", content="Releases on Thursdays!")
        empty = await memory.say("refresh")
        assert [one["text"] for one in empty.data["identity"]][:3] == [
            "The user",
            "Trait 13 of the user.",
            "Trait 12 of the user.",
        ]
        assert [one["text"] for one in empty.data["recent"]] == ["Releases on Thursdays!"] and not empty.data["about"]
        greeted = await memory.say(
            "refresh", greeting="When does the billing team release, and what does it write? Who is the user?"
        )
        shown = [one["text"] for name in ("identity", "recent", "about") for one in greeted.data[name]]
        assert "Writes Go." in shown and "Releases on Thursdays." not in shown, "said once, by what was recent"
        assert len(shown) == len({one.casefold() for one in shown})
        await follow(memory, greeted)
        long = await memory.say("refresh", greeting=f"{'x' * 999} billing")
        assert "cut at 1000 characters" in long.text and "Writes Go." not in long.text
        small = await memory.say("refresh", greeting="billing", token_budget=300)
        assert "raise token_budget" in small.text and small.data["identity"][0]["text"] == "The user"


async def test_a_session_that_begins_with_nothing_recent_is_told_what_is_remembered(memory: Desk) -> None:
    assert "none: nothing is remembered yet" in (await memory.say("refresh", greeting="hello")).text
    await remembered(memory, "Billing team", "Releases on Thursdays.")
    await remembered(memory, "Billing team", "Writes Go.")
    said = await memory.say("refresh")
    assert "none: nothing recent; remembered: 1 entity, 2 observations" in said.text
    await follow(memory, said)
    await memory.say("ingest_hypothesis", hypothesis="Releases are frequent.")
    said = await memory.say("refresh", greeting="zebra")
    assert "nothing about the greeting; remembered: 1 entity, 2 observations, 1 claim" in said.text
    assert [one["tool"] for one in said.data["available_actions"]] == ["list_entities", "list_propositions"]


async def test_no_greeting_keeps_a_session_from_beginning(memory: Desk) -> None:
    secret = "key is AKIA" + "Z7QF2M4XB5LKD3TN"
    for greeting in ("a\0b", "\ud800 hello", "\u202eolleh", secret, "  ", "x" * 100_000):
        said = await memory.say("refresh", greeting=greeting)
        assert said.data["status"] == "none" and "\u202e" not in said.text


async def test_short_term_memory_expires(memory: Desk) -> None:
    for wrong in (0, -1, 1e9, 10**400, float("nan"), float("inf")):
        assert "ttl must be more than 0" in await memory.refusal("remember_shortterm", content="x", ttl=wrong)
    kept = await memory.say("remember_shortterm", content="The build is red.")
    assert "for 72 hours" in kept.data["summary"]
    entry = kept.data["entry"][0]
    span = datetime.fromisoformat(entry["expires"]) - datetime.fromisoformat(entry["created"])
    assert span == timedelta(hours=72) and entry["client"] == memory.client
    brief = await memory.say("remember_shortterm", content="The build is yellow.", ttl=1 / 3600)
    assert kept.id in brief.ids("related")
    await asyncio.sleep(1.1)
    assert (await memory.say("refresh")).ids("recent") == [kept.id]
    assert "may have expired" in await memory.refusal("promote", id=brief.id, entity="builds")
    assert "may have expired" in await memory.refusal("forget", id=brief.id)
    later = ShortTermFile(memory.place.data, clock=lambda: time.time() + 73 * 3600)
    assert await later.entries() == []
    await later.aclose()


async def test_similar_emotions_are_named(memory: Desk) -> None:
    first = await memory.say("remember_shortterm", content="I am furious about this, it makes me so angry!")
    second = await memory.say("remember_shortterm", content="What an outrage, I hate it, I am so angry!")
    shown = [*second.data["related"], *second.data["same_emotion"]]
    assert [(one["id"], [why.split()[0] for why in one["why"]][-1]) for one in shown if one["id"] == first.id] == [
        (first.id, "emotion")
    ]
    neutral = await memory.say("remember_shortterm", content="The port is 8080.")
    assert neutral.data["same_emotion"] == [], "no emotional hit is better than a wrong one"


async def test_memories_are_promoted_and_forgotten(memory: Desk) -> None:
    kept = await memory.say("remember_shortterm", content="Deploys need two approvals.")
    await follow(memory, kept)
    assert "no short-term memory" in await memory.refusal("promote", id=kept.id, entity="Deploys")
    again = await memory.say("remember_shortterm", content="Rollbacks need one.")
    said = await memory.say("promote", id=again.id, entity="Deploys")
    assert said.id == f"o-{again.id[2:]}" and (await memory.say("refresh")).ids("recent") == []
    assert said.id in (await memory.say("recall", query="rollbacks")).ids("memories")
    gone = await memory.say("forget", id=said.id)
    assert gone.data["deleted"][0]["text"] == "Rollbacks need one."
    assert said.id not in (await memory.say("recall", query="rollbacks")).ids("memories")
    assert "no observation" in await memory.refusal("forget", id=said.id)
    claim = (await memory.say("ingest_hypothesis", hypothesis="It works.")).id
    assert "retract_unit" in await memory.refusal("forget", id=claim)
    entity = await entity_of(memory, "Deploys")
    assert "delete the file" in await memory.refusal("forget", id=entity)
    assert "observations" in await memory.refusal("update_unit", id=entity, text="Replaces all observations?")
    third = (await memory.say("remember_shortterm", content="Third.")).id
    await memory.say("forget", id=third)
    assert third not in (await memory.say("refresh")).ids("recent")


async def test_pages_of_entities(memory: Desk) -> None:
    names = [f"Entity {number:02d}" for number in range(9)]
    for name in reversed(names):
        await remembered(memory, name, "Is there.", type="even" if int(name[-1]) % 2 == 0 else "odd")
    seen: list[str] = []
    cursor = ""
    while len(seen) < 20:
        page = await memory.say("list_entities", limit=4, cursor=cursor, token_budget=500)
        seen += [one["text"] for one in page.data["entities"]]
        cursor = page.data["evidence"].get("cursor", "")
        if not cursor:
            break
        await remembered(memory, f"Entity 0{len(seen) // 4 - 1}a", "Is new, and before the page.")
    assert [name for name in seen if not name.endswith("a")] == names and len(seen) == len(set(seen))
    odd = await memory.say("list_entities", type="ODD")
    assert [one["text"] for one in odd.data["entities"]] == [name for name in names if int(name[-1]) % 2]
    for wrong in ("WzAsIHt9LCAieCJd", "W0luZmluaXR5LCAxLCAxXQ", "!!", "Wy01LCAiYSIsICJiIl0"):
        assert "is no cursor" in await memory.refusal("list_entities", cursor=wrong)
        assert "is no cursor" in await memory.refusal("list_propositions", cursor=wrong)


async def test_a_write_is_visible_to_the_next_call_of_this_and_of_another_session(memory: Desk) -> None:
    async with desk(memory.place) as other:
        assert (await other.say("refresh")).data["status"] == "none"
        for number in range(3):
            one = await remembered(memory, "Alice", f"Has {number} cats.")
            assert one in (await memory.say("recall", query="cats", limit=50)).ids("memories")
            assert one in (await other.say("recall", query="cats", limit=50)).ids("memories")
            short = (await memory.say("remember_shortterm", content=f"Cat {number} sleeps.")).id
            assert short in (await other.say("refresh")).ids("recent")
        code = await other.say("hybrid_search", query="how many cats has Alice")
        assert "cats" in code.text, "search finds notes beside code"


async def test_memory_alone_reads_what_it_stores(tmp_path: Path) -> None:
    offered = {tool.name for tool in offered_tools(("memory",))}
    async with desk(project(tmp_path)) as memory:

        async def say(tool: str, **given: object) -> Said:
            said = Said(*await memory.session.call(BY_NAME[tool], given, no_report, memory.client, offered=offered))
            assert {action["tool"] for action in said.data["available_actions"]} <= offered, said.text
            return said

        await say("remember", entity="Checkout", observation="Payments time out on Fridays.", type="service")
        await say("relate", entity="Checkout", relation="part of", other="Shop platform")
        await say("relate", entity="Billing team", relation="owns", other="Checkout")
        found = await say("recall", query="payments time out")
        assert {(one["entity"], one["type"], one["direction"]) for one in found.data["relations"]} == {
            ("Checkout", "PART_OF", "out"),
            ("Checkout", "OWNS", "in"),
        }
        (action,) = found.data["available_actions"]
        whole = await say(action["tool"], **action["arguments"])
        assert action["tool"] == "get_entity" and len(whole.data["relations"]) == 2
        assert whole.data["observations"][0]["text"] == "Payments time out on Fridays."
        await say("list_entities")
        with pytest.raises(NotFound):
            await say("get_entity", entity="Nobody")
    told = instructions_for(("memory",), offered_tools(("memory",)))
    assert "recall" in told and "hybrid_search" not in told and "ingest_hypothesis" not in told


async def test_importance_orders_what_is_equal_and_fades(memory: Desk) -> None:
    for number, importance in enumerate((0.1, 0.9, None)):
        more = {} if importance is None else {"importance": importance}
        await memory.say("remember", entity="Harbour", observation=f"Ferry {number} sails from the east pier.", **more)
    found = (await memory.say("recall", query="which ferry sails from the east pier")).data["memories"]
    assert [one.get("importance") for one in found] == [0.9, None, 0.1]
    assert "importance 0.90" in found[0]["why"] and found[0]["text"] == "Ferry 1 sails from the east pier."
    assert importance_factor(1.0, "2026-01-01T00:00:00Z", seconds("2026-01-01T00:00:00Z")) == 1.3
    assert 1.0 < importance_factor(1.0, "2024-01-01T00:00:00Z", seconds("2026-01-01T00:00:00Z")) < 1.03
    assert "at most 1" in await memory.refusal("remember", entity="Harbour", observation="x", importance=3)


async def test_parts_answer_for_the_whole(memory: Desk) -> None:
    for part, whole in (("Till", "Shop floor"), ("Shop floor", "Warehouse north")):
        await memory.say("relate", entity=part, relation="part of", other=whole)
    await memory.say("remember", entity="Till", observation="The drawer jams in damp weather.")
    await memory.say("remember", entity="Harbour", observation="The gate jams when it rains.")
    found = (await memory.say("recall", query="what jams at the Warehouse north?")).data["memories"]
    assert "related" in next(one["why"] for one in found if one["entity"] == "Till")
    told = await memory.say("recall", query="tell me about the Warehouse north")
    assert "Till" in [one.get("entity") for one in told.data["memories"]], "it shares no word with the question"
    inside = (await memory.say("recall", query="what jams", entity="Warehouse north")).data["memories"]
    assert [one["entity"] for one in inside] == ["Till"]


async def test_an_image_is_remembered_with_its_text(memory: Desk, tmp_path: Path) -> None:
    root = memory.place.root
    (root / "plans").mkdir()
    (root / "plans/floor.png").write_bytes(b"first")
    said = "The ground floor after the rebuild of the kitchen."
    await memory.say("remember", entity="House", observation=said, attachment="plans/floor.png", importance=0.8)
    (one,) = (await memory.say("recall", query="rebuild of the kitchen", entity="House")).data["memories"]
    assert (one["text"], one["attachment"]["path"], one["attachment"]["type"]) == (said, "plans/floor.png", "image/png")
    for content, state in ((b"first", "same"), (b"other", "changed"), (b"", "missing")):
        (root / "plans/floor.png").write_bytes(content) if content else (root / "plans/floor.png").unlink()
        whole = await memory.say("get_entity", entity="House")
        assert whole.data["observations"][0]["attachment"]["state"] == state
    (tmp_path / "secret.png").write_bytes(b"x")
    (root / "link.png").symlink_to(tmp_path / "secret.png")
    for path in ("plans/none.png", "../secret.png", str(tmp_path / "secret.png"), "link.png", "app/attention.py"):
        assert await memory.refusal("remember", entity="House", observation="x", attachment=path), path


async def test_what_a_session_writes_is_indexed_once_it_is_quiet(memory: Desk) -> None:
    await memory.say("recall", query="release")
    before = await memory.session.generation()
    for number in range(5):
        await remembered(memory, "Alice", f"Release {number} is out.")
    deadline = time.monotonic() + 20
    left: tuple[str, ...] | None = None
    while left != () and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
        if await memory.session.generation() > before:
            _, newer = await memory.session.looked()
            left = newer.paths if newer is not None else None
    assert left == (), "all five, and no question was asked since"
    await memory.say("remember", entity="Alice", observation="Leaves.")
    await memory.session.aclose()
    assert (await memory.say("recall", query="Leaves")).ids("memories"), "a session that ends first loses nothing"
