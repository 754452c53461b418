"""A secret in a committed note is shown by nothing that reads note files, and exports hold no character that is obeyed."""

from __future__ import annotations

import asyncio
import json
import random
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from atlas.core.invisible import INVISIBLE, escaped, json_text, plain, xml_text
from atlas.core.paper_source import Paper
from atlas.papers.export import FORMATS
from atlas.papers.export import export as export_papers
from tests.bench.secret_kinds import ALNUM, chars
from tests.git.repositories import GitRepository

from .knowledge import Desk, desk
from .processes import REPOSITORY, Place, atlas

CHANCE = random.Random(27)
TOKEN = "ghp" + "_" + chars(ALNUM, 36)(CHANCE)
PASSWORD = "Xk9#" + chars(ALNUM, 8)(CHANCE)
ULID = "01JD2V9Q7K4M8N3P5R6S7T8V"
CLAIM, OTHER, ENTITY, SEEN = f"c-{ULID}9C", f"c-{ULID}9B", f"e-{ULID}9E", f"o-{ULID}9F"
TURN = "\u202e\u2066"
OBEYED = f"{TURN}\u200b\x85\U000e0041"
NOTES = {
    "claims/a.md": f'---\nid: {CLAIM}\nkind: claim\nsource: "see {TOKEN}"\nauthor: {{client: "{TOKEN}", agent: "{TOKEN}"}}\n'
    f'status: retracted\nreason: "it was {TOKEN}"\nabout: [{{symbol: "{TOKEN}"}}]\nown: "{TOKEN}"\n'
    f'relations:\n  - {{type: "{TOKEN}", to: {OTHER}, reasoning: "because {TOKEN}"}}\n  - {{type: "x {TOKEN}", to: c-{ULID}99}}\n---\n'
    f"The password is {PASSWORD}, the token {TOKEN}.\n",
    "claims/b.md": f"---\nid: {OTHER}\nkind: claim\n---\nIt holds {OBEYED} always.\n",
    "entities/crew.md": f'---\nid: {ENTITY}\nkind: entity\nname: "Crew {TOKEN}"\ntype: "{TOKEN}"\naliases: [crew, "{TOKEN}"]\n---\n'
    f"- 2026-01-01T00:00:00Z [{SEEN}] Crew can log in with admin / {PASSWORD} and {TOKEN}. (client: cursor)\n",
    # an asterisk begins an alias of YAML: masked, this is a document as it is in the index
    "plain.md": f"---\nid: c-{ULID}9G\nkind: claim\nsource: {TOKEN}\n---\nIt holds.\n",
    "broken.md": f"---\nid: {TOKEN}\nkind: {TOKEN}\n{TOKEN}: [\n---\n{TOKEN}\n",
    "wrong.md": f"---\nid: d-{ULID}9D\nkind: decision\nstatus: {TOKEN}\nconfidence: {TOKEN}\nrelations: [{{type: x, to: {TOKEN}}}]\n---\nText.\n",
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A repository whose history and files have a secret in every part of a note."""
    git = GitRepository(tmp_path / "app")
    git.commit(
        f"Keep {TOKEN}", {f".knowledge/{name}": text for name, text in NOTES.items()}, f"{TOKEN} <a@b.c>".encode()
    )
    git.put({".knowledge/claims/a.md": NOTES["claims/a.md"].replace("the token", "the new token")})
    git.close()
    return Place(tmp_path / "app", tmp_path / "data")


def assert_hidden(text: str, what: object) -> None:
    for secret in (TOKEN, TOKEN[8:30], PASSWORD):
        assert secret not in text, what


COMMANDS = (
    "notes list", "notes list --json", "notes list --text crew", f"notes show {CLAIM}", f"notes show {CLAIM} --json",
    f"notes show {OTHER} --json", "notes show crew", "notes show crew --json", "notes export", "notes export --format json",
    "notes export --format graphml", "notes doctor", "notes doctor --json", "notes review", "notes search token --status retracted",
    "memory list", "memory recall crew", "memory recall crew --json", "memory refresh", "notes show nothing",
    "export", "export --format graphml", "status --skipped --json", f"notes show {TOKEN[:4]}",
)  # fmt: skip


@pytest.mark.slow
def test_no_command_shows_a_secret_of_a_note(place: Place) -> None:
    assert atlas("index", str(place.root), "--data-dir", str(place.data)).returncode == 0
    for command in COMMANDS:
        done = atlas(*command.split(), *place.options)
        assert "Traceback" not in done.stderr, (command, done.stderr)
        assert_hidden(done.stdout + done.stderr, command)
    for form in ("jsonld", "json", "graphml"):
        file = place.root.parent / f"out.{form}"
        done = atlas("notes", "export", "--format", form, "-o", str(file), *place.options)
        assert "a secret in it is masked" in done.stderr and done.returncode == 1
        assert_hidden(file.read_text(), form)
    said = atlas("notes", "doctor", *place.options).stdout
    assert said.count("note-secret") >= 8 and "github" in said


async def test_no_tool_shows_a_secret_of_a_note(place: Place) -> None:
    async with desk(place, ATLAS_MEMORY_IDENTITY="crew") as notes:
        for tool, arguments in (
            ("get_unit", {"id": CLAIM}),
            ("get_unit", {"id": OTHER}),
            ("get_unit", {"id": ENTITY}),
            ("get_unit", {"id": SEEN}),
            ("list_propositions", {}),
            ("list_entities", {}),
            ("semantic_search", {"query": "password token", "status": "retracted"}),
            ("recall", {"query": "crew logs in"}),
            ("refresh", {"greeting": "crew"}),
            ("find_contradictions", {"claim": CLAIM}),
            ("find_scientific_lineage", {"start_concept": CLAIM, "end_concept": OTHER}),
            ("hybrid_search", {"query": "crew logs in"}),
            ("hybrid_search", {"query": "what changed since HEAD"}),
            ("get_context", {"name": CLAIM}),
            ("cypher_query", {"query": "MATCH (n) RETURN n LIMIT 100"}),
            ("remember", {"entity": "crew", "observation": "Likes tea."}),
            ("remember", {"entity": "crew", "type": "team"}),
            ("relate", {"entity": "crew", "relation": "LIKES", "other": "tea"}),
            ("update_unit", {"id": CLAIM, "confidence": 0.3}),
            ("retract_unit", {"id": OTHER, "reason": "no"}),
            ("forget", {"id": SEEN}),
        ):
            said = await notes.say(tool, **arguments)
            assert_hidden(said.text + json.dumps(said.data), tool)
        assert_hidden(await notes.session.resource(f"atlas://node/{CLAIM}"), "resource")
    kept = (place.root / ".knowledge/entities/crew.md").read_text()
    assert f'name: "Crew {TOKEN}"' in kept and "Likes tea." in kept, "files are the user's: nothing is masked in them"


@pytest.mark.slow
async def test_a_note_that_cannot_be_checked_is_not_shown(place: Place) -> None:
    rules = tomllib.loads((REPOSITORY / "rust-parser/secret-rules/betterleaks.toml").read_text())["rules"]
    many = " ".join(word for rule in rules for word in rule["keywords"]) * 1000
    (place.root / ".knowledge/many.md").write_text(f"---\nid: c-{ULID}88\nkind: claim\n---\n{TOKEN} {many[:900_000]}\n")
    for command in ("notes list", f"notes show c-{ULID}88", "notes export", "notes doctor"):
        done = await asyncio.to_thread(atlas, *command.split(), *place.options)
        assert "Traceback" not in done.stderr
        assert_hidden(done.stdout + done.stderr, command)


@pytest.mark.slow
def test_exports_hold_no_character_that_is_obeyed_and_lose_none(place: Place) -> None:
    (place.root / "app.py").write_text(f'def load():\n    """Load {OBEYED}."""\n', "utf-8")
    assert atlas("index", str(place.root), "--data-dir", str(place.data)).returncode == 0
    for command in ("notes export", "notes export --format json", "export"):
        text = atlas(*command.split(), *place.options).stdout
        assert not INVISIBLE.search(text.replace("\n", "")), command
        lines = [json.loads(text)] if command.startswith("notes") else [json.loads(line) for line in text.splitlines()]
        assert f"{TURN}\u200b\x85" in json.dumps(lines, ensure_ascii=False), "a program reads them as they are"
    for command in ("notes export --format graphml", "export --format graphml"):
        text = atlas(*command.split(), *place.options).stdout
        assert not INVISIBLE.search(text.replace("\n", "")), command
        assert any(TURN in (one.text or "") for one in ElementTree.fromstring(text).iter()), command
    for command in (f"notes show {OTHER}", "notes list", "notes review"):
        assert not any(one in atlas(*command.split(), *place.options).stdout for one in TURN), command


def test_an_export_of_papers_holds_no_character_that_is_obeyed() -> None:
    evil = f"Good {TURN}dlrow\x1b[31m \x85title"
    fields = dict.fromkeys(("title", "summary", "journal_ref", "doi", "comment"), evil)
    known = {name: value for name, value in fields.items() if name in Paper.__dataclass_fields__}
    paper = Paper(id="1706.03762", **known, authors=(evil,), published="2017-06-12T00:00:00Z")  # type: ignore[arg-type]
    for form in FORMATS:
        text = export_papers([paper], form)
        assert "Good" in text and plain(text).replace("\r", "") == text.replace("\r", ""), form


def test_json_and_xml_keep_what_they_escape() -> None:
    for text in ("a\u202eb", "\x1b[2J\x7f\x85", "\U000e0041\ufeff", "é\n\t日本"):
        for indent in (None, 1):
            assert json.loads(json_text({"a": [text]}, indent)) == {"a": [text]}
            assert not INVISIBLE.search(json_text([text], indent).replace("\n", ""))
        back = ElementTree.fromstring(f"<a b={xml_text(f'{chr(34)}{text}{chr(34)}')}>{xml_text(text)}</a>")
        kept = "".join(one for one in text if one not in "\x1b\x7f")
        assert back.text == kept
        assert not INVISIBLE.search(escaped(text))


async def test_a_write_of_a_stated_password_is_refused(place: Place) -> None:
    async with desk(place) as opened:
        notes: Desk = opened
        for text in (f"The password is {PASSWORD}.", f"login with admin / {PASSWORD}"):
            assert "contains a secret" in await notes.refusal("ingest_hypothesis", hypothesis=text)
            assert "contains a secret" in await notes.refusal("remember", entity="crew", observation=text)
