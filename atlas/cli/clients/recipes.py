"""What each client calls things: where its files are, which keys a server has, where it discovers skills.

Pure data and functions of the environment; nothing here reads a file's content. Formats and places are those that the
clients document (looked up in November 2026):

- Claude Code: code.claude.com/docs/en/mcp (`.mcp.json`, `~/.claude.json`), code.claude.com/docs/en/skills
- Cursor: cursor.com/docs/mcp, cursor.com/docs/skills
- VS Code: code.visualstudio.com/docs/agents/reference/mcp-configuration and .../agent-customization/agent-skills
- GitHub Copilot CLI: docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers and add-skills
  (`.github/mcp.json`, `$COPILOT_HOME/mcp-config.json`; the type `stdio` is the one that other clients share)
- Codex: developers.openai.com/codex/mcp and /codex/skills (`[mcp_servers.NAME]`; a project's file if it is trusted)
- Gemini CLI: geminicli.com/docs/tools/mcp-server and /docs/cli/skills (`$NAME` in values is read from the environment)
- OpenCode: opencode.ai/v1/docs/mcp-servers, opencode.ai/docs/mcp-servers and /docs/migrate-v1 (version 2 also reads
  `mcp.NAME` of version 1), opencode.ai/docs/skills
- Zed: zed.dev/docs/ai/mcp, zed.dev/docs/worktree-trust (project settings may hold servers), zed.dev/docs/ai/skills
- Cline: docs.cline.bot/mcp/mcp-overview, docs.cline.bot/customization/skills
- Windsurf: docs.windsurf.com/windsurf/cascade/mcp and /cascade/skills
- JetBrains Junie: junie.jetbrains.com/docs/junie-mcp-settings.html (`.junie/mcp/mcp.json`); it reads AGENTS.md
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

SERVER_NAME = "code-atlas"

FOLDER_VARIABLES = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME")
"""State index and key folders explicitly: clients start servers with few of the user's environment variables."""


class Client(StrEnum):
    """Clients with a known configuration format."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI_CLI = "gemini-cli"
    OPENCODE = "opencode"
    COPILOT_CLI = "copilot-cli"
    VSCODE = "vscode"
    CURSOR = "cursor"
    WINDSURF = "windsurf"
    ZED = "zed"
    CLINE = "cline"
    JETBRAINS = "jetbrains"


@dataclass(frozen=True, slots=True)
class Recipe:
    """One client. Paths of `user` begin with a folder in braces, see `folders`; of several, the first that exists."""

    title: str
    key: tuple[str, ...]
    """The table that holds the servers."""
    project: tuple[str, ...]
    """Files below the project; empty if the client has none."""
    user: tuple[str, ...]
    programs: tuple[str, ...]
    """Programs whose presence on PATH shows that the client is installed."""
    home: str
    """A folder that only an installed client has made."""
    project_skills: str = ""
    """Folder of skills below the project; "" if the client discovers none and reads AGENTS.md."""
    user_skills: str = ""
    kind: str = ""
    """`type` of a server over stdio."""
    http_kind: str = ""
    url_key: str = "url"
    token: str = "<token>"
    """Where the token goes: clients that can read it from the environment are told to."""
    starts_in_project: bool = False
    """A server of the user's file is started in the project's folder, so that one entry serves all projects."""
    folder_variable: str = ""
    """The client's variable for the project's folder in values of the user's file."""
    note: str = ""
    """What a user must know after the entry is written to a project's file."""


RECIPES: Mapping[Client, Recipe] = {
    Client.CLAUDE_CODE: Recipe(
        "Claude Code",
        ("mcpServers",),
        (".mcp.json",),
        ("{claude_file}/.claude.json",),
        ("claude",),
        "{claude}",
        ".claude/skills",
        "{claude}/skills",
        http_kind="http",
        token="${ATLAS_MCP_TOKEN}",
        starts_in_project=True,
        note="Claude Code asks once whether it may use the project's servers.",
    ),
    Client.CODEX: Recipe(
        "Codex",
        ("mcp_servers",),
        (".codex/config.toml",),
        ("{codex}/config.toml",),
        ("codex",),
        "{codex}",
        ".agents/skills",
        "{home}/.agents/skills",
        token="",
        starts_in_project=True,
        note="Codex reads the file of a project only if it trusts the project.",
    ),
    Client.GEMINI_CLI: Recipe(
        "Gemini CLI",
        ("mcpServers",),
        (".gemini/settings.json",),
        ("{home}/.gemini/settings.json",),
        ("gemini",),
        "{home}/.gemini",
        ".gemini/skills",
        "{home}/.gemini/skills",
        url_key="httpUrl",
        token="$ATLAS_MCP_TOKEN",
        starts_in_project=True,
    ),
    Client.OPENCODE: Recipe(
        "OpenCode",
        ("mcp",),
        ("opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"),
        ("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"),
        ("opencode",),
        "{config}/opencode",
        ".opencode/skills",
        "{config}/opencode/skills",
        kind="local",
        http_kind="remote",
        token="{env:ATLAS_MCP_TOKEN}",
        starts_in_project=True,
    ),
    Client.COPILOT_CLI: Recipe(
        "GitHub Copilot CLI",
        ("mcpServers",),
        (".github/mcp.json",),
        ("{copilot}/mcp-config.json",),
        ("copilot",),
        "{copilot}",
        ".github/skills",
        "{copilot}/skills",
        kind="stdio",
        http_kind="http",
        token="${ATLAS_MCP_TOKEN}",
        starts_in_project=True,
    ),
    Client.VSCODE: Recipe(
        "VS Code (GitHub Copilot)",
        ("servers",),
        (".vscode/mcp.json",),
        ("{vscode}/mcp.json",),
        ("code",),
        "{vscode}",
        ".github/skills",
        "{copilot}/skills",
        kind="stdio",
        http_kind="http",
        token="${input:atlas-token}",
        folder_variable="${workspaceFolder}",
    ),
    Client.CURSOR: Recipe(
        "Cursor",
        ("mcpServers",),
        (".cursor/mcp.json",),
        ("{home}/.cursor/mcp.json",),
        ("cursor", "cursor-agent"),
        "{home}/.cursor",
        ".cursor/skills",
        "{home}/.cursor/skills",
        token="${env:ATLAS_MCP_TOKEN}",
        folder_variable="${workspaceFolder}",
    ),
    Client.WINDSURF: Recipe(
        "Windsurf",
        ("mcpServers",),
        (),
        ("{home}/.codeium/windsurf/mcp_config.json",),
        ("windsurf",),
        "{home}/.codeium/windsurf",
        ".windsurf/skills",
        "{home}/.codeium/windsurf/skills",
        url_key="serverUrl",
        token="${env:ATLAS_MCP_TOKEN}",
    ),
    Client.ZED: Recipe(
        "Zed",
        ("context_servers",),
        (".zed/settings.json",),
        ("{config}/zed/settings.json",),
        ("zed", "zeditor"),
        "{config}/zed",
        ".agents/skills",
        "{home}/.agents/skills",
        starts_in_project=True,
        note="Zed starts the servers of a project only if it trusts the project.",
    ),
    Client.CLINE: Recipe(
        "Cline",
        ("mcpServers",),
        (),
        (
            "{home}/.cline/data/settings/cline_mcp_settings.json",
            "{vscode}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
        ("cline",),
        "{home}/.cline",
        ".cline/skills",
        "{home}/.cline/skills",
        http_kind="streamableHttp",
    ),
    Client.JETBRAINS: Recipe(
        "JetBrains (Junie)",
        ("mcpServers",),
        (".junie/mcp/mcp.json",),
        ("{home}/.junie/mcp/mcp.json",),
        ("junie",),
        "{home}/.junie",
    ),
}


def known_clients() -> str:
    """Return the names of all clients."""
    return ", ".join(client.value for client in Client)


def folders(environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return the folders that `Recipe.user` names, moved by the clients' own variables."""
    config = environment.get("XDG_CONFIG_HOME") or str(home / ".config")
    library = home / "Library" / "Application Support" if sys.platform == "darwin" else Path(config)
    claude = environment.get("CLAUDE_CONFIG_DIR", "")
    return {
        "home": str(home),
        "config": config,
        "vscode": str(library / "Code" / "User"),
        "claude": claude or str(home / ".claude"),
        "claude_file": claude or str(home),
        "codex": environment.get("CODEX_HOME") or str(home / ".codex"),
        "copilot": environment.get("COPILOT_HOME") or str(home / ".copilot"),
    }


def config_file(client: Client, root: Path, environment: Mapping[str, str], home: Path, *, user: bool) -> Path | None:
    """Return the file that holds the client's servers, for the project or the user; None if the client has none.

    Of several possible files it is the first that exists, else the first.
    """
    recipe = RECIPES[client]
    if not user:
        found = [root / name for name in recipe.project]
    else:
        moved = environment.get("CLINE_MCP_SETTINGS_PATH", "") if client is Client.CLINE else ""
        names = (moved,) if moved else recipe.user
        found = [Path(name.format(**folders(environment, home)) if not moved else name) for name in names]
    return next((path for path in found if path.exists()), found[0] if found else None)


def skill_folder(client: Client, root: Path, environment: Mapping[str, str], home: Path, *, user: bool) -> Path | None:
    """Return the folder in which the client discovers skills; None if it has none."""
    recipe = RECIPES[client]
    name = recipe.user_skills if user else recipe.project_skills
    if not name:
        return None
    return Path(name.format(**folders(environment, home))) if user else root / name


def stdio_entry(client: Client, command: Sequence[str], environment: Mapping[str, str]) -> dict[str, object]:
    """Return the entry with which a client starts the server, with the user's folders."""
    recipe = RECIPES[client]
    entry: dict[str, object] = {"type": recipe.kind} if recipe.kind else {}
    moved = {name: environment[name] for name in FOLDER_VARIABLES if environment.get(name)}
    if client is Client.OPENCODE:
        return {**entry, "command": list(command), **({"environment": moved} if moved else {})}
    entry |= {"command": command[0], "args": list(command[1:]), **({"env": moved} if moved else {})}
    return {**entry, "tools": ["*"]} if client is Client.COPILOT_CLI else entry


def http_entry(client: Client, url: str, *, with_token: bool) -> dict[str, object]:
    """Return the entry with which a client reaches a server at `url`. It never holds a token."""
    recipe = RECIPES[client]
    entry: dict[str, object] = {"type": recipe.http_kind} if recipe.http_kind else {}
    entry[recipe.url_key] = url
    if with_token and client is Client.CODEX:
        entry["bearer_token_env_var"] = "ATLAS_MCP_TOKEN"
    elif with_token:
        entry["headers"] = {"Authorization": f"Bearer {recipe.token}"}
    return {**entry, "tools": ["*"]} if client is Client.COPILOT_CLI else entry


def nested(key: Sequence[str], entry: object, name: str = SERVER_NAME) -> dict[str, object]:
    """Return the document that holds nothing but this entry."""
    document: dict[str, object] = {name: entry}
    for part in reversed(key):
        document = {part: document}
    return document
