"""`atlas connect`: write this server into a client's configuration, take it back, or list the clients."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output
from atlas.cli.clients.recipes import RECIPES, SERVER_NAME, Client, known_clients
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, examples, settings_of
from atlas.cli.over_http import PortOption, Transport, TransportOption, token_place, url_for_clients
from atlas.core.errors import AtlasError, ConfigError

if TYPE_CHECKING:
    from atlas.cli.clients.change import ClientChange, ConfigEntry
    from atlas.runtime.config.load import Settings

SECRET_VALUE = re.compile(
    r"""((?:token|key|secret|passw|auth|credential|cookie)[^"'=:]{0,100}+["']?\s*+[=:]\s*+["'])[^"']++(["'])""",
    re.IGNORECASE,
)
"""The value of a variable or header whose name says that it is secret: `"API_KEY": "..."`, `TOKEN = '...'`."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "connect",
        epilog=examples(
            "atlas connect",
            "atlas connect claude-code",
            "atlas connect codex --user",
            "atlas connect codex --transport http",
            "atlas connect cursor --skill --yes",
            "atlas connect claude-code --undo",
        ),
    )(connect)


def connect(
    client: Annotated[
        Client | None,
        typer.Argument(
            metavar="[CLIENT]", help=f"One of {known_clients()}; without one, all are listed.", show_default=False
        ),
    ] = None,
    user: Annotated[bool, typer.Option("--user", help="Write the user's file, not the project's.")] = False,
    file: Annotated[str, typer.Option("--file", metavar="PATH", help="Write this file.")] = "",
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Name of the server in the file.")] = SERVER_NAME,
    skill: Annotated[
        bool, typer.Option("--skill", help="Install the page that teaches agents when to ask what, instead.")
    ] = False,
    transport: TransportOption = Transport.STDIO,
    port: PortOption = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take the change back; asks if the entry was edited since.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before writing.")] = False,
    list_clients: Annotated[bool, typer.Option("--list", help="List the clients, and which are connected.")] = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Connect a coding agent: show the change to its configuration, ask, write it. Other entries are not touched."""
    settings = settings_of(project, data_dir)
    if client is None or list_clients:
        if client is not None or undo or skill or file or user:
            raise ConfigError(
                "--list has no other options, and a change needs a client", f"Clients: {known_clients()}."
            )
        _list(settings, as_json=json)
        return
    if not name or len(name) > 64 or not all(one.isascii() and (one.isalnum() or one in "-_") for one in name):
        raise ConfigError(f"--name {name!r} is not a server's name", "Use up to 64 letters, digits, - and _.")
    from atlas.cli.clients.change import make

    if (transport is Transport.HTTP and skill) or (transport is Transport.STDIO and port is not None):
        raise ConfigError("--transport http is for entries, and --port for HTTP", "Leave out --skill, --port, or both.")
    if port is not None:
        settings = replace(settings, mcp=replace(settings.mcp, port=port))
    url = _url(settings, client) if transport is Transport.HTTP and not undo else ""
    from atlas.cli.clients.printing import token_step

    change, note = _planned(settings, client, name, file, url, user=user, skill=skill, undo=undo)
    if change.action == "none":
        _report(change, client, _unchanged(client, change, undo=undo, skill=skill), as_json=json)
        return
    shown = _diff(change)
    if not json or not yes:
        _show(shown, stderr=json)
    _ask(change, yes=yes)
    place = token_place(settings, None) if url else None
    make(change)
    again = " ".join(_words(client, name, file, user=user, skill=skill))
    done = _done(client, change, note, again, undo=undo, skill=skill)
    if place is not None:
        done += [f"token: {token_step(client, place)}", f"serve: atlas mcp --transport http --port {settings.mcp.port}"]
    _report(change, client, done, as_json=json, shown=shown, written=True)


def _planned(
    settings: Settings, client: Client, name: str, file: str, url: str, *, user: bool, skill: bool, undo: bool
) -> tuple[ClientChange, str]:
    """Return the change that the options ask for, and what the user must know about it. `url` "" = over stdio."""
    from atlas.cli.clients.change import plan, plan_undo, read_entry
    from atlas.cli.clients.overview import launches, matches
    from atlas.cli.clients.recipes import http_entry, stdio_entry
    from atlas.cli.clients.skill import skill_place
    from atlas.cli.mcp import launch_command

    home = Path.home()
    if skill:
        if file or name != SERVER_NAME:
            raise ConfigError("--skill has its own place", "Leave out --file and --name.")
        place, page = skill_place(client, settings.root, os.environ, home, user=user)
        return (plan_undo(place, lambda found: found == page), "") if undo else (plan(place, page), "")
    place, in_user_file = _entry_place(settings, client, name, file, user=user)
    if undo:
        return plan_undo(place, lambda found: launches(found, launch_command())), ""
    if url:
        entry = http_entry(client, url, with_token=True)
    else:
        entry = stdio_entry(client, _command(settings, client, user=in_user_file and not file), os.environ)
    _, existing = read_entry(place)
    note = "" if in_user_file or file else RECIPES[client].note
    return plan(place, entry, same=matches(existing, entry)), note


def _url(settings: Settings, client: Client) -> str:
    """Return the URL of an entry over HTTP. Raises ConfigError for a client whose entry would hold the token itself."""
    from atlas.cli.clients.recipes import reads_environment

    if not reads_environment(client):
        raise ConfigError(
            f"{RECIPES[client].title} does not read the token from its environment, and files get no token",
            f"Leave out --transport, or follow: atlas mcp --transport http --print-config {client.value}",
        )
    return url_for_clients(settings, tls=False)


def _entry_place(settings: Settings, client: Client, name: str, file: str, *, user: bool) -> tuple[ConfigEntry, bool]:
    """Return where the client's entry belongs, and whether that is a file of the user."""
    from atlas.cli.clients.change import read_entry
    from atlas.cli.clients.overview import entry_key, servers_place
    from atlas.cli.clients.recipes import config_file

    if file and user:
        raise ConfigError("both --file and --user are given", "Give one of them.")
    in_user_file = user or not RECIPES[client].project
    inside = None
    if file:
        path = Path(file).expanduser().absolute()
    else:
        found = config_file(client, settings.root, os.environ, Path.home(), user=in_user_file)
        assert found is not None, "every client has a file of the user"
        path = found
        inside = None if in_user_file else settings.root
    place = servers_place(client, path, inside)
    _, servers = read_entry(place)
    return replace(place, key=entry_key(client, servers, name)), in_user_file


def _command(settings: Settings, client: Client, *, user: bool) -> list[str]:
    """Return the command of an entry. One in a file of the user serves all projects if the client allows it."""
    from atlas.cli.mcp import launch_command

    recipe = RECIPES[client]
    words = [*launch_command(), "mcp"]
    if not user or not (recipe.starts_in_project or recipe.folder_variable):
        words += ["--project", str(settings.root)]
    elif recipe.folder_variable:
        words += ["--project", recipe.folder_variable]
    if settings.origin("data_dir").startswith(("env ", "--")):
        words += ["--data-dir", str(settings.data_dir)]
    return words


def _ask(change: ClientChange, *, yes: bool) -> None:
    """Return if the change may be made. Raises ConfigError without a terminal, AtlasError after a no."""
    path = change.place.file
    if change.edited:
        what = f"what is to be taken back in {path} is not as `atlas connect` wrote it"
        if yes or not sys.stdin.isatty():
            raise ConfigError(
                f"nothing was written: {what}", "Run it on a terminal without --yes, which asks, or edit it by hand."
            )
        if not typer.confirm(output.one_line(f"{what[0].upper()}{what[1:]}. Take it back with those edits?"), err=True):
            raise AtlasError("nothing was written")
        return
    if yes:
        return
    if not sys.stdin.isatty():
        raise ConfigError(
            "nothing was written: there is no terminal to ask on", "Check the lines above, then add --yes."
        )
    question = {"replace": f"Replace the entry in {path}?", "add": f"Write this to {path}?"}
    if not typer.confirm(output.one_line(question.get(change.action, f"Take this back in {path}?")), err=True):
        raise AtlasError("nothing was written")


def _diff(change: ClientChange) -> list[str]:
    """Return the change as a unified diff with secrets masked: other servers' keys must not reach a log."""
    from atlas.core.line_diff import unified

    before = masked_lines(change.file.text if change.file.exists else "")
    after = masked_lines(change.after or "")
    path = str(change.place.file)
    names = (path if change.file.exists else "/dev/null", "/dev/null" if change.after is None else path)
    return [re.sub(SECRET_VALUE, r"\1***\2", line) for line in unified(before, after, *names)]


def masked_lines(text: str) -> list[str]:
    """Return the lines of a text with recognised secrets masked."""
    from atlas.parsing import mask_secrets

    try:
        text = mask_secrets(text.encode("utf-8", "replace")).decode("utf-8", "replace")
    except ValueError:
        return ["(this file has too many places that may hold a secret to show it)"]
    return text.splitlines()


def _show(lines: list[str], *, stderr: bool) -> None:
    from rich.text import Text

    console = output.console(stderr=stderr)
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in lines:
        console.print(Text(output.plain(line), "" if line.startswith(("+++", "---")) else styles.get(line[:1], "")))


def _unchanged(client: Client, change: ClientChange, *, undo: bool, skill: bool) -> list[str]:
    from atlas.cli.clients.overview import is_off

    path = change.place.file
    if undo:
        return [f"nothing to take back: {path} has no {'skill' if skill else 'entry'} of Code Atlas"]
    if skill:
        return [f"already installed: {path}"]
    off = ", but the entry is switched off there" if is_off(change.existing) else ""
    return [f"already connected: {RECIPES[client].title}, in {path}{off}"]


def _done(client: Client, change: ClientChange, note: str, again: str, *, undo: bool, skill: bool) -> list[str]:
    path, title = change.place.file, RECIPES[client].title
    if undo:
        kept = "" if change.exact else "; the file has changed since, the rest of it was kept"
        return [f"{'deleted' if change.after is None else 'taken back'}: {path}{kept}"]
    lines = [f"{'installed' if skill else 'connected'}: {title}, in {path}"]
    if note:
        lines.append(f"note:  {note}")
    if change.place.inside is not None and not skill:
        lines.append("note:  The entry holds paths of this machine: do not commit it for others.")
    lines.append(f"undo:  {again} --undo")
    if not skill:
        lines.append(f"next:  restart {title}, and `atlas index` if this project has no index yet")
    return lines


def _words(client: Client, name: str, file: str, *, user: bool, skill: bool) -> list[str]:
    import shlex

    options = ["--user"] * user + ["--skill"] * skill + (["--name", name] if name != SERVER_NAME else [])
    return ["atlas", "connect", client.value, *options, *(["--file", shlex.quote(file)] if file else [])]


def _report(
    change: ClientChange,
    client: Client,
    lines: list[str],
    *,
    as_json: bool,
    shown: list[str] | None = None,
    written: bool = False,
) -> None:
    if not as_json:
        for line in lines:
            print(output.plain(line).replace("\n", " "))
        return
    output.print_json(
        {
            "client": client.value,
            "file": str(change.place.file),
            "action": change.action,
            "written": written,
            "message": lines[0],
            "diff": "\n".join(shown or []),
        }
    )


def _list(settings: Settings, *, as_json: bool) -> None:
    from atlas.cli.clients.overview import overview
    from atlas.cli.mcp import launch_command

    states = overview(settings.root, os.environ, Path.home(), launch_command())
    if as_json:
        output.print_json({"project": str(settings.root), "clients": [asdict(state) for state in states]})
        return
    rows = [
        (
            state.client,
            state.installed,
            (state.project.state or "no") if state.project else "-",
            (state.user.state or "no") if state.user else "-",
            state.skill,
        )
        for state in states
    ]
    console = output.console()
    console.print(output.table(("client", "installed", "in this project", "for the user", "skill"), rows))
    for state in states:
        for file in (state.project, state.user):
            if file and file.problem:
                console.print(output.one_line(file.problem), style="yellow")
    console.print("Connect one: atlas connect CLIENT (--user for all your projects)")
