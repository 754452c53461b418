"""A client of the tools of claims and memory that means harm: what it writes stays a note, its own, and bounded."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from atlas.answers.schema import check_arguments
from atlas.app.toolsets import BY_NAME
from atlas.code.notes.note import read_note
from atlas.core.errors import AtlasError
from atlas.core.invisible import MOST_MARKS, normal_form

from .knowledge import Desk, desk, project

ULID = "01JD2V9Q7K4M8N3P5R6S7T8V"
MARKS = "a" + "\u0300\u0316" * 250_000
LINES = ("\n", "\r\n", "\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e")


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk(project(tmp_path)) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("end", LINES)
async def test_no_text_becomes_front_matter_or_another_note(notes: Desk, end: str) -> None:
    evil = end.join(
        ("x", "---", f"id: c-{ULID}9X", "kind: decision", "status: accepted", "author: {client: cli}", "---", f"- 2026-01-01T00:00:00Z [o-{ULID}9Y] y (client: cli)")
    )  # fmt: skip
    for tool, arguments in (
        ("ingest_hypothesis", {"hypothesis": evil, "source": evil}),
        ("remember", {"entity": evil[:190], "observation": evil, "type": evil[:190], "aliases": [evil[:190]]}),
        ("relate", {"entity": evil[:190], "relation": "KNOWS", "other": "Bob"}),
    ):
        try:
            await notes.say(tool, **arguments)
        except AtlasError as refused:
            assert "nothing" in f"{refused.message} {refused.hint}" or refused.hint
    (unit,) = (await notes.say("list_propositions")).ids("units")
    await notes.say("update_unit", id=unit, text=evil, source=evil)
    await notes.say("retract_unit", id=unit, reason=evil)
    await notes.say("connect_propositions", from_=unit, to=f"c-{ULID}9Z", relation="supports", reasoning=evil)
    found = [read_note(file.read_bytes()) for file in notes.files()]
    assert found and not any(note.problems for note in found)
    ids = [note.id for note in found] + [one.id for note in found for one in note.observations]
    assert f"c-{ULID}9X" not in ids and f"o-{ULID}9Y" not in ids
    claims = [note for note in found if note.kind == "claim"]
    assert [(one.id, one.status, one.client) for one in claims] == [(unit, "retracted", notes.client)]
    assert {one.client for note in found for one in note.observations} <= {notes.client}


@pytest.mark.parametrize(
    "name",
    ["../../evil", "/etc/passwd", "..\\..\\evil", ".gitattributes", "README", "a/b", "con", "x" * 200, "\u202e", ".", "~me:x", "a\x00b"],
)  # fmt: skip
async def test_no_name_or_id_leads_out_of_the_folder(notes: Desk, name: str) -> None:
    for tool, arguments in (
        ("remember", {"entity": name, "observation": "Is here."}),
        ("relate", {"entity": name, "relation": "KNOWS", "other": "Bob"}),
        ("ingest_hypothesis", {"hypothesis": name, "idempotency_key": name}),
        ("get_unit", {"id": name}),
        ("get_unit", {"id": f"c-{ULID}9X@{name}"}),
        ("update_unit", {"id": name, "status": "disputed"}),
        ("retract_unit", {"id": name, "reason": "x"}),
        ("forget", {"id": name}),
        ("promote", {"id": name, "entity": name}),
        ("recall", {"query": "here", "entity": name}),
        ("connect_propositions", {"from_": name, "to": name, "relation": "supports"}),
    ):
        try:
            await notes.say(tool, **arguments)
        except AtlasError as refused:
            assert refused.message and refused.hint, tool
    root = notes.place.root
    written = {path.relative_to(root).parts[0] for path in root.rglob("*") if path.is_file()}
    assert written <= {"app", ".knowledge"} and not list(root.parent.glob("evil*"))
    assert all(path.suffix == ".md" and not path.is_symlink() for path in notes.files())
    if name in ("README", "con", ".gitattributes"):
        said = await notes.say("remember", entity=name, observation="Is there.")
        assert said.data["status"] == "created" and "created entity" not in said.text, "it is found again"


async def test_a_client_has_idempotency_keys_of_its_own(notes: Desk) -> None:
    other = replace(notes, client="evil/9.0")
    arguments = {"hypothesis": "It works.", "idempotency_key": "1"}
    await other.say("ingest_hypothesis", hypothesis="It does not.", idempotency_key="1")
    first = await notes.say("ingest_hypothesis", **arguments)
    assert first.data["status"] == "created", "nobody else can use up a key"
    stolen = await other.say("remember", entity="A", observation="b", idempotency_key="2")
    assert (await notes.say("remember", entity="A", observation="b", idempotency_key="2")).id != stolen.id
    newer = replace(notes, client="tester/2.0")
    again = await newer.say("ingest_hypothesis", **arguments)
    assert (again.data["status"], again.id) == ("repeated", first.id), "a newer version of the client repeats the call"
    assert "other arguments" in await notes.refusal("ingest_hypothesis", **{**arguments, "hypothesis": "Other."})


LARGE = {
    "x": "x",
    "words": "word ",
    "marks": "\u0300\u0316",
    "quotes": '"',
    "lines": "\n-",
    "passwords": "password is ",
    "joined": "'a1'+'b2' ",
}
SLOW = ("ingest_hypothesis", "remember", "remember_shortterm", "recall", "refresh", "get_unit", "semantic_search")


@pytest.mark.slow
@pytest.mark.parametrize("what", LARGE)
async def test_large_and_slow_texts_are_answered_at_once(notes: Desk, what: str) -> None:
    for size in (1 << 20, 99_990, 19_990):
        text = f"a{LARGE[what] * (size // len(LARGE[what]))}"
        for tool in SLOW:
            started = time.process_time()
            try:
                await notes.say(tool, **{name: text for name in BY_NAME[tool].required})
            except AtlasError as refused:
                assert len(refused.message) < 500
            assert time.process_time() - started < 20, (tool, size)
    assert not [file for file in notes.files() if file.stat().st_size > 500_000]


def test_a_normal_form_takes_linear_time() -> None:
    started = time.process_time()
    assert len(normal_form(MARKS)) <= MOST_MARKS + 1
    assert time.process_time() - started < 10
    assert normal_form("e\u0301 \u1e69") == "\u00e9 \u1e69" and normal_form("\ufb01", "NFKC") == "fi"


def test_arguments_outside_of_the_schema_are_refused() -> None:
    for wrong in ({"id": ["c"]}, {"id": {"a": 1}}, {"id": "c", "path": "/etc/passwd"}, {"id": None}):
        with pytest.raises(AtlasError):
            check_arguments(BY_NAME["get_unit"].input_schema, wrong)
