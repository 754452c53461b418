"""`atlas connect --undo` takes back what was written and nothing that somebody else wrote since."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from atlas.cli.clients.recipes import Client
from atlas.cli.clients.skill import skill_page

from .test_connect import PLACES, Machine, on_terminal

NAMES = {client: place[0] for client, place in PLACES.items() if place[0]}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def edited(path: Path, old: str, new: str) -> str:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path.read_text()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"command": ', '"disabled": true, "command": '),
        ('"command": ', '// mine\n "command": '),
        ('"args": [', '"args": ["-X", '),
        ('"mcp"', '"mcp", "--verbose"'),
    ],
)
def test_an_edited_entry_is_kept_unless_the_user_says_otherwise(machine: Machine, old: str, new: str) -> None:
    path = machine.root / ".cursor/mcp.json"
    machine.done("cursor")
    text = edited(path, old, new)
    for words in (("--yes",), ()):
        done = machine.connect("cursor", "--undo", *words)
        assert done.returncode == 2
        assert "is not as `atlas connect` wrote it" in done.stderr
        assert path.read_text() == text
    code, shown = on_terminal(machine, "n\n", "cursor", "--undo")
    assert (code, path.read_text()) == (1, text)
    assert "with those edits?" in shown
    code, _ = on_terminal(machine, "y\n", "cursor", "--undo")
    assert (code, path.exists()) == (0, False)


def test_an_edited_table_of_toml_is_kept(machine: Machine) -> None:
    path = machine.root / ".codex/config.toml"
    for old, new in (("command = ", "# mine\ncommand = "), ("args = ", "startup_timeout_sec = 9\nargs = ")):
        machine.done("codex")
        text = edited(path, old, new)
        assert machine.connect("codex", "--undo", "--yes").returncode == 2
        assert path.read_text() == text
        path.unlink()


def test_an_edited_skill_and_section_are_kept(machine: Machine) -> None:
    page = machine.root / ".claude/skills/code-atlas/SKILL.md"
    machine.done("claude-code", "--skill")
    page.write_text(page.read_text() + "\nMy own line.\n")
    assert machine.connect("claude-code", "--skill", "--undo", "--yes").returncode == 2
    assert "My own line." in page.read_text()
    page.write_text(skill_page())
    machine.done("claude-code", "--skill", "--undo")
    assert not page.exists()

    rules = machine.root / "AGENTS.md"
    machine.done("jetbrains", "--skill")
    edited(rules, "<!-- code-atlas:end -->", "My rule.\n<!-- code-atlas:end -->")
    assert machine.connect("jetbrains", "--skill", "--undo", "--yes").returncode == 2
    assert "My rule." in rules.read_text()


def test_what_no_record_knows_is_not_taken_back_unasked(machine: Machine) -> None:
    page = machine.root / ".claude/skills/code-atlas/SKILL.md"
    page.parent.mkdir(parents=True)
    page.write_text("theirs")
    config = machine.root / ".mcp.json"
    config.write_text('{"mcpServers": {"code-atlas": {"command": "theirs"}}}')
    for words in (("claude-code", "--skill"), ("claude-code",)):
        assert machine.connect(*words, "--undo", "--yes").returncode == 2
    assert (page.read_text(), "theirs" in config.read_text()) == ("theirs", True)


@pytest.mark.parametrize("client", NAMES)
def test_two_connects_in_a_row_are_taken_back_to_the_byte(machine: Machine, client: Client) -> None:
    path = machine.root / NAMES[client]
    path.parent.mkdir(parents=True, exist_ok=True)
    before = '# mine\n\n\na = 1 \n\n\n' if client is Client.CODEX else '{ // mine\n\n   "a" : 1,\n\n}\n\n'  # fmt: skip
    path.write_text(before)
    machine.done(client.value)
    machine.done(client.value, "--data-dir", str(machine.home / "data"))
    assert str(machine.home / "data") in path.read_text()
    machine.done(client.value, "--undo")
    assert path.read_text() == before
    assert machine.connect(client.value, "--undo").stdout.startswith("nothing to take back")


def test_later_edits_around_the_entry_keep_every_byte(machine: Machine) -> None:
    rules = machine.root / "AGENTS.md"
    rules.write_text("# Rules\n\n\nBe kind.\n\n\n")
    machine.done("jetbrains", "--skill")
    rules.write_text(f"# Head\n\n\n{rules.read_text()}\n\n\n# More\n")
    machine.done("jetbrains", "--skill", "--undo")
    assert rules.read_text() == "# Head\n\n\n# Rules\n\n\nBe kind.\n\n\n\n\n\n# More\n"

    path = machine.root / ".mcp.json"
    path.write_text('{\n  "mcpServers": {\n    "a": {}\n  }\n}\n')
    machine.done("claude-code")
    text = path.read_text().rstrip()[:-1].rstrip()[:-1].rstrip()  # up to our entry
    path.write_text(f'{text},\n    "later": {{}} // mine\n  }}\n}}\n')
    machine.done("claude-code", "--undo")
    assert path.read_text() == '{\n  "mcpServers": {\n    "a": {},\n    "later": {} // mine\n  }\n}\n'


def test_a_reformatted_or_deleted_file(machine: Machine) -> None:
    path = machine.root / ".mcp.json"
    path.write_text('{"a": 1}')
    machine.done("claude-code")
    path.write_text(json.dumps(json.loads(path.read_text()), indent=8, sort_keys=True))
    machine.done("claude-code", "--undo")
    assert json.loads(path.read_text()) == {"a": 1}
    machine.done("claude-code")
    path.unlink()
    done = machine.connect("claude-code", "--undo")
    assert (done.returncode, path.exists()) == (0, False)
    path.write_text('{"mcpServers": {"code-atlas": {"command": "mine"}}}')
    assert machine.connect("claude-code", "--undo", "--yes").returncode == 2, "an entry made after that"


def test_a_file_that_was_replaced_by_a_link_stays_one(machine: Machine) -> None:
    link = machine.home / ".cursor/mcp.json"
    machine.done("cursor", "--user")
    target = machine.home / "dotfiles.json"
    link.rename(target)
    link.symlink_to(target)
    machine.done("cursor", "--user", "--undo")
    assert link.is_symlink()
    assert json.loads(target.read_text()) == {}


def test_mode_and_group_stay(machine: Machine) -> None:
    path = machine.root / ".mcp.json"
    path.write_text("{}\n")
    path.chmod(0o600)
    others = [group for group in os.getgroups() if group != os.getgid()]
    group = 65534 if os.geteuid() == 0 else others[0] if others else os.getgid()
    os.chown(path, 65534 if os.geteuid() == 0 else -1, group)
    before = path.stat()
    machine.done("claude-code")
    machine.done("claude-code", "--undo")
    now = path.stat()
    assert (now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)) == (before.st_uid, before.st_gid, 0o600)
