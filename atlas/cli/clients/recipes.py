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

TOKEN_VARIABLE = "ATLAS_MCP_TOKEN"

FOLDER_VARIABLES = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "ATLAS_PACKS")
"""State the folders of index, key, notes and packs: clients start servers with few of the user's variables."""


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
    user: tuple[str, ...]
    programs: tuple[str, ...]
    """Programs whose presence on PATH shows that the client is installed."""
    home: str
    """A folder that only an installed client has made."""
    key: tuple[str, ...] = ("mcpServers",)
    """The table that holds the servers."""
    project: tuple[str, ...] = ()
    """Files below the project; empty if the client has none."""
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
        project=(".mcp.json",),
        user=("{claude_file}/.claude.json",),
        programs=("claude",),
        home="{claude}",
        project_skills=".claude/skills",
        user_skills="{claude}/skills",
        http_kind="http",
        token="${ATLAS_MCP_TOKEN}",
        starts_in_project=True,
        note="Claude Code asks once whether it may use the project's servers.",
    ),
    Client.CODEX: Recipe(
        "Codex",
        key=("mcp_servers",),
        project=(".codex/config.toml",),
        user=("{codex}/config.toml",),
        programs=("codex",),
        home="{codex}",
        project_skills=".agents/skills",
        user_skills="{home}/.agents/skills",
        token="",
        starts_in_project=True,
        note="Codex reads the file of a project only if it trusts the project.",
    ),
    Client.GEMINI_CLI: Recipe(
        "Gemini CLI",
        project=(".gemini/settings.json",),
        user=("{home}/.gemini/settings.json",),
        programs=("gemini",),
        home="{home}/.gemini",
        project_skills=".gemini/skills",
        user_skills="{home}/.gemini/skills",
        url_key="httpUrl",
        token="$ATLAS_MCP_TOKEN",
        starts_in_project=True,
    ),
    Client.OPENCODE: Recipe(
        "OpenCode",
        key=("mcp",),
        project=("opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"),
        user=("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"),
        programs=("opencode",),
        home="{config}/opencode",
        project_skills=".opencode/skills",
        user_skills="{config}/opencode/skills",
        kind="local",
        http_kind="remote",
        token="{env:ATLAS_MCP_TOKEN}",
        starts_in_project=True,
    ),
    Client.COPILOT_CLI: Recipe(
        "GitHub Copilot CLI",
        project=(".github/mcp.json",),
        user=("{copilot}/mcp-config.json",),
        programs=("copilot",),
        home="{copilot}",
        project_skills=".github/skills",
        user_skills="{copilot}/skills",
        kind="stdio",
        http_kind="http",
        token="${ATLAS_MCP_TOKEN}",
        starts_in_project=True,
    ),
    Client.VSCODE: Recipe(
        "VS Code (GitHub Copilot)",
        key=("servers",),
        project=(".vscode/mcp.json",),
        user=("{vscode}/mcp.json",),
        programs=("code",),
        home="{vscode}",
        project_skills=".github/skills",
        user_skills="{copilot}/skills",
        kind="stdio",
        http_kind="http",
        token="${input:atlas-token}",
        folder_variable="${workspaceFolder}",
    ),
    Client.CURSOR: Recipe(
        "Cursor",
        project=(".cursor/mcp.json",),
        user=("{home}/.cursor/mcp.json",),
        programs=("cursor", "cursor-agent"),
        home="{home}/.cursor",
        project_skills=".cursor/skills",
        user_skills="{home}/.cursor/skills",
        token="${env:ATLAS_MCP_TOKEN}",
        folder_variable="${workspaceFolder}",
    ),
    Client.WINDSURF: Recipe(
        "Windsurf",
        user=("{home}/.codeium/windsurf/mcp_config.json",),
        programs=("windsurf",),
        home="{home}/.codeium/windsurf",
        project_skills=".windsurf/skills",
        user_skills="{home}/.codeium/windsurf/skills",
        url_key="serverUrl",
        token="${env:ATLAS_MCP_TOKEN}",
    ),
    Client.ZED: Recipe(
        "Zed",
        key=("context_servers",),
        project=(".zed/settings.json",),
        user=("{config}/zed/settings.json",),
        programs=("zed", "zeditor"),
        home="{config}/zed",
        project_skills=".agents/skills",
        user_skills="{home}/.agents/skills",
        starts_in_project=True,
        note="Zed starts the servers of a project only if it trusts the project.",
    ),
    Client.CLINE: Recipe(
        "Cline",
        user=(
            "{home}/.cline/data/settings/cline_mcp_settings.json",
            "{vscode}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
        programs=("cline",),
        home="{home}/.cline",
        project_skills=".cline/skills",
        user_skills="{home}/.cline/skills",
        http_kind="streamableHttp",
    ),
    Client.JETBRAINS: Recipe(
        "JetBrains (Junie)",
        project=(".junie/mcp/mcp.json",),
        user=("{home}/.junie/mcp/mcp.json",),
        programs=("junie",),
        home="{home}/.junie",
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


def moved_folders(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of folders that are set; a client's server has another working folder, so as full paths."""
    named = {name: environment[name] for name in FOLDER_VARIABLES if environment.get(name)}
    return {name: str(Path(folder).expanduser().absolute()) for name, folder in named.items()}


def stdio_entry(client: Client, command: Sequence[str], environment: Mapping[str, str]) -> dict[str, object]:
    """Return the entry with which a client starts the server, with the user's folders."""
    recipe = RECIPES[client]
    entry: dict[str, object] = {"type": recipe.kind} if recipe.kind else {}
    moved = moved_folders(environment)
    if client is Client.OPENCODE:
        return {**entry, "command": list(command), **({"environment": moved} if moved else {})}
    entry |= {"command": command[0], "args": list(command[1:]), **({"env": moved} if moved else {})}
    return {**entry, "tools": ["*"]} if client is Client.COPILOT_CLI else entry


def reads_environment(client: Client) -> bool:
    """Return whether the client replaces a variable in an entry by the token when it connects."""
    return client is Client.CODEX or TOKEN_VARIABLE in RECIPES[client].token


def http_entry(client: Client, url: str, *, with_token: bool) -> dict[str, object]:
    """Return the entry with which a client reaches a server at `url`. It never holds a token."""
    recipe = RECIPES[client]
    entry: dict[str, object] = {"type": recipe.http_kind} if recipe.http_kind else {}
    entry[recipe.url_key] = url
    if with_token and client is Client.CODEX:
        entry["bearer_token_env_var"] = TOKEN_VARIABLE
    elif with_token:
        entry["headers"] = {"Authorization": f"Bearer {recipe.token}"}
    return {**entry, "tools": ["*"]} if client is Client.COPILOT_CLI else entry


def nested(key: Sequence[str], entry: object, name: str = SERVER_NAME) -> dict[str, object]:
    """Return the document that holds nothing but this entry."""
    document: dict[str, object] = {name: entry}
    for part in reversed(key):
        document = {part: document}
    return document
