"""The plugin folder: server, skill and hooks in the forms that clients install as one.

Claude Code reads `.claude-plugin/plugin.json`, the hooks that it names, `.mcp.json` and `skills/`
(code.claude.com/docs/en/plugins-reference) and `.claude-plugin/marketplace.json` to install from the folder; Gemini CLI
reads `gemini-extension.json` and the same folder of skills (geminicli.com/docs/extensions/reference). Everything in it
starts the `atlas` of PATH, so that the folder can be committed and shared.
"""

from __future__ import annotations

import json
from pathlib import Path

from atlas import __version__
from atlas.cli.clients.change import make, plan
from atlas.cli.clients.hooks import hooks_of
from atlas.cli.clients.recipes import SERVER_NAME, Client, stdio_entry
from atlas.cli.clients.record import ConfigEntry
from atlas.cli.clients.skill import SKILL_NAME, skill_page
from atlas.core.errors import ConfigError

HOOKS_FILE = "hooks-claude-code.json"
"""Not `hooks/hooks.json`: both clients would read it, with other events and other units of time."""

DESCRIPTION = "Answers questions about a codebase from a code graph that stays current, with evidence."


def plugin_files() -> dict[str, str]:
    """Return the files of the folder by their paths."""
    about = {"name": SERVER_NAME, "version": __version__, "description": DESCRIPTION}
    server = {SERVER_NAME: stdio_entry(Client.CLAUDE_CODE, ["atlas", "mcp"], {})}
    market = {
        "name": SERVER_NAME,
        "owner": {"name": "Code Atlas"},
        "plugins": [{"name": SERVER_NAME, "source": "./", "description": DESCRIPTION}],
    }
    documents = {
        ".claude-plugin/plugin.json": {**about, "license": "Apache-2.0", "hooks": f"./{HOOKS_FILE}"},
        ".claude-plugin/marketplace.json": market,
        ".mcp.json": {"mcpServers": server},
        HOOKS_FILE: {"hooks": hooks_of(Client.CLAUDE_CODE, ["atlas"])},
        "gemini-extension.json": {**about, "mcpServers": server},
    }
    files = {path: json.dumps(document, indent=2) + "\n" for path, document in documents.items()}
    return {**files, f"skills/{SKILL_NAME}/SKILL.md": skill_page()}


def write_plugin(folder: Path) -> list[str]:
    """Write the folder, and return the paths in it. Raises ConfigError; no file of others is replaced."""
    changes = [plan(ConfigEntry(folder / path, (), folder, "page"), text) for path, text in plugin_files().items()]
    for change in changes:
        is_ours = change.record is not None and not change.record["before"]
        if change.action == "replace" and not is_ours:
            raise ConfigError(f"{change.place.file} is not from here, or was edited", "Give another folder.")
    for change in changes:
        if change.action != "none":
            make(change)
    return list(plugin_files())
