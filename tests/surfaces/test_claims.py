"""The tools of claims, called as the MCP server calls them, on real files and a real index."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.answers.schema import check_arguments
from atlas.app.toolsets import BY_NAME
from atlas.code.notes.note import read_note

from .knowledge import Desk, Said, desk, project

QUADRATIC = "Attention scales quadratically with sequence length."
LINEAR = "Attention scales linearly with sequence length."
NEVER = "Attention does not scale quadratically with sequence length."
ABSENT = "c-01JD2V9Q7K4M8N3P5R6S7T8V9A"


@pytest.fixture
async def claims(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk(project(tmp_path)) as opened:
        yield opened


async def stated(claims: Desk, text: str, **more: object) -> str:
    return (await claims.say("ingest_hypothesis", hypothesis=text, **more)).id


async def follow(claims: Desk, said: Said) -> None:
    """Make every call that an answer proposes."""
    assert said.data["available_actions"], said.text
    for action in said.data["available_actions"]:
        check_arguments(BY_NAME[action["tool"]].input_schema, action["arguments"])
        assert (
            f"next: {action['tool']} {json.dumps(action['arguments'], ensure_ascii=False, separators=(',', ':'))}"
            in said.text
        )
        await claims.say(action["tool"], **action["arguments"])


async def test_a_claim_is_stored_with_what_it_resembles_and_contradicts(claims: Desk) -> None:
    first = await claims.say(
        "ingest_hypothesis",
        hypothesis=QUADRATIC,
        source="doi:10.48550/arXiv.1706.03762",
        about=["app.attention.forward"],
    )
    assert (first.data["status"], first.data["similar"], first.data["possible_contradictions"]) == ("created", [], [])
    second = await claims.say("ingest_hypothesis", hypothesis=QUADRATIC)
    assert second.ids("similar") == [first.id], "shown, and not merged"
    third = await claims.say("ingest_hypothesis", hypothesis=NEVER)
    assert set(third.ids("possible_contradictions")) == {first.id, second.id}, "also one that is not in the index yet"
    clash = third.data["possible_contradictions"][0]
    assert clash["clash"] == "negation" and "not" in clash["words"]
    assert len(claims.files()) == 3
    note = read_note((claims.place.root / first.data["unit"][0]["path"]).read_bytes())
    assert (note.id, note.status, note.confidence, note.client) == (first.id, "proposed", 0.8, claims.client)
    assert (note.about[0].target, bool(note.about[0].body)) == ("app.attention.forward", True)
    for said in (first, second, third):
        await follow(claims, said)
    decision = await claims.say("ingest_hypothesis", hypothesis="We use SQLite.", kind="decision")
    assert decision.id.startswith("d-") and decision.data["unit"][0]["confidence"] == 1.0


async def test_a_claim_is_found_by_its_source_and_equal_claims_of_other_sources_are_similar(claims: Desk) -> None:
    title = "Fluid balance of habitual coffee drinkers: a crossover trial"
    said = "Drinking it does not dehydrate."
    first = await claims.say("ingest_hypothesis", hypothesis=said, source=f"{title} (doi:10.1000/y.1)")
    for text in ("It keeps birds away.", "Drinking is allowed here.", "It does not hold for tea."):
        await claims.say("ingest_hypothesis", hypothesis=text)
    found = await claims.say("semantic_search", query="What about coffee and the balance of fluids?")
    assert found.ids("units")[0] == first.id
    again = await claims.say("ingest_hypothesis", hypothesis=said, source="A survey of hydration in marathon runners")
    assert again.ids("similar") == [first.id]


async def test_confidence_is_read_as_people_write_it(claims: Desk) -> None:
    folder = claims.place.root / ".knowledge"
    folder.mkdir()
    for at, written in enumerate(("90%", "0,9", "high")):
        front = f"---\nid: c-01JD2V9Q7K4M8N3P5R6S7T8V9{at}\nkind: claim\nconfidence: {written}\n---\n"
        (folder / f"{at}.md").write_text(f"{front}Jerboas hop {at} times.\n")
    listed = await claims.say("list_propositions")
    assert sorted(one["confidence"] for one in listed.data["units"]) == [0.5, 0.9, 0.9]


async def test_a_key_gives_one_note_and_one_answer(claims: Desk) -> None:
    arguments = {"hypothesis": QUADRATIC, "confidence": 0.9, "idempotency_key": "run-7"}
    first = await claims.say("ingest_hypothesis", **arguments)
    again = await claims.say("ingest_hypothesis", **arguments)
    assert (again.id, again.data["status"], len(claims.files())) == (first.id, "repeated", 1)
    refused = await claims.refusal("ingest_hypothesis", **{**arguments, "confidence": 0.8})
    assert "other arguments" in refused and "new key" in refused
    assert "other arguments" in await claims.refusal("remember", entity="X", observation="y", idempotency_key="run-7")
    async with desk(claims.place) as other:
        assert (await other.say("ingest_hypothesis", **arguments)).id == first.id, "another process"
        near = asyncio.gather(
            *(other.say("ingest_hypothesis", hypothesis=LINEAR, idempotency_key="k") for _ in range(5))
        )
        assert len({said.id for said in await near}) == 1, "at the same time"
    assert len(claims.files()) == 2
    link = {"from": first.id, "to": ABSENT, "relation": "supports", "idempotency_key": "link"}
    assert (await claims.say("connect_propositions", **link)).data["status"] == "created"
    assert (await claims.say("connect_propositions", **link)).data["status"] == "repeated"
    without = {name: value for name, value in link.items() if name != "idempotency_key"}
    assert (await claims.say("connect_propositions", **without)).data["status"] == "unchanged"


async def test_a_damaged_record_of_a_key_is_replaced(claims: Desk) -> None:
    arguments = {"hypothesis": QUADRATIC, "idempotency_key": "k"}
    first = await claims.say("ingest_hypothesis", **arguments)
    (record,) = (claims.place.data / "idempotency").rglob("*.json")
    record.write_text(json.dumps({**json.loads(record.read_text()), "answer": {"groups": [7]}}))
    again = await claims.say("ingest_hypothesis", **arguments)
    assert (again.id, again.data["status"]) == (first.id, "created")
    assert len(claims.files()) == 1, "the id was left, so the note is not doubled"
    for damage in (b"", b"\0\xff{", b"[]", b'{"digest": 1}'):
        record.write_bytes(damage)
        assert (await claims.say("ingest_hypothesis", **arguments)).data["status"] == "created", damage
        assert (await claims.say("ingest_hypothesis", **arguments)).data["status"] == "repeated", damage


async def test_contradictions_are_stated_inherited_and_possible(claims: Desk) -> None:
    base, special = await stated(claims, QUADRATIC), await stated(claims, "Long documents need quadratic memory.")
    against, linear = await stated(claims, "Sparse kernels avoid the quadratic cost."), await stated(claims, LINEAR)
    await claims.say("connect_propositions", from_=special, to=base, relation="implies")
    await claims.say(
        "connect_propositions", from_=against, to=base, relation="refutes", reasoning="measured", confidence=0.7
    )
    found = await claims.say("find_contradictions", claim=base)
    assert found.ids("stated") == [against] and linear in found.ids("possible")
    evidence = found.data["stated"][0]["evidence"]
    assert (evidence["type"], evidence["direction"], evidence["reasoning"], evidence["confidence"]) == (
        "refutes",
        "in",
        "measured",
        0.7,
    )
    assert evidence["at"].startswith(".knowledge/claims/") and 'reason: "measured"' in found.text
    inherited = await claims.say("find_contradictions", claim=special)
    assert (inherited.ids("stated"), inherited.ids("inherited")) == ([], [against])
    assert inherited.data["inherited"][0]["evidence"]["via"] == base
    said = await claims.say("find_contradictions", claim=QUADRATIC.lower().rstrip("."))
    assert (said.ids("stated"), base in said.ids("same_subject")) == ([against], False), "a text that a unit says"
    possible = await claims.say("find_contradictions", claim=LINEAR)
    assert base in possible.ids("possible") and possible.data["possible"][0]["clash"] == "complexity"
    assert (await claims.say("find_contradictions", claim="Penguins swim.")).data["status"] == "none"
    cycle = await claims.say("connect_propositions", from_=base, to=special, relation="implies")
    assert "cycle of implies" in cycle.text
    assert (await claims.say("find_contradictions", claim=special)).ids("inherited") == [against]
    await follow(claims, found)
    told = await claims.say("status")
    assert "1 stated contradiction between notes that are both held to be true" in told.text and against in told.text
    both = await claims.say("connect_propositions", from_=against, to=base, relation="supports")
    assert "both supports and refutes" in both.text


async def test_lineage_has_direction_reasoning_and_weak_ends(claims: Desk) -> None:
    one, two, three = [
        await stated(claims, text) for text in (QUADRATIC, "Memory grows with attention.", "GPUs are scarce.")
    ]
    await claims.say(
        "connect_propositions", from_=two, to=one, relation="extends", reasoning="same tensors", confidence=0.6
    )
    await claims.say("connect_propositions", from_=two, to=three, relation="implies")
    found = await claims.say("find_scientific_lineage", start_concept=one, end_concept=three)
    (path,) = found.data["paths"]
    assert [(step["from"], step["relation"], step["direction"], step["to"]) for step in path["steps"]] == [
        (one, "extends", "in", two),
        (two, "implies", "out", three),
    ]
    assert (path["steps"][0]["reasoning"], path["confidence"]) == ("same tensors", 0.6)
    assert "<-extends 0.60-" in found.text and 'reason: "same tensors"' in found.text
    await follow(claims, found)
    by_words = await claims.say("find_scientific_lineage", start_concept="attention scales", end_concept="scarce GPUs")
    assert by_words.data["paths"]
    lost = await claims.say("find_scientific_lineage", start_concept="attention scales", end_concept="banana bread")
    assert (lost.data["status"], lost.data.get("paths")) == ("none", None)
    assert 'not found: end "banana bread"' in lost.data["summary"] and lost.ids("nearest")
    same = await claims.say("find_scientific_lineage", start_concept="scarce GPUs", end_concept="GPUs are scarce")
    assert (same.data["status"], same.data.get("paths"), set(same.ids("end_points"))) == ("none", None, {three})
    for said in (lost, same):
        assert "limit" not in said.text
        await follow(claims, said)
    alone = await stated(claims, "Penguins swim.")
    apart = await claims.say("find_scientific_lineage", start_concept=alone, end_concept=one)
    assert (apart.data["status"], apart.ids("end_points")) == ("none", [alone, one])
    await follow(claims, apart)
    assert (await claims.say("find_scientific_lineage", start_concept=alone, end_concept=one)).data["status"] == "ok"


async def test_search_ranks_and_filters(claims: Desk) -> None:
    sure, unsure = await stated(claims, QUADRATIC, confidence=0.9), await stated(claims, LINEAR, confidence=0.3)
    found = await claims.say("semantic_search", query="how does attention scale")
    assert set(found.ids("units")) == {sure, unsure} and all(unit["score"] > 0 for unit in found.data["units"])
    assert all("meaning" in " ".join(unit["why"]) for unit in found.data["units"])
    assert (await claims.say("semantic_search", query="attention", min_confidence=0.5)).ids("units") == [sure]
    await claims.say("retract_unit", id=unsure, reason="wrong")
    assert (await claims.say("semantic_search", query="attention")).ids("units") == [sure]
    assert (await claims.say("semantic_search", query="attention", status="retracted")).ids("units") == [unsure]
    nothing = await claims.say("semantic_search", query="zebra crossing traffic")
    assert nothing.data["status"] == "none"
    await follow(claims, nothing)
    assert "unknown status" in await claims.refusal("semantic_search", query="x", status="maybe")
    long = await claims.say("semantic_search", query="x" * 90_000)
    assert long.data["status"] == "none" and not long.data["available_actions"], "a long question is not repeated"


async def test_pages_hold_every_unit_once_while_new_ones_are_added(claims: Desk) -> None:
    known = {await stated(claims, f"Fact {number} holds.", confidence=number % 3 / 2) for number in range(11)}
    for order in ("newest", "oldest", "confidence"):
        seen: list[str] = []
        cursor, added = "", 0
        while True:
            page = await claims.say("list_propositions", order=order, limit=3, cursor=cursor)
            seen += page.ids("units")
            cursor = page.data["evidence"].get("cursor", "")
            if not cursor:
                break
            added += 1
            assert added < 12
            await stated(claims, f"News {order} {added}.", confidence=0.5)
        assert len(seen) == len(set(seen)) and known <= set(seen), order
        known |= set(await everything(claims))


async def test_a_page_that_is_cut_by_the_budget_continues_behind_what_it_shows(claims: Desk) -> None:
    known = [await stated(claims, f"Fact {number} holds {'very ' * 20}well.") for number in range(6)]
    seen: list[str] = []
    cursor = ""
    for _ in known:
        page = await claims.say("list_propositions", order="oldest", limit=6, cursor=cursor, token_budget=400)
        assert 0 < len(page.data["units"]) < 6
        seen += page.ids("units")
        cursor = page.data["evidence"].get("cursor", "")
        if not cursor:
            break
    assert seen == known


async def everything(claims: Desk) -> list[str]:
    return (await claims.say("list_propositions", limit=200, token_budget=100_000)).ids("units")


async def test_lists_filter(claims: Desk) -> None:
    one = await stated(claims, QUADRATIC, source="doi:10.1/x", about=["app.attention.forward"], confidence=0.9)
    two = await stated(claims, "We store rows in SQLite.", kind="decision")
    async with desk(claims.place) as other:
        three = (
            await Desk(other.session, other.place, "cursor/2").say(
                "ingest_hypothesis", hypothesis=LINEAR, source="book"
            )
        ).id
    await claims.say("update_unit", id=three, status="disputed")
    for text, expected in {
        "": {one, two, three},
        "status:disputed": {three},
        "kind:decision": {two},
        "source:doi": {one},
        "author:cursor": {three},
        "about:forward": {one},
        "min_confidence:0.85": {one, two},
        "attention": {one, three},
        "attention source:doi": {one},
        "attention author:cursor": {three},
        "attention about:forward": {one},
        "suspect": set[str](),
    }.items():
        assert set((await claims.say("list_propositions", filter=text)).ids("units")) == expected, text
    assert "unknown filter colour:" in await claims.refusal("list_propositions", filter="colour:red")
    for wrong in ("status:true", "kind:poem", "min_confidence:7", "min_confidence:nan", "min_confidence:much"):
        await claims.refusal("list_propositions", filter=wrong)


async def test_one_unit_in_full(claims: Desk) -> None:
    long = f"{QUADRATIC} {'It was measured. ' * 60}"
    one = await stated(claims, long, about=["app.attention.forward", "file:app/core.py"])
    two = await stated(claims, LINEAR)
    await claims.say("connect_propositions", from_=two, to=one, relation="refutes", reasoning="kernel trick")
    await claims.say("connect_propositions", from_=one, to=ABSENT, relation="supports")
    nowhere = await claims.say("connect_propositions", from_=one, to="symbol:app.gone", relation="explains")
    assert "not in the index" in nowhere.text
    found = await claims.say("get_unit", id=one)
    (unit,) = found.data["unit"]
    assert unit["text"] == long.strip() and long.strip() in found.text
    assert [(link["type"], link["direction"], link["id"]) for link in found.data["relations"]] == [
        ("refutes", "in", two)
    ]
    assert {(about["target"], about["state"]) for about in found.data["about"]} == {
        ("app.attention.forward", "fresh"),
        ("app/core.py", "fresh"),
    }
    assert [link["to"] for link in found.data["dangling"]] == [ABSENT, "symbol:app.gone"]
    await follow(claims, found)
    (claims.place.root / ".knowledge/later.md").write_text(f"---\nid: {ABSENT}\nkind: claim\n---\nIt appears.\n")
    (claims.place.root / "app/__init__.py").write_text("def gone():\n    pass\n")
    mended = await claims.say("get_unit", id=one)
    assert {link["id"] for link in mended.data["relations"]} == {two, ABSENT, "app.gone"}
    assert "dangling" not in mended.data


async def test_units_of_every_kind_can_be_read(claims: Desk) -> None:
    records = claims.place.root / "adr"
    records.mkdir()
    (records / "0001-sqlite.md").write_text("# 1. Use SQLite\n\nStatus: accepted\n\nOne file.\n")
    observation = await claims.say("remember", entity="Billing", observation="Releases on Thursdays.")
    entity = observation.data["entity"][0]["id"]
    assert (await claims.say("get_unit", id=observation.id)).data["unit"][0]["text"] == "Releases on Thursdays."
    found = await claims.say("get_unit", id=entity)
    assert found.ids("observations") == [observation.id]
    await follow(claims, found)
    decision = await stated(claims, "We use SQLite.", kind="decision")
    assert (await claims.say("get_unit", id=decision)).data["unit"][0]["kind"] == "decision"
    (record,) = (await claims.say("list_propositions", filter="kind:adr")).data["units"]
    assert (record["path"], record["text"][:13]) == ("adr/0001-sqlite.md", "1. Use SQLite")
    assert (await claims.say("get_unit", id=record["id"])).data["unit"][0]["kind"] == "decision"
    assert "no unit" in await claims.refusal("get_unit", id="app.core.load_settings"), "code is no unit"


async def test_units_are_amended_retracted_and_superseded(claims: Desk) -> None:
    one, two = await stated(claims, QUADRATIC, source="doi:10.1/x"), await stated(claims, LINEAR)
    changed = await claims.say("update_unit", id=one, text=f"{QUADRATIC} Measured.", confidence=0.5, status="disputed")
    assert changed.data["unit"][0]["changed"] == ["confidence", "status", "text"]
    unit = (await claims.say("get_unit", id=one)).data["unit"][0]
    assert (unit["text"], unit["confidence"], unit["status"]) == (f"{QUADRATIC} Measured.", 0.5, "disputed")
    assert "nothing to change" in await claims.refusal("update_unit", id=one)
    retracted = await claims.say("retract_unit", id=one, reason="Not so.")
    assert retracted.data["unit"][0]["status"] == "retracted"
    await follow(claims, retracted)
    read = await claims.say("get_unit", id=one)
    assert read.data["unit"][0]["reason"] == "Not so." and 'reason "Not so."' in read.text
    assert (await claims.say("retract_unit", id=one, reason="Not so.")).data["status"] == "unchanged"
    assert (await claims.say("retract_unit", id=one, reason="Better.", superseded_by=two)).data["status"] == "changed"
    assert (await claims.say("retract_unit", id=one, reason="Better.", superseded_by=two)).data["status"] == "unchanged"
    links = (await claims.say("get_unit", id=one)).data["relations"]
    assert [(link["type"], link["direction"], link["id"]) for link in links] == [("supersedes", "in", two)]
    assert "another one" in await claims.refusal("retract_unit", id=two, reason="x", superseded_by=two)
    assert len(claims.files()) == 2, "nothing was deleted"


async def test_what_is_taken_back_stands_behind_what_holds_in_a_search_of_everything(claims: Desk) -> None:
    linear, quadratic = await stated(claims, LINEAR), await stated(claims, QUADRATIC)
    question = "attention sequence length"
    first = await claims.say("hybrid_search", query=question)
    assert 0 < first.text.index(linear) < first.text.index(quadratic)
    await claims.say("retract_unit", id_=linear, reason="measured again")
    again = (await claims.say("hybrid_search", query=question, token_budget=4000)).text
    assert again.index(quadratic) > 0 and (linear not in again or again.index(quadratic) < again.index(linear))
    assert linear in (await claims.say("hybrid_search", query=linear)).text.split("\n")[1], "who asks for it, gets it"


async def test_an_edit_of_the_code_makes_a_unit_suspect_until_it_is_reaffirmed(claims: Desk) -> None:
    one = await stated(claims, QUADRATIC, about=["app.attention.forward"])
    file = claims.place.root / "app/attention.py"
    file.write_text(file.read_text().replace("a * b", "a + b"))
    found = await claims.say("get_unit", id=one)
    assert (found.data["about"][0]["state"], found.data["about"][0]["changed"]) == ("changed", ["body"])
    assert found.data["available_actions"][0]["arguments"] == {"id": one, "reaffirm": True}
    assert (await claims.say("list_propositions", filter="suspect")).ids("units") == [one]
    assert "suspect" in (await claims.say("semantic_search", query="attention")).text
    await follow(claims, found)
    assert await states(claims, one) == [("app.attention.forward", "fresh")]
    file.rename(claims.place.root / "app/kernel.py")
    assert await states(claims, one) == [("app.attention.forward", "moved")]
    await claims.say("update_unit", id=one, reaffirm=True)
    assert await states(claims, one) == [("app.kernel.forward", "fresh")]
    (claims.place.root / "app/kernel.py").unlink()
    assert await states(claims, one) == [("app.kernel.forward", "gone")]
    kept = await claims.say("update_unit", id=one, reaffirm=True)
    assert "cannot be reaffirmed" in kept.text
    assert (await claims.say("list_propositions", filter="suspect")).ids("units") == [one]


async def states(claims: Desk, note: str) -> list[tuple[str, str]]:
    return [(about["target"], about["state"]) for about in (await claims.say("get_unit", id=note)).data["about"]]


async def test_a_relation_leads_to_a_note_or_to_code(claims: Desk) -> None:
    one = await stated(claims, QUADRATIC)
    for wrong in ("hello", "../../etc/passwd", "c-123", "http://example.org"):
        assert "is no id of a note" in await claims.refusal(
            "connect_propositions", from_=one, to=wrong, relation="supports"
        )
    assert "itself" in await claims.refusal("connect_propositions", from_=one, to=one, relation="supports")
    assert "letters and digits" in await claims.refusal("connect_propositions", from_=one, to=ABSENT, relation="a->b")
    missing = await claims.say("connect_propositions", from_=one, to=ABSENT, relation="supports")
    assert "takes effect when it appears" in missing.text
    assert "no note" in await claims.refusal("connect_propositions", from_=ABSENT, to=one, relation="supports")
