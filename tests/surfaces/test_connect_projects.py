"""`atlas connect` for several projects, for all clients, and for files that are committed."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from atlas.cli.clients import jsonc
from atlas.cli.clients.recipes import RECIPES, Client

from .processes import COMMAND
from .test_connect import PLACES, Machine, entry_in

SINGLE = [Client.WINDSURF, Client.CLINE]
ROOTS_UNKNOWN = [Client.WINDSURF, Client.CLINE, Client.JETBRAINS]
"""Clients that do not say in which folder they start servers."""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def projects_of(machine: Machine, *names: str) -> list[Path]:
    roots = [machine.root.parent / name for name in names]
    for root in roots:
        (root / ".git").mkdir(parents=True)
    return [machine.root, *roots]


def servers_in(path: Path, client: Client) -> dict[str, Any]:
    found: Any = jsonc.load(path.read_text())
    for key in RECIPES[client].key:
        found = found[key]
    return found


def owners(path: Path, client: Client) -> dict[str, str]:
    return {name: entry["args"][-1] for name, entry in servers_in(path, client).items()}


@pytest.mark.parametrize("client", [*SINGLE, Client.JETBRAINS])
def test_each_project_has_its_entry_in_the_one_file(machine: Machine, client: Client) -> None:
    path = machine.home / PLACES[client][1]
    user = ["--user"] if client is Client.JETBRAINS else []
    path.parent.mkdir(parents=True)
    before = '{"mcpServers": {"mine": {"command": "x", "args": ["y"]}}, "z": 1 }\n'
    path.write_text(before)
    first, second, third = projects_of(machine, "My Shop!", "elsewhere/My Shop!")
    for root in (first, second, third, second):
        machine.done(client.value, *user, "--project", str(root))
    assert owners(path, client) == {
        "mine": "y",
        "code-atlas": str(first),
        "code-atlas-my-shop": str(second),
        "code-atlas-my-shop-2": str(third),
    }
    machine.done(client.value, *user, "--undo", "--project", str(second))
    assert set(owners(path, client)) == {"mine", "code-atlas", "code-atlas-my-shop-2"}
    again = machine.connect(client.value, *user, "--undo", "--project", str(second))
    assert again.stdout.startswith("nothing to take back")
    assert len(owners(path, client)) == 3
    machine.done(client.value, *user, "--undo", "--project", str(third))
    machine.done(client.value, *user, "--undo", "--project", str(first))
    assert path.read_text() == before


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("before", [None, "", '{"mcpServers": {}}', '{\n\t"a": 1, // mine\n}\n'])
def test_any_order_of_undo_restores_the_bytes(machine: Machine, order: tuple[int, ...], before: str | None) -> None:
    path = machine.home / PLACES[Client.WINDSURF][1]
    if before is not None:
        path.parent.mkdir(parents=True)
        path.write_text(before)
    roots = projects_of(machine, "b", "c")
    for root in roots:
        machine.done("windsurf", "--project", str(root))
    machine.done("windsurf", "--project", str(roots[0]), "--data-dir", str(machine.home / "data"))
    for place in order:
        machine.done("windsurf", "--undo", "--project", str(roots[place]))
    assert (path.read_text() if path.exists() else None) == before
    if before is None:
        assert not (machine.home / ".codeium").exists(), "folders made for the file are gone"


def test_the_last_undo_deletes_a_file_that_the_first_connect_made(machine: Machine) -> None:
    first, second = projects_of(machine, "b")
    machine.done("cline", "--project", str(first))
    machine.done("cline", "--project", str(second))
    machine.done("cline", "--undo", "--project", str(first))
    assert owners(machine.home / PLACES[Client.CLINE][1], Client.CLINE) == {"code-atlas-b": str(second)}
    machine.done("cline", "--undo", "--project", str(second))
    assert machine.files() == {}


def test_edits_between_two_projects_are_kept(machine: Machine) -> None:
    path = machine.home / PLACES[Client.CLINE][1]
    path.parent.mkdir(parents=True)
    path.write_text('{\n  "mcpServers": {}\n}\n')
    first, second = projects_of(machine, "b")
    machine.done("cline", "--project", str(first))
    path.write_text(path.read_text().replace('{\n  "mcp', '{\n  "mine": true, // mine\n  "mcp', 1))
    machine.done("cline", "--project", str(second))
    machine.done("cline", "--undo", "--project", str(first))
    machine.done("cline", "--undo", "--project", str(second))
    assert "// mine" in path.read_text()
    assert jsonc.load(path.read_text()) == {"mine": True, "mcpServers": {}}


def test_an_entry_of_another_project_is_not_named_by_mistake(machine: Machine) -> None:
    first, second = projects_of(machine, "b")
    machine.done("windsurf", "--name", "atlas", "--project", str(first))
    path = machine.home / PLACES[Client.WINDSURF][1]
    text = path.read_text()
    for words in ((), ("--undo",)):
        done = machine.connect("windsurf", "--name", "atlas", "--project", str(second), "--yes", *words)
        assert done.returncode == 2
        assert f"entry of another project: {first}" in done.stderr
    assert path.read_text() == text


def test_projects_over_http_have_an_entry_each(machine: Machine) -> None:
    first, second = projects_of(machine, "b")
    for root, port in ((first, "8001"), (second, "8002")):
        machine.done("windsurf", "--transport", "http", "--port", port, "--project", str(root))
    urls = {
        name: entry["serverUrl"]
        for name, entry in servers_in(machine.home / PLACES[Client.WINDSURF][1], Client.WINDSURF).items()
    }
    assert urls == {"code-atlas": "http://127.0.0.1:8001/mcp", "code-atlas-b": "http://127.0.0.1:8002/mcp"}


def test_the_list_speaks_of_this_project(machine: Machine) -> None:
    first, second = projects_of(machine, "b")
    machine.done("windsurf", "--project", str(first))
    states = {}
    for root in (first, second):
        found = json.loads(machine.connect("--json", "--project", str(root)).stdout)["clients"]
        states[root] = next(one["user"]["state"] for one in found if one["client"] == "windsurf")
    assert states == {first: "connected", second: "other project"}


@pytest.mark.parametrize("client", Client)
def test_a_committed_file_has_no_path_of_this_machine(machine: Machine, client: Client) -> None:
    machine.patch.setenv("ATLAS_PACKS", str(machine.home))
    machine.patch.setenv("ATLAS_DATA_DIR", str(machine.home / "data"))
    if client in ROOTS_UNKNOWN:
        done = machine.connect(client.value, "--portable", "--yes")
        assert done.returncode == 2
        assert "--portable" in done.stderr
        assert machine.files() == {}
        return
    assert "it starts the `atlas` that is on path" in machine.done(client.value, "--portable").lower()
    path = machine.root / PLACES[client][0]
    entry = entry_in(path, client)
    command = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
    variable = RECIPES[client].folder_variable
    assert command == ["atlas", "mcp", *(["--project", variable] if variable else [])]
    assert str(machine.root.parent) not in path.read_text()
    assert "already connected" in machine.connect(client.value, "--portable").stdout
    machine.done(client.value, "--undo")
    assert machine.files() == {}


def test_all_installed_clients_at_once(machine: Machine) -> None:
    for folder in (".codex", ".cursor", ".codeium/windsurf"):
        (machine.home / folder).mkdir(parents=True)
    (machine.root / ".cursor").mkdir()
    (machine.root / ".cursor/mcp.json").write_text("{")
    machine.patch.setenv("PATH", "/nowhere")
    done = machine.connect("--all", "--yes")
    assert done.returncode == 2
    assert "1 of 3 clients failed" in done.stderr
    assert "cursor: " in done.stderr
    assert "connected: Codex" in done.stdout
    assert "connected: Windsurf" in done.stdout
    (machine.root / ".cursor/mcp.json").unlink()
    document = json.loads(machine.done("--all", "--json"))
    assert [(one["client"], one["action"]) for one in document["clients"]] == [
        ("codex", "none"),
        ("cursor", "add"),
        ("windsurf", "none"),
    ]
    machine.done("--all", "--undo")
    assert machine.files() == {}


def test_check_starts_what_is_connected(machine: Machine) -> None:
    nothing = machine.connect("--check")
    assert nothing.returncode == 2
    assert "no client is connected" in nothing.stderr
    machine.done("claude-code")
    machine.done("windsurf")
    machine.done("gemini-cli", "--user")
    found = json.loads(machine.connect("--check", "--json").stdout)["entries"]
    assert [(one["client"], one["result"]) for one in found] == [
        ("claude-code", "starts"),
        ("gemini-cli", "starts"),
        ("windsurf", "starts"),
    ]
    assert all("tools" in one["detail"] and one["seconds"] > 0 for one in found)


def test_check_runs_no_command_of_a_stranger(machine: Machine) -> None:
    proof = machine.root / "proof"
    evil = machine.root / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {proof}\n")
    evil.chmod(0o755)
    start = {"command": COMMAND[0], "args": [*COMMAND[1:], "mcp"]}
    entries = [
        {"command": str(evil), "args": ["mcp"]},
        {"command": "sh", "args": ["-c", f"touch {proof}", "atlas", "mcp"]},
        {**start, "args": [*start["args"], "--transport", "http"]},
        {**start, "args": [*start["args"], "--project"]},
    ]
    for entry in entries:
        (machine.root / ".mcp.json").write_text(json.dumps({"mcpServers": {"code-atlas": entry}}))
        found = json.loads(machine.connect("--check", "--json").stdout)["entries"]
        assert [one["result"] for one in found] == ["not started"], entry
    # variables of the entry, which could load code, are not passed on
    (machine.root / "sitecustomize.py").write_text(f"open({str(proof)!r}, 'w')")
    (machine.root / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"code-atlas": {**start, "env": {"PYTHONPATH": str(machine.root)}}}})
    )
    found = json.loads(machine.connect("--check", "--json").stdout)["entries"]
    assert [one["result"] for one in found] == ["starts"]
    assert not proof.exists()


def test_check_says_why_an_entry_fails(machine: Machine) -> None:
    machine.done("claude-code", "--portable")
    machine.patch.setenv("PATH", "/nowhere")
    done = machine.connect("--check")
    assert done.returncode == 1
    assert "atlas is not on PATH" in done.stdout
    assert "not started: 1 of 1 entry" in done.stderr
    (machine.root / ".mcp.json").write_text("{")
    assert machine.connect("--check").returncode == 1


def test_check_starts_a_portable_entry(machine: Machine, tmp_path: Path) -> None:
    machine.done("cursor", "--portable")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "atlas").write_text(f'#!/bin/sh\nexec {sys.executable} -P -m atlas "$@"\n')
    (folder / "atlas").chmod(0o755)
    machine.patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    assert shutil.which("atlas") == str(folder / "atlas")
    found = json.loads(machine.connect("--check", "--json").stdout)["entries"]
    assert [(one["client"], one["result"]) for one in found] == [("cursor", "starts")]
