"""`atlas connect --hooks` and `--plugin`, and what the hooks tell a model."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from atlas.cli.clients.hook_command import names_in, searched_names
from atlas.cli.clients.hooks import HOOKS
from atlas.cli.clients.plugin import plugin_files
from atlas.cli.clients.recipes import Client
from atlas.cli.clients.skill import skill_page
from atlas.parsing import count_tokens

from .processes import COMMAND, Place, environment
from .test_connect import Machine

FILES = {
    Client.CLAUDE_CODE: (".claude/settings.local.json", ".claude/settings.json"),
    Client.GEMINI_CLI: (".gemini/settings.json", ".gemini/settings.json"),
    Client.CODEX: (".codex/hooks.json", ".codex/hooks.json"),
}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def commands_in(path: Path) -> list[str]:
    events: dict[str, Any] = json.loads(path.read_text())["hooks"]
    return [hook["command"] for groups in events.values() for group in groups for hook in group["hooks"]]


@pytest.mark.parametrize("client", HOOKS)
def test_hooks_are_written_listed_and_taken_back(machine: Machine, client: Client) -> None:
    path = machine.root / FILES[client][0]
    done = machine.done(client.value, "--hooks")
    assert f"undo:  atlas connect {client.value} --hooks --undo" in done
    assert commands_in(path) == [f"{shlex.join(COMMAND)} hook session", f"{shlex.join(COMMAND)} hook grep"]
    assert "already installed" in machine.connect(client.value, "--hooks").stdout
    listed = json.loads(machine.connect("--json").stdout)["clients"]
    assert [one["client"] for one in listed if one["hooks"]] == [client.value]
    machine.done(client.value, "--hooks", "--undo")
    assert machine.files() == {}
    assert "nothing to take back" in machine.connect(client.value, "--hooks", "--undo").stdout

    machine.done(client.value, "--hooks", "--portable")
    shared = machine.root / FILES[client][1]
    assert commands_in(shared) == ["atlas hook session", "atlas hook grep"]
    machine.done(client.value, "--hooks", "--portable", "--undo")
    machine.done(client.value, "--hooks", "--user")
    machine.done(client.value, "--hooks", "--user", "--undo")
    assert machine.files() == {}


def test_a_client_without_hooks_is_named(machine: Machine) -> None:
    done = machine.connect("zed", "--hooks", "--yes")
    assert done.returncode == 2
    assert "Zed has no hooks" in done.stderr


OTHERS = """{
  "permissions": {"allow": ["Bash(ls)"]},
  "hooks": {
    "PostToolUse": [ // mine
      {"matcher": "Edit", "hooks": [{"type": "command", "command": "make lint"}]}
    ]
  }
}
"""


def test_hooks_of_others_stay(machine: Machine) -> None:
    path = machine.root / ".claude/settings.local.json"
    path.parent.mkdir()
    path.write_text(OTHERS)
    machine.done("claude-code", "--hooks")
    assert commands_in(path)[0] == "make lint"
    assert len(commands_in(path)) == 3
    machine.done("claude-code", "--hooks", "--undo")
    assert path.read_text() == OTHERS

    machine.done("claude-code", "--hooks")
    document = json.loads(path.read_text())
    document["hooks"]["Stop"] = [{"hooks": [{"type": "command", "command": "say done"}]}]
    path.write_text(json.dumps(document))
    machine.done("claude-code", "--hooks", "--undo")
    assert commands_in(path) == ["make lint", "say done"]


def test_entry_and_hooks_in_one_file_are_taken_back_in_any_order(machine: Machine) -> None:
    path = machine.root / ".gemini/settings.json"
    for first, second in (([], ["--hooks"]), (["--hooks"], [])):
        machine.done("gemini-cli")
        machine.done("gemini-cli", "--hooks")
        machine.done("gemini-cli", *first, "--undo")
        assert path.exists()
        machine.done("gemini-cli", *second, "--undo")
        assert machine.files() == {}


def test_hooks_of_an_unknown_form_are_left_alone(machine: Machine) -> None:
    path = machine.root / ".gemini/settings.json"
    path.parent.mkdir()
    path.write_text('{"hooks": {"enabled": true}}')
    assert machine.connect("gemini-cli", "--hooks", "--yes").returncode == 2
    assert path.read_text() == '{"hooks": {"enabled": true}}'


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("SessionStore", ["SessionStore"]),
        (r"\bexpire_sessions\(", ["expire_sessions"]),
        ("def expire_sessions", ["expire_sessions"]),
        (r"SessionStore\|Cart.total", ["SessionStore", "Cart.total"]),
        ("shop::Cart", ["shop::Cart"]),
        ("session expired", []),
        ("TODO.*fix", []),
        ("id", []),
        ("[a-z]+Store", []),
        ("", []),
        ("(" * 2000, []),
    ],
)
def test_names_in_a_pattern(pattern: str, names: list[str]) -> None:
    assert names_in(pattern) == names


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("grep -rn SessionStore src", ["SessionStore"]),
        ("cd src && rg -t py -e 'SessionStore|Cart' .", ["SessionStore", "Cart"]),
        ("git grep -n SessionStore", ["SessionStore"]),
        ("make test | grep FAILED", []),
        ("echo grep", []),
        ("grep 'unclosed", []),
        ("ls", []),
    ],
)
def test_names_in_a_shell_command(command: str, names: list[str]) -> None:
    assert searched_names({"tool_name": "Bash", "tool_input": {"command": command}}) == names


def run_hook(kind: str, event: object, **env: str) -> str:
    text = event if isinstance(event, str) else json.dumps(event)
    done = subprocess.run(
        [*COMMAND, "hook", kind], input=text, capture_output=True, text=True, timeout=60, env=environment(**env)
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


def test_what_a_session_is_told(place: Place) -> None:
    env = {"ATLAS_DATA_DIR": str(place.data), "ATLAS_PROJECT": str(place.root)}
    card = run_hook("session", {"hook_event_name": "SessionStart", "cwd": str(place.root)}, **env)
    assert "graph of shop" in card
    assert count_tokens(card) <= 120
    grep = {"hook_event_name": "PostToolUse", "tool_name": "Grep", "tool_input": {"pattern": "Cart"}}
    hint = run_hook("grep", grep, **env)
    assert "`Cart` 1 definition" in hint
    assert "callers of Cart" in hint
    assert count_tokens(hint) <= 120
    unknown = {**grep, "tool_input": {"pattern": "NoSuchNameAnywhere"}}
    assert run_hook("grep", unknown, **env) == ""


@pytest.mark.parametrize("event", ["", "[1]", "{", '{"tool_input": 3}', '{"cwd": "/nowhere", "tool_name": "Grep"}'])
@pytest.mark.parametrize("kind", ["session", "grep"])
def test_a_hook_never_fails(tmp_path: Path, kind: str, event: str) -> None:
    assert run_hook(kind, event, ATLAS_PROJECT=str(tmp_path), ATLAS_DATA_DIR=str(tmp_path / "none")) == ""
    assert not (tmp_path / "none").exists(), "nothing is indexed because of a hook"


def test_a_hook_that_is_late_is_silent(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "hook", "grep"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(), cwd=tmp_path
    ) as process:
        assert process.wait(30) == 0, "it waits for input no longer than its limit"


def test_the_plugin_folder(machine: Machine) -> None:
    folder = machine.home / "plugin"
    machine.done("--plugin", str(folder))
    written = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert written == set(plugin_files())
    manifest = json.loads((folder / ".claude-plugin/plugin.json").read_text())
    assert (folder / manifest["hooks"]).is_file()
    assert (
        manifest["name"] == json.loads((folder / ".claude-plugin/marketplace.json").read_text())["plugins"][0]["name"]
    )
    assert json.loads((folder / ".mcp.json").read_text())["mcpServers"]["code-atlas"]["command"] == "atlas"
    assert json.loads((folder / "gemini-extension.json").read_text())["mcpServers"]["code-atlas"]["args"] == ["mcp"]
    assert (folder / "skills/code-atlas/SKILL.md").read_text() == skill_page()
    assert not any(sys.executable in path.read_text() for path in folder.rglob("*") if path.is_file())
    machine.done("--plugin", str(folder))
    (folder / ".mcp.json").write_text("theirs")
    done = machine.connect("--plugin", str(folder), "--yes")
    assert done.returncode == 2
    assert (folder / ".mcp.json").read_text() == "theirs"
