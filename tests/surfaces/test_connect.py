"""`atlas connect` on real files: what is written, asked, refused, and taken back."""

from __future__ import annotations

import json
import os
import pty
import re
import stat
import subprocess
import sys
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from atlas.app.toolsets import BY_NAME
from atlas.cli.clients import jsonc
from atlas.cli.clients.recipes import FOLDER_VARIABLES, RECIPES, Client
from atlas.cli.clients.skill import skill_page, skill_section
from atlas.cli.main import main
from atlas.code.tools.catalogue import TOOLS
from atlas.parsing import count_tokens

from .processes import COMMAND, environment


class Machine:
    """A home folder, a project, and `atlas connect` there.

    Commands run in this process, which saves a second each; the tests with a terminal run real processes.
    """

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.home, self.root = folder / "home", folder / "p"
        self.home.mkdir()
        (self.root / ".git").mkdir(parents=True)
        moved = (*FOLDER_VARIABLES, "CODEX_HOME", "COPILOT_HOME", "CLAUDE_CONFIG_DIR")
        self.env = {"HOME": str(self.home), "COLUMNS": "200"} | dict.fromkeys(moved, "")
        for name in [name for name in os.environ if name.startswith("ATLAS_")]:
            patch.delenv(name)
        for name, value in self.env.items():
            patch.setenv(name, value)
        patch.chdir(self.root)
        self.patch = patch

    def connect(self, *words: str) -> subprocess.CompletedProcess[str]:
        self.patch.setattr(sys, "argv", ["__main__.py", "connect", *words])
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err, pytest.raises(SystemExit) as end:
            main()
        return subprocess.CompletedProcess(words, end.value.code or 0, out.getvalue(), err.getvalue())  # type: ignore[arg-type]

    def done(self, *words: str) -> str:
        done = self.connect(*words, "--yes")
        assert done.returncode == 0, done
        return done.stdout

    def files(self) -> dict[str, str]:
        """All files of the project and the home folder but the records."""
        found = [path for top in (self.root, self.home) for path in top.rglob("*") if path.is_file()]
        return {path.name: path.read_text() for path in found if "connections" not in path.parts}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def entry_in(path: Path, client: Client) -> Any:
    text = path.read_text()
    found: Any = tomllib.loads(text) if path.suffix == ".toml" else jsonc.load(text)
    for key in (*RECIPES[client].key, "code-atlas"):
        found = found[key]
    return found


PLACES = {
    Client.CLAUDE_CODE: (".mcp.json", ".claude.json", ".claude/skills"),
    Client.CODEX: (".codex/config.toml", ".codex/config.toml", ".agents/skills"),
    Client.GEMINI_CLI: (".gemini/settings.json", ".gemini/settings.json", ".gemini/skills"),
    Client.OPENCODE: ("opencode.json", ".config/opencode/opencode.json", ".opencode/skills"),
    Client.COPILOT_CLI: (".github/mcp.json", ".copilot/mcp-config.json", ".github/skills"),
    Client.VSCODE: (".vscode/mcp.json", "", ".github/skills"),
    Client.CURSOR: (".cursor/mcp.json", ".cursor/mcp.json", ".cursor/skills"),
    Client.WINDSURF: ("", ".codeium/windsurf/mcp_config.json", ".windsurf/skills"),
    Client.ZED: (".zed/settings.json", ".config/zed/settings.json", ".agents/skills"),
    Client.CLINE: ("", ".cline/data/settings/cline_mcp_settings.json", ".cline/skills"),
    Client.JETBRAINS: (".junie/mcp/mcp.json", ".junie/mcp/mcp.json", ""),
}


@pytest.mark.parametrize("client", Client)
def test_each_client_gets_an_entry_where_it_looks_and_loses_it(machine: Machine, client: Client) -> None:
    project, user, _ = PLACES[client]
    path = machine.root / project if project else machine.home / user
    machine.done(client.value)
    entry = entry_in(path, client)
    command = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
    assert command == [*COMMAND, "mcp", "--project", str(machine.root)]
    assert machine.done(client.value, "--undo")
    assert machine.files() == {}
    assert sorted(machine.root.iterdir()) == [machine.root / ".git"], "folders made for the file are gone"


@pytest.mark.parametrize(("client", "key"), [(Client.CURSOR, "env"), (Client.OPENCODE, "environment")])
def test_the_entry_names_folders_of_packs_and_notes(machine: Machine, client: Client, key: str) -> None:
    machine.patch.setenv("ATLAS_PACKS", "/p")
    machine.patch.setenv("XDG_DATA_HOME", "/d")
    machine.done(client.value)
    assert entry_in(machine.root / PLACES[client][0], client)[key] == {"XDG_DATA_HOME": "/d", "ATLAS_PACKS": "/p"}


def test_the_entry_starts_a_server(machine: Machine) -> None:
    machine.done("codex")
    entry = entry_in(machine.root / ".codex/config.toml", Client.CODEX)
    started = subprocess.run(
        [entry["command"], *entry["args"]], input="", capture_output=True, text=True, timeout=60, env=environment()
    )
    assert (started.returncode, started.stdout) == (0, "")


def test_an_entry_of_the_user_serves_every_project_where_the_client_allows_it(machine: Machine) -> None:
    machine.done("claude-code", "--user")
    assert entry_in(machine.home / ".claude.json", Client.CLAUDE_CODE)["args"] == [*COMMAND[1:], "mcp"]
    machine.done("cursor", "--user")
    assert entry_in(machine.home / ".cursor/mcp.json", Client.CURSOR)["args"][-2:] == [
        "--project",
        "${workspaceFolder}",
    ]
    assert not list(machine.root.glob(".[!g]*"))


CONFIG = """// my settings
{
  "theme": "dark", // night
  "context_servers": {
    "other": {"command": "x", "env": {"GITHUB_TOKEN": "do-not-print-this"}},
  },
}
"""


def test_a_change_is_shown_asked_for_and_taken_back_to_the_byte(machine: Machine) -> None:
    path = machine.root / ".zed/settings.json"
    path.parent.mkdir()
    path.write_bytes(b"\xef\xbb\xbf" + CONFIG.replace("\n", "\r\n").encode())
    path.chmod(0o640)
    before = path.read_bytes()
    refused = machine.connect("zed")
    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    assert '+    "code-atlas": {' in refused.stdout
    assert "do-not-print-this" not in refused.stdout + refused.stderr
    assert path.read_bytes() == before

    assert "undo:  atlas connect zed --undo" in machine.done("zed")
    after = path.read_bytes()
    assert after.startswith(b"\xef\xbb\xbf")
    assert after.count(b"\r\n") == after.count(b"\n")
    assert b"// night" in after
    assert b"do-not-print-this" in after
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    again = machine.connect("zed")
    assert (again.returncode, path.read_bytes()) == (0, after)
    assert again.stdout.startswith("already connected: Zed")

    machine.done("zed", "--undo")
    assert path.read_bytes() == before
    nothing = machine.connect("zed", "--undo")
    assert (nothing.returncode, path.read_bytes()) == (0, before)
    assert "nothing to take back" in nothing.stdout


def test_a_change_is_made_even_if_nobody_reads_what_is_shown(machine: Machine) -> None:
    words = [*COMMAND, "connect", "zed", "--yes"]
    with subprocess.Popen(words, cwd=machine.root, stdout=subprocess.PIPE, env=environment(**machine.env)) as process:
        assert process.stdout is not None
        process.stdout.close()  # as `head` does
        process.wait(60)
    assert "code-atlas" in (machine.root / ".zed/settings.json").read_text()


def test_undo_keeps_what_was_edited_since_and_brings_a_replaced_entry_back(machine: Machine) -> None:
    path = machine.root / ".mcp.json"
    path.write_text('{\n  "mcpServers": {\n    "code-atlas": {"command": "old", "args": []}\n  }\n}\n')
    shown = machine.connect("claude-code")
    assert shown.returncode == 2
    assert '-    "code-atlas": {"command": "old", "args": []}' in shown.stdout
    machine.done("claude-code")
    machine.done("claude-code", "--data-dir", str(machine.home / "data"))
    path.write_text(path.read_text().replace('{\n  "mcp', '{\n  "mine": true, // added since\n  "mcp'))
    assert "has changed since" in machine.done("claude-code", "--undo")
    assert path.read_text() == (
        '{\n  "mine": true, // added since\n  "mcpServers": {\n'
        '    "code-atlas": {"command": "old", "args": []}\n  }\n}\n'
    )


def test_undo_removes_the_table_around_the_entry_only_if_it_made_it(machine: Machine) -> None:
    path = machine.root / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_text('{"a": 1}\n')
    machine.done("cursor")
    path.write_text(path.read_text().replace('"a": 1', '"a": 2'))
    machine.done("cursor", "--undo")
    assert path.read_text() == '{"a": 2}\n'
    path.write_text('{\n  "mcpServers": {}\n}\n')
    machine.done("cursor")
    path.write_text(path.read_text() + "\n")
    machine.done("cursor", "--undo")
    assert json.loads(path.read_text()) == {"mcpServers": {}}


def on_terminal(machine: Machine, answer: str, *words: str) -> tuple[int, str]:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "connect", *words],
        cwd=machine.root,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment(**machine.env),
    )
    os.close(follower)
    os.write(leader, answer.encode())
    shown = b""
    while True:
        try:
            block = os.read(leader, 65536)
        except OSError:  # Linux reports the end of a terminal like this
            break
        shown += block
    os.close(leader)
    return process.wait(60), shown.decode()


def test_a_person_is_asked(machine: Machine) -> None:
    code, shown = on_terminal(machine, "n\n", "gemini-cli")
    assert code == 1
    assert "Write this to" in shown
    assert machine.files() == {}
    code, shown = on_terminal(machine, "y\n", "gemini-cli")
    assert code == 0
    assert "connected: Gemini CLI" in shown
    assert (machine.root / ".gemini/settings.json").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{\n  "mcpServers": {\n    "x": 1\n    "y": 2\n  }\n}', "line 4"),
        (b'{\n  "mcpServers": [1]\n}', "line 2: mcpServers is not an object"),
        (b'{"a": 1}\n\xff\n', "line 2: not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
        (b"[]", "does not hold an object"),
    ],
)
def test_a_broken_file_is_left_alone(machine: Machine, content: bytes, words: str) -> None:
    path = machine.root / ".mcp.json"
    path.write_bytes(content)
    done = machine.connect("claude-code", "--yes")
    assert done.returncode == 2
    assert words in done.stderr
    assert "Nothing was written" in done.stderr
    assert path.read_bytes() == content


def test_places_that_cannot_be_written(machine: Machine) -> None:
    path = machine.root / ".mcp.json"
    path.mkdir()
    assert "is a folder" in machine.connect("claude-code", "-y").stderr
    path.rmdir()
    os.mkfifo(path)
    assert "not a regular file" in machine.connect("claude-code", "-y").stderr
    path.unlink()
    path.write_text("{}")
    path.chmod(0o444)
    assert "read-only" in machine.connect("claude-code", "-y").stderr
    assert path.read_text() == "{}"
    path.unlink()
    path.symlink_to(path)
    assert machine.connect("claude-code", "-y").returncode == 2
    (machine.root / "file").write_text("")
    assert machine.connect("claude-code", "-y", "--file", "file/x.json").returncode == 2
    assert machine.files() == {"file": ""}


def test_a_link_stays_a_link_and_a_repository_cannot_lead_out_of_the_project(machine: Machine) -> None:
    target = machine.home / "dotfiles.json"
    target.write_text("{}\n")
    (machine.home / ".gemini").mkdir()
    link = machine.home / ".gemini/settings.json"
    link.symlink_to(target)
    machine.done("gemini-cli", "--user")
    assert link.is_symlink()
    assert "code-atlas" in target.read_text()

    before = target.read_text()
    (machine.root / ".gemini").symlink_to(target.parent)
    (machine.root / ".mcp.json").symlink_to(target)
    for client in ("gemini-cli", "claude-code"):
        done = machine.connect(client, "--yes")
        assert done.returncode == 2
        assert "leads out of the project" in done.stderr
    assert target.read_text() == before
    assert machine.connect("claude-code", "--yes", "--file", str(machine.root / ".mcp.json")).returncode == 0


def test_opencode_2_keeps_servers_one_level_deeper(machine: Machine) -> None:
    path = machine.root / "opencode.jsonc"
    path.write_text(
        '{\n  "mcp": {\n    "servers": {\n      "x": {"type": "local", "command": ["x"]},\n    },\n  },\n}\n'
    )
    machine.done("opencode")
    document = jsonc.load(path.read_text())
    assert set(document["mcp"]) == {"servers"}
    assert document["mcp"]["servers"]["code-atlas"]["type"] == "local"


def test_clients_are_listed_with_what_is_connected(machine: Machine) -> None:
    (machine.home / ".codex").mkdir()
    machine.done("claude-code")
    (machine.root / ".cursor").mkdir()
    (machine.root / ".cursor/mcp.json").write_text('{"mcpServers": {"code-atlas": {"command": "other"}}}')
    (machine.root / "opencode.json").write_text("{")
    listed = machine.connect("--list", "--json")
    document = json.loads(listed.stdout)
    clients = {one["client"]: one for one in document["clients"]}
    assert document["project"] == str(machine.root)
    assert set(clients) == {client.value for client in Client}
    assert clients["codex"]["installed"]
    assert clients["claude-code"]["project"]["state"] == "connected"
    assert clients["claude-code"]["user"]["state"] == ""
    assert clients["cursor"]["project"]["state"] == "other command"
    assert clients["opencode"]["project"]["state"] == "broken"
    assert clients["windsurf"]["project"] is None
    shown = machine.connect().stdout
    assert re.search(r"claude-code +(yes|no) +connected", shown)
    assert "opencode.json, line 1" in shown


def test_json_reports_what_was_done(machine: Machine) -> None:
    refused = machine.connect("cursor", "--json")
    assert refused.returncode == 2
    assert "--yes" in json.loads(refused.stdout)["error"]["hint"]
    document = json.loads(machine.done("cursor", "--json"))
    assert (document["action"], document["written"]) == ("add", True)
    assert "+++ " in document["diff"]
    assert json.loads(machine.done("cursor", "--json"))["action"] == "none"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("cursor", "--user", "--file", "x"), "--file and --user"),
        (("cursor", "--name", "a b"), "--name"),
        (("cursor", "--skill", "--file", "x"), "--skill"),
        (("jetbrains", "--skill", "--user"), "no skills of the user"),
        (("--undo",), "a change needs a client"),
        (("copilot",), "copilot-cli"),
    ],
)
def test_mistakes_are_named(machine: Machine, words: tuple[str, ...], message: str) -> None:
    done = machine.connect(*words)
    assert done.returncode == 2
    assert message in done.stderr


def test_the_skill_is_installed_where_clients_discover_it(machine: Machine) -> None:
    machine.done("claude-code", "--skill")
    path = machine.root / ".claude/skills/code-atlas/SKILL.md"
    assert path.read_text() == skill_page()
    assert "already installed" in machine.connect("claude-code", "--skill").stdout
    machine.done("claude-code", "--skill", "--undo")
    assert not (machine.root / ".claude").exists()
    machine.done("codex", "--skill", "--user")
    assert (machine.home / ".agents/skills/code-atlas/SKILL.md").exists()

    rules = machine.root / "AGENTS.md"
    rules.write_text("# Rules\n\nBe kind.\n")
    machine.done("jetbrains", "--skill")
    assert skill_section() in rules.read_text()
    rules.write_text(rules.read_text() + "\n# More\n")
    machine.done("jetbrains", "--skill", "--undo")
    assert rules.read_text() == "# Rules\n\nBe kind.\n\n# More\n"


@pytest.mark.parametrize("client", Client)
def test_each_client_has_a_place_for_the_skill(client: Client) -> None:
    assert RECIPES[client].project_skills == PLACES[client][2]


def test_the_skill_names_only_tools_and_arguments_that_exist() -> None:
    page = skill_page()
    head, body = page.split("---\n", 2)[1:]
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields["name"] == "code-atlas"
    assert len(fields["description"]) <= 1024
    calls = re.findall(r"`(\w+) (\{.*?\})`", body)
    assert {name for name, _ in calls} == {tool.name for tool in TOOLS} - {"health"}
    for name, arguments in calls:
        given = json.loads(arguments)
        tool = BY_NAME[name]
        assert set(given) <= set(tool.arguments), name
        assert set(tool.required) <= set(given), name
    named = set(re.findall(r"`([a-z_]+)`", body))
    known = set(BY_NAME) | {name for tool in BY_NAME.values() for name in tool.arguments}
    assert named <= known | {"withheld", "stale"}
    assert count_tokens(page) < 900
