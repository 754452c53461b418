"""`atlas notes` and `atlas memory`: files without an index, tools with one, and what is said when something is wrong."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from atlas.app.toolsets import TOOLSETS
from atlas.cli import main, output
from tests.fuzz.notes import CLAIM, ENTITY, ULID
from tests.git.repositories import GitRepository

from .processes import COMMAND, environment
from .test_cli import COMMANDS

FAMILIES = [name for name in COMMANDS if name.startswith(("atlas notes ", "atlas memory "))]
CART = "class Cart:\n    def total(self, prices):\n        return sum(prices)\n"


@dataclass(frozen=True)
class Done:
    """What a command has printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    return root


@pytest.fixture
def run(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process, as its entry point does."""

    def run(*arguments: str) -> Done:
        places = ["--project", str(project), "--data-dir", str(tmp_path / "data")]
        monkeypatch.setattr("sys.argv", ["atlas", *arguments, *places])
        code = main._run()  # type: ignore[reportPrivateUsage]
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        return Done(code, shown.out, shown.err)

    return run


def write(project: Path, path: str, text: str) -> None:
    file = project / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize("name", FAMILIES)
def test_examples_of_the_help_can_be_typed(name: str) -> None:
    command = COMMANDS[name]
    lines = [line.strip() for line in (command.epilog or "").splitlines() if line.startswith("  atlas ")]
    assert len(lines) >= 2
    for line in lines:
        words = shlex.split(line.partition(" > ")[0])
        assert words[:3] == name.split()
        command.make_context(words[2], words[3:])
    assert "--json" in {option for each in command.params for option in each.opts}


def test_every_command_of_the_issue_is_there() -> None:
    notes = {name.split()[2] for name in FAMILIES if " notes " in name}
    memory = {name.split()[2] for name in FAMILIES if " memory " in name}
    of_tools = {"add", "search", "link", "contradictions", "lineage", "unit", "update", "retract"}
    assert notes == of_tools | {"show", "list", "review", "export", "import", "doctor"}
    assert memory == {"refresh", "recall", "show", "remember", "relate", "note", "forget", "list", "promote"}


def test_files_are_listed_and_shown_without_an_index(project: Path, run: Run) -> None:
    empty = run("notes", "list")
    assert (empty.code, empty.out) == (0, f"no notes in {project}/.knowledge\n")
    write(project, ".knowledge/claims/a.md", CLAIM.replace("Größe", "\u202eGröße"))
    write(
        project,
        ".knowledge/entities/b.md",
        ENTITY.replace("relations: [", f"relations: [{{type: saw, to: c-{ULID}}}, "),
    )
    write(project, ".knowledge/broken.md", "---\nid: [\n---\n")
    listed = run("notes", "list", "--json").json
    assert [(one["id"], one["path"]) for one in listed["notes"]] == [
        (f"c-{ULID}", ".knowledge/claims/a.md"),
        (f"e-{ULID}", ".knowledge/entities/b.md"),
    ]
    assert run("notes", "list", "--limit", "1", "--json").json["total"] == 2
    assert "Billing team" in run("notes", "list", "--kind", "entity").out
    assert "1 note\n" in run("notes", "list", "--text", "SCALES", "--status", "disputed").out
    shown = run("notes", "show", f"c-{ULID}")
    assert "Attention scales quadratically." in shown.out
    assert "\u202e" not in shown.out
    assert shown.out.endswith(f"<- saw e-{ULID}\n")
    document = run("notes", "show", "payments", "--json").json
    assert (document["name"], document["observations"][0]["text"]) == ("Billing team", "Releases on Thursdays.")
    assert not (project.parent / "data").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("notes", "show", "c-nowhere"), 3, "no note 'c-nowhere'"),
        (("notes", "list", "--kind", "rumour"), 2, "Use one of: claim, decision, entity."),
        (("notes", "list", "--status", "sure"), 2, "unknown status 'sure'"),
        (("notes", "export", "--format", "csv"), 2, "Use one of: jsonld, json, graphml."),
        (("notes", "import", "nowhere"), 2, "nowhere does not exist"),
        (("notes", "import", "pyproject.toml", "--kind", "rumour"), 2, "unknown kind 'rumour'"),
        (("notes", "add", "x", "--kind", "entity"), 2, "`atlas memory remember` writes entities"),
        (("notes", "add", "x", "--confidence", "7"), 2, "--confidence"),
        (("notes", "add", "key AKIAQ3EGRZKX5MTLWNPB"), 2, "contains a secret"),
        (("notes", "review"), 3, "atlas index"),
        (("notes", "retract", f"c-{ULID}", "wrong"), 3, f"no note c-{ULID}"),
        (("notes", "link", "nothing", "supports", f"c-{ULID}"), 2, "is no id of a note"),
        (("memory", "forget", "s-nothing"), 3, "no short-term memory"),
        (("memory", "note", "x", "--ttl", "0"), 2, "ttl must be more than 0"),
    ],
)
def test_errors_name_the_next_step(run: Run, arguments: tuple[str, ...], code: int, words: str) -> None:
    done = run(*arguments)
    assert (done.code, done.out) == (code, "")
    assert words in done.err
    assert done.err.startswith("error: ") and "hint:  " in done.err
    assert run(*arguments, "--json").json["error"]["exit_code"] == code


def test_the_doctor_names_problems_and_fixes(project: Path, run: Run) -> None:
    write(project, ".knowledge/a.md", CLAIM.replace("confidence: 0.8", "confidence: 7"))
    done = run("notes", "doctor")
    assert done.code == 1
    assert ".knowledge/a.md:4: note-value: the confidence must be 0 to 1" in done.out
    assert done.out.endswith("1 note, 2 problems\n")
    problems = run("notes", "doctor", "--json").json["problems"]
    assert {one["code"]: one["line"] for one in problems} == {"note-value": 4, "note-dangling": 11}
    assert all(one["fix"] for one in problems)
    write(project, ".knowledge/a.md", CLAIM.replace("d-", "symbol:"))
    assert (run("notes", "doctor").code, run("notes", "doctor").out) == (0, "1 note, no problems\n")


def test_an_export_is_imported_again(project: Path, run: Run, tmp_path: Path) -> None:
    write(project, ".knowledge/claims/a.md", CLAIM)
    file = tmp_path / "notes.jsonld"
    assert run("notes", "export", "-o", str(file), "--json").json["notes"] == 1
    assert run("notes", "export").out == file.read_text()
    assert run("notes", "export", "--json").json["error"]["message"] == "--json needs --output"
    (project / ".knowledge/claims/a.md").unlink()
    assert run("notes", "import", str(file), "--dry-run").out == "would add 1 claim; 0 there already\n"
    assert not (project / ".knowledge/claims/a.md").exists()
    assert run("notes", "import", str(file)).out == "added 1 claim; 0 there already\n"
    assert (project / ".knowledge/claims/a.md").read_text() == CLAIM
    assert run("notes", "import", str(file), "--json").json == {
        **{"added": {}, "present": 1, "refused": 0, "left_out": {}},
        **{"dry_run": False, "problems": []},
    }
    write(project, ".knowledge/b.md", "no note")
    left = run("notes", "export", "--format", "graphml")
    assert left.code == 1
    assert left.out.endswith("</graphml>\n")
    assert ".knowledge/b.md: line 1: the note does not start with a line `---`" in left.err
    file.write_text('[{"content": "One.", "confidence": 7}, {"id": 1, "content": "Two."}]')
    partly = run("notes", "import", str(file))
    assert (partly.code, partly.out) == (1, "added 1 claim; 0 there already\n")
    assert "notes.jsonld:1: confidence is 7" in partly.err


def test_notes_are_written_linked_reviewed_and_retracted(project: Path, run: Run, tmp_path: Path) -> None:
    GitRepository(project).commit("A cart", {"shop/cart.py": CART})
    assert run("index").code == 0
    added = run(
        "notes", "add", "Totals are exact.", "--about", "Cart.total", "--confidence", "0", "--key", "k", "--json"
    )
    unit = added.json["body"]["groups"][0]["items"][0]["data"]
    file = project / unit["path"]
    assert "confidence: 0" in file.read_text() and "client: cli" in file.read_text()
    assert (
        "repeated"
        in run("notes", "add", "Totals are exact.", "--about", "Cart.total", "--confidence", "0", "--key", "k").out
    )
    other = run("notes", "add", "Prices are cents", "--kind", "decision", "--json").json
    decision = other["body"]["groups"][0]["items"][0]["data"]["id"]
    assert run("notes", "link", decision, "supports", unit["id"], "--reasoning", "no rounding").code == 0
    assert "<- supports" in run("notes", "show", unit["id"]).out
    found = run("notes", "search", "are totals exact")
    assert found.code == 0 and unit["id"] in found.out
    assert "0 suspect; 1 note with anchors checked" in run("notes", "review").out
    clashing = run("notes", "contradictions", "Totals are not exact.").out
    assert "1 possible" in clashing and unit["id"] in clashing
    chain = run("notes", "lineage", decision, unit["id"]).out
    assert f"{decision}" in chain and "supports" in chain and "no rounding" in chain
    whole = run("notes", "unit", unit["id"]).out
    assert "shop/cart.py:2" in whole and "<- supports" in whole
    assert (
        run("notes", "update", unit["id"], "--text", "Totals are exact to the cent.", "--status", "accepted").code == 0
    )
    assert "Totals are exact to the cent." in file.read_text() and "status: accepted" in file.read_text()
    (project / "shop/cart.py").write_text(CART.replace("sum(prices)", "round(sum(prices), 2)"))
    suspect = run("notes", "review")
    assert "symbol shop.cart.Cart.total: changed at shop/cart.py:2 (body)" in suspect.out
    assert "+        return round(sum(prices), 2)" in suspect.out
    assert run("notes", "review", "--json").json["suspects"][0]["id"] == unit["id"]
    assert run("notes", "review", "--reaffirm", unit["id"]).code == 0
    assert run("notes", "review", "--json").json["total"] == 0
    assert run("notes", "retract", unit["id"], "rounded now", "--superseded-by", decision).code == 0
    assert "status: superseded" in file.read_text()


def test_imported_keys_are_known_to_the_tools(project: Path, run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "units.json").write_text('[{"id": "u1", "content": "Old.", "created_at": "2020-01-02"}]')
    (folder / "idempotency.json").write_text('{"key-1": {"id": "u1"}}')
    assert run("notes", "import", str(folder)).out == "added 1 claim, 1 key; 0 there already\n"
    done = run("notes", "add", "Other words.", "--key", "key-1", "--json").json
    assert done["body"]["status"] == "repeated"
    assert done["body"]["groups"][0]["items"][0]["data"]["path"] == ".knowledge/claims/2020/old.md"
    assert run("notes", "list", "--json").json["total"] == 1


def test_memory(project: Path, run: Run) -> None:
    write(project, "a.py", "def f(): ...\n")
    assert run("index").code == 0
    assert (
        run("memory", "remember", "Ada", "Prefers short answers.", "--type", "person", "--alias", "Lovelace").code == 0
    )
    assert "Prefers short answers." in run("memory", "show", "Lovelace").out
    assert run("memory", "relate", "Ada", "works in", "Billing team").code == 0
    unknown = run("memory", "show", "Bilng team")
    assert unknown.code == 3 and "near:  Billing team" in unknown.err
    assert "near:" not in run("memory", "show", "Nobody of this name").err
    assert "Prefers short answers." in run("memory", "recall", "how long should answers be").out
    listed = run("memory", "list", "--type", "person")
    assert "Ada" in listed.out and "1 observation" in listed.out
    kept = run("memory", "note", "Ada waits for the cart", "--ttl", "1", "--json").json
    entry = kept["body"]["groups"][0]["items"][0]["data"]["id"]
    assert "Ada waits for the cart" in run("memory", "refresh", "the cart").out
    assert run("memory", "promote", entry, "Lovelace").code == 0
    document = run("notes", "show", "Ada", "--json").json
    texts = [one["text"] for one in document["observations"]]
    assert texts == ["Prefers short answers.", "Ada waits for the cart"]
    assert run("memory", "forget", document["observations"][0]["id"]).code == 0
    assert len(run("notes", "show", "Ada", "--json").json["observations"]) == 1


def test_an_observation_with_importance_and_an_image(project: Path, run: Run) -> None:
    write(project, "a.py", "def f(): ...\n")
    (project / "sign.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
    assert run("index").code == 0
    said = ("memory", "remember", "Shop", "The old sign: blue, with a ship.", "--attachment")
    assert run(*said, "sign.png", "--importance", "0.9").code == 0
    [note] = (project / ".knowledge/entities").glob("*.md")
    assert "(importance: 0.90)" in note.read_text() and "(attachment: sign.png image/png" in note.read_text()
    assert run(*said, "nothing.png").code != 0
    assert run(*said, "sign.png", "--importance", "1.5").code == 2


def test_memory_without_an_index_denies_nothing_that_files_hold(project: Path, run: Run) -> None:
    nothing = run("memory", "refresh")
    assert "none: nothing is remembered yet" in nothing.out and "not read" not in nothing.out
    kept = run("memory", "remember", "Ada", "Prefers short answers.", "--alias", "Lovelace", "--json").json
    entity, observation = (group["items"][0]["data"]["id"] for group in kept["body"]["groups"][:2])
    for words in (
        ("memory", "refresh"),
        ("memory", "recall", "short answers"),
        ("memory", "recall", "answers", "--entity", "Lovelace"),
        ("memory", "list"),
        ("notes", "search", "answers"),
        ("notes", "contradictions", "Answers are long."),
        ("notes", "lineage", "answers", "length"),
    ):
        said = run(*words)
        assert "\nunknown: " in said.out and "not read: 1 note of" in said.out, said.out
    for words in (("memory", "show", "Lovelace"), ("notes", "unit", entity)):
        said = run(*words)
        assert said.code == 3 and "not read: 1 note of" in said.err, said.err
    assert run("memory", "remember", "lovelace", "Likes tea.").code == 0
    assert run("notes", "list", "--json").json["total"] == 1, "an alias is known without an index"
    assert run("memory", "forget", observation).code == 0
    assert "Prefers short answers." not in run("notes", "show", "Ada").out


def test_personal_notes_are_in_a_folder_of_their_own(project: Path, run: Run) -> None:
    assert run("memory", "remember", "Me", "Likes tea.", "--personal").code == 0
    assert not (project / ".knowledge").exists()
    assert run("notes", "show", "Me", "--personal", "--json").json["observations"][0]["text"] == "Likes tea."
    assert run("notes", "doctor", "--personal").code == 0
    assert run("notes", "list", "--json").json["total"] == 0


def test_a_note_from_standard_input(project: Path, tmp_path: Path) -> None:
    places = ["--project", str(project), "--data-dir", str(tmp_path / "data")]
    arguments = [*COMMAND, "notes", "add", "-", "--json", *places]
    done = subprocess.run(
        arguments, input="Größe\n\nmatters.".encode(), env=environment(), capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    [file] = (project / ".knowledge/claims").rglob("*.md")
    assert file.read_text().endswith("---\nGröße\n\nmatters.\n")
    bad = subprocess.run(arguments, input=b"\xff", env=environment(), capture_output=True, timeout=60)
    assert (bad.returncode, json.loads(bad.stdout)["error"]["message"]) == (2, "standard input is not UTF-8")


def test_hints_for_people_name_commands_instead_of_tools() -> None:
    asked = {tool.name for toolset in ("claims", "memory", "packs") for tool in TOOLSETS[toolset].tools}
    assert output.COMMANDS.keys() <= asked
    assert {name for name in asked if "_" in name} <= output.COMMANDS.keys()
    assert {f"atlas {command}" for command in output.COMMANDS.values()} <= set(COMMANDS)
    hint = "list_propositions and `list_entities` name those there are."
    assert output.sentence(hint) == "`atlas notes list` and `atlas memory list` name those there are."
