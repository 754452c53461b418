"""Hooks of a client: a card at the start of a session, and a hint when a search for a text names an indexed symbol.

A client runs `atlas hook session` and `atlas hook grep`, see `hook_command`. Formats and places are those that the
clients document (looked up in November 2026): code.claude.com/docs/en/hooks, geminicli.com/docs/hooks/reference,
developers.openai.com/codex/hooks. Hooks of other programs in the same file keep their place; only their formatting may
change, until `--undo` brings it back.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from atlas.cli.clients.change import ClientChange, plan, plan_undo, read_entry
from atlas.cli.clients.owner import list_of, table_of
from atlas.cli.clients.recipes import RECIPES, Client, folders
from atlas.cli.clients.record import ConfigEntry
from atlas.core.errors import ConfigError

KEY = ("hooks",)
SESSION, SEARCH = "hook session", "hook grep"
"""What the client runs, after the command of the installation."""


@dataclass(frozen=True, slots=True)
class HookRecipe:
    """The hooks of one client."""

    project: str
    """File below the project for entries of this machine."""
    shared: str
    """File below the project that is committed."""
    user: str
    after_tool: str
    """The event after a tool has run; its hook can add to what the model reads, and can refuse nothing."""
    tools: str
    """Matcher of the tools that search for a text, or may."""
    seconds: int
    """One second in the unit of the client's time limits."""
    note: str = ""


HOOKS: Mapping[Client, HookRecipe] = {
    Client.CLAUDE_CODE: HookRecipe(
        project=".claude/settings.local.json",
        shared=".claude/settings.json",
        user="{claude}/settings.json",
        after_tool="PostToolUse",
        tools="Grep|Bash",
        seconds=1,
    ),
    Client.GEMINI_CLI: HookRecipe(
        project=".gemini/settings.json",
        shared=".gemini/settings.json",
        user="{home}/.gemini/settings.json",
        after_tool="AfterTool",
        tools="grep_search|search_file_content|run_shell_command",
        seconds=1000,
    ),
    Client.CODEX: HookRecipe(
        project=".codex/hooks.json",
        shared=".codex/hooks.json",
        user="{codex}/hooks.json",
        after_tool="PostToolUse",
        tools="^Bash$",
        seconds=1,
        note="Codex runs hooks only with codex_hooks = true under [features] of its config.toml.",
    ),
}
"""Clients whose hooks can add to what the model reads."""

LIMIT_SECONDS = 3
"""After this the client goes on without the hook, which takes 0.3 CPU seconds."""


def place_of(
    client: Client, root: Path, environment: Mapping[str, str], home: Path, *, user: bool, portable: bool
) -> ConfigEntry:
    """Return where the client's hooks stand. Raises ConfigError for a client without hooks."""
    recipe = HOOKS.get(client)
    if recipe is None:
        named = ", ".join(one.value for one in HOOKS)
        raise ConfigError(f"{RECIPES[client].title} has no hooks that can tell the model something", f"Have: {named}.")
    if user:
        return ConfigEntry(Path(recipe.user.format(**folders(environment, home))), KEY)
    return ConfigEntry(root / (recipe.shared if portable else recipe.project), KEY, root)


def note_of(client: Client) -> str:
    """Return what the user must know about the client's hooks."""
    return HOOKS[client].note


def hooks_of(client: Client, command: Sequence[str]) -> dict[str, list[object]]:
    """Return the hooks by event, for the command of an installation."""
    recipe = HOOKS[client]
    start = shlex.join(command)

    def one(what: str) -> list[object]:
        return [{"type": "command", "command": f"{start} {what}", "timeout": LIMIT_SECONDS * recipe.seconds}]

    return {
        "SessionStart": [{"hooks": one(SESSION)}],
        recipe.after_tool: [{"matcher": recipe.tools, "hooks": one(SEARCH)}],
    }


def plan_hooks(client: Client, place: ConfigEntry, command: Sequence[str], *, portable: bool) -> ClientChange:
    """Return the change that adds the hooks to those that are there. Raises ConfigError for an unknown form."""
    wanted = hooks_of(client, ["atlas"] if portable else command)
    found = _table(place, read_entry(place)[1])
    kept = _without_ours(found)
    events = [*kept, *(event for event in wanted if event not in kept)]
    value = {event: [*kept.get(event, []), *wanted.get(event, [])] for event in events}
    return plan(place, value, same=found == value)


def plan_removal(client: Client, place: ConfigEntry) -> ClientChange:
    """Return the change that removes the hooks, and keeps those that were added since."""
    del client
    existing = read_entry(place)[1]
    found = _table(place, existing)
    kept = _without_ours(found)
    change = plan_undo(place, lambda value: value == found and not kept)
    if kept == found:
        return replace(change, action="none")
    if not change.edited or not kept:
        return change
    # other hooks were added or changed: the record no longer says what is right, the hooks themselves do
    taken = plan(place, kept)
    return replace(taken, action="remove", record=None, exact=False)


def has_hooks(place: ConfigEntry) -> bool:
    """Return whether the hooks are in a file."""
    try:
        found = _table(place, read_entry(place)[1])
    except ConfigError:
        return False
    return _without_ours(found) != found


def _table(place: ConfigEntry, existing: object) -> dict[str, list[object]]:
    found = table_of(existing)
    if (existing is not None and not isinstance(existing, dict)) or not all(
        isinstance(value, list) for value in found.values()
    ):
        raise ConfigError(f"the hooks in {place.file} have a form that Code Atlas does not know", "Add them by hand.")
    return {event: list_of(groups) for event, groups in found.items()}


def _without_ours(found: Mapping[str, list[object]]) -> dict[str, list[object]]:
    """Return the hooks of other programs, and the events that have some or had none before."""
    kept: dict[str, list[object]] = {}
    for event, groups in found.items():
        others = [group for group in groups if not _is_ours(group)]
        if others or not groups:
            kept[event] = others
    return kept


def _is_ours(group: object) -> bool:
    """Return whether all commands of a group are ours; a group that somebody extended is theirs."""
    inner = list_of(table_of(group).get("hooks"))
    return bool(inner) and all(_is_our_command(table_of(one).get("command")) for one in inner)


def _is_our_command(command: object) -> bool:
    if not isinstance(command, str) or not command.endswith((f" {SESSION}", f" {SEARCH}")):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return len(words) > 2 and Path(words[-3]).name == "atlas"
