"""What speaks for and against a claim, beyond words that clash; notes that share an id."""

from __future__ import annotations

from pathlib import Path

from .knowledge import desk, project
from .processes import atlas

CLAIM = "Wind turbines never produce as much energy as was needed to build them."
REFUTATION = "The energy payback time of a modern turbine is between five and twelve months."
OTHERS = (
    "Rotor blades are a hazard for large soaring raptors.",
    "Heat pumps deliver heat at minus 25 degrees.",
    "Aviation accounts for 2.5 percent of emissions.",
    "Peat grows by one millimetre a year.",
)
ID = "c-01JD2V9Q7K4M8N3P5R6S7T8V9A"


async def test_a_refutation_without_clashing_words_is_among_the_first(tmp_path: Path) -> None:
    async with desk(project(tmp_path)) as claims:
        ids = [(await claims.say("ingest_hypothesis", hypothesis=text)).id for text in (*OTHERS, REFUTATION)]
        found = await claims.say("find_contradictions", claim=CLAIM)
        assert (found.data["status"], found.ids("possible")) == ("none", [])
        assert found.ids("same_subject")[0] == ids[-1] and "about the same, not judged" in found.text
        assert [action["tool"] for action in found.data["available_actions"]] == ["semantic_search"]
        own = (await claims.say("ingest_hypothesis", hypothesis=CLAIM)).id
        found = await claims.say("find_contradictions", claim=own)
        assert found.ids("same_subject")[0] == ids[-1] and own not in found.ids("same_subject")
        # what is shown with a relation is not shown again
        await claims.say("connect_propositions", from_=ids[-1], to=own, relation="refutes")
        found = await claims.say("find_contradictions", claim=own)
        assert found.ids("stated") == [ids[-1]] and ids[-1] not in found.ids("same_subject")


async def test_a_unit_that_contradicts_itself_is_named_once(tmp_path: Path) -> None:
    place = project(tmp_path)
    file = place.root / ".knowledge/claims/self.md"
    file.parent.mkdir(parents=True)
    front = f"id: {ID}\nkind: claim\nrelations:\n  - {{type: contradicts, to: {ID}}}"
    file.write_text(f"---\n{front}\n---\nThis claim is false.\n")
    async with desk(place) as claims:
        assert (await claims.say("find_contradictions", claim=ID)).ids("stated") == [ID]


async def test_two_files_with_one_id_are_both_shown(tmp_path: Path) -> None:
    place = project(tmp_path)
    for name in ("one", "two"):
        file = place.root / f".knowledge/claims/{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\nid: {ID}\nkind: claim\n---\nThis is {name}.\n")
    async with desk(place) as claims:
        found = await claims.say("get_unit", id=ID)
        assert sorted([found.data["unit"][0]["text"], found.data["same_id"][0]["text"]]) == [
            "This is one.",
            "This is two.",
        ]
        assert "claims/one.md" in found.text and "claims/two.md; give all but one a new id" in found.text
    shown = atlas("notes", "show", ID, *place.options)
    assert shown.returncode == 0 and "claims/two.md has this id, too" in shown.stderr


async def test_a_unit_about_code_that_is_gone_is_not_to_be_reaffirmed(tmp_path: Path) -> None:
    place = project(tmp_path)
    async with desk(place) as claims:
        one = (await claims.say("ingest_hypothesis", hypothesis="It is quadratic.", about=["forward"])).id
        (place.root / "app/attention.py").unlink()
        found = await claims.say("get_unit", id=one)
        assert "symbol app.attention.forward: gone" in found.text
        action = found.data["available_actions"][0]
        assert (action["tool"], action["arguments"]) == (
            "retract_unit",
            {"id": one, "reason": "app.attention.forward is gone"},
        )
        await claims.say("retract_unit", **action["arguments"])


async def test_an_entity_is_called_by_its_name(tmp_path: Path) -> None:
    async with desk(project(tmp_path)) as memory:
        await memory.say("remember", entity="Armin", observation="Writes Python.", aliases=["mitsuhiko"])
        found = await memory.say("remember", entity="mitsuhiko", observation="Moved.", when="1:56 pm on 8 May, 2023")
        assert found.data["entity"][0]["name"] == "Armin" and "added to entity Armin e-" in found.text
        assert found.data["observation"][0]["created"] == "2023-05-08T13:56:00Z"
