"""`atlas connect`: write this server into a client's configuration, take it back, or list and check the clients."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output
from atlas.cli.clients.recipes import RECIPES, SERVER_NAME, Client, known_clients
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, examples, settings_of
from atlas.cli.over_http import PortOption, Transport, TransportOption, token_place
from atlas.core.errors import AtlasError, ConfigError
from atlas.core.lazy_regex import lazy_regex
from atlas.core.wording import counted

if TYPE_CHECKING:
    from atlas.cli.clients.change import ClientChange
    from atlas.cli.clients.overview import ClientState
    from atlas.cli.clients.wanted import ConnectRequest
    from atlas.runtime.config.load import Settings

SECRET_VALUE = lazy_regex(
    r"""((?:token|key|secret|passw|auth|credential|cookie)[^"'=:]{0,100}+["']?\s*+[=:]\s*+["'])[^"']++(["'])""",
    re.IGNORECASE,
)
"""The value of a variable or header whose name says that it is secret: `"API_KEY": "..."`, `TOKEN = '...'`."""


ClientArgument = Annotated[
    Client | None,
    typer.Argument(
        metavar="[CLIENT]", help=f"One of {known_clients()}; without one, all are listed.", show_default=False
    ),
]
AllOption = Annotated[bool, typer.Option("--all", help="All installed clients; with --undo, all known ones.")]
UserOption = Annotated[bool, typer.Option("--user", help="Write the user's file, not the project's.")]
FileOption = Annotated[str, typer.Option("--file", metavar="PATH", help="Write this file.")]
NameOption = Annotated[
    str,
    typer.Option(
        "--name",
        metavar="NAME",
        help=f"Name of the server in the file. Default: {SERVER_NAME}, and for a second project in the same file "
        f"{SERVER_NAME}-FOLDER.",
    ),
]
PortableOption = Annotated[
    bool, typer.Option("--portable", help="Write no path of this machine, so that the file can be committed.")
]
SkillOption = Annotated[
    bool, typer.Option("--skill", help="Install the page that teaches agents when to ask what, instead.")
]
HooksOption = Annotated[
    bool,
    typer.Option(
        "--hooks",
        help="Install hooks instead: a reminder at the start of a session, and a hint after a grep for an indexed "
        "name; nothing is blocked.",
    ),
]
PluginOption = Annotated[
    str,
    typer.Option(
        "--plugin", metavar="DIR", help="Write a plugin folder (server, skill, hooks) for Claude Code and Gemini CLI."
    ),
]
UndoOption = Annotated[bool, typer.Option("--undo", help="Take the change back; asks if the entry was edited since.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before writing.")]
ListOption = Annotated[bool, typer.Option("--list", help="List the clients, and which are connected.")]
CheckOption = Annotated[bool, typer.Option("--check", help="List the entries of this project, and start each.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "connect",
        epilog=examples(
            "atlas connect",
            "atlas connect claude-code",
            "atlas connect --all",
            "atlas connect --check",
            "atlas connect cursor --portable",
            "atlas connect codex --transport http",
            "atlas connect claude-code --skill --yes",
            "atlas connect claude-code --hooks",
            "atlas connect --plugin ./code-atlas-plugin",
            "atlas connect claude-code --undo",
        ),
    )(connect)


def connect(
    client: ClientArgument = None,
    every: AllOption = False,
    user: UserOption = False,
    file: FileOption = "",
    name: NameOption = "",
    portable: PortableOption = False,
    skill: SkillOption = False,
    hooks: HooksOption = False,
    plugin: PluginOption = "",
    transport: TransportOption = Transport.STDIO,
    port: PortOption = None,
    undo: UndoOption = False,
    yes: YesOption = False,
    list_clients: ListOption = False,
    check: CheckOption = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Connect a coding agent: show the change to its configuration, ask, write it. Other entries are not touched."""
    settings = settings_of(project, data_dir)
    changes = bool(undo or skill or hooks or file or user or portable or name or port is not None)
    if plugin:
        if client is not None or every or changes or list_clients or check:
            raise ConfigError("--plugin has no other options but --yes", "The folder serves every project.")
        _write_plugin(plugin, as_json=json)
        return
    if list_clients or check or (client is None and not every):
        if client is not None or every or changes or (list_clients and check):
            raise ConfigError(
                "--list and --check have no other options, and a change needs a client", f"Clients: {known_clients()}."
            )
        (_check if check else _list)(settings, as_json=json)
        return
    _check_options(client, name, file, transport, port, every=every, skill=skill, hooks=hooks, portable=portable)
    if port is not None:
        settings = replace(settings, mcp=replace(settings.mcp, port=port))
    from atlas.cli.clients.wanted import ConnectRequest
    from atlas.cli.mcp import launch_command

    wanted = ConnectRequest(
        command=launch_command(),
        what="skill" if skill else "hooks" if hooks else "entry",
        name=name,
        file=file,
        user=user,
        portable=portable,
        over_http=transport is Transport.HTTP and not undo,
        undo=undo,
    )
    if client is not None:
        _report(_connect_one(settings, client, wanted, yes=yes, as_json=json), as_json=json)
    else:
        _connect_all(settings, wanted, yes=yes, as_json=json)


def _check_options(
    client: Client | None,
    name: str,
    file: str,
    transport: Transport,
    port: int | None,
    *,
    every: bool,
    skill: bool,
    hooks: bool,
    portable: bool,
) -> None:
    """Raise ConfigError for options that contradict each other."""
    if len(name) > 64 or not all(one.isascii() and (one.isalnum() or one in "-_") for one in name):
        raise ConfigError(f"--name {name!r} is not a server's name", "Use up to 64 letters, digits, - and _.")
    if every and (client is not None or file or name):
        raise ConfigError("--all is for the usual places of all clients", "Leave out the client, --file and --name.")
    if skill and hooks:
        raise ConfigError("both --skill and --hooks are given", "Give one of them at a time.")
    is_http = transport is Transport.HTTP
    if (is_http and (skill or hooks or portable)) or (not is_http and port is not None):
        raise ConfigError(
            "--transport http is for entries, and --port for HTTP", "Leave out --skill, --hooks, --portable or --port."
        )


@dataclass(frozen=True, slots=True)
class ConnectReport:
    """What was done for one client."""

    client: Client
    file: Path
    action: str
    lines: Sequence[str]
    written: bool = False
    shown: Sequence[str] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the report for `--json`."""
        return {
            "client": self.client.value,
            "file": str(self.file),
            "action": self.action,
            "written": self.written,
            "message": self.lines[0],
            "diff": "\n".join(self.shown),
        }


def _connect_one(
    settings: Settings, client: Client, wanted: ConnectRequest, *, yes: bool, as_json: bool
) -> ConnectReport:
    """Show the change, ask, and make it. Raises AtlasError, also after a no."""
    from atlas.cli.clients.change import make
    from atlas.cli.clients.printing import token_step
    from atlas.cli.clients.wanted import planned

    change, note = planned(settings, client, wanted)
    if change.action == "none":
        return ConnectReport(client, change.place.file, "none", _unchanged(client, change, wanted))
    shown = _diff(change)
    decides = not yes or change.edited
    if decides and not (as_json and yes):
        _show(shown, stderr=as_json)
    _ask(change, yes=yes)
    place = token_place(settings, None) if wanted.over_http else None
    make(change)
    if not decides and not as_json:
        _show(shown, stderr=False)  # after the write: the reader of the output may close it early
    done = _done(client, change, note, wanted)
    if place is not None:
        done += [f"token: {token_step(client, place)}", f"serve: atlas mcp --transport http --port {settings.mcp.port}"]
    return ConnectReport(client, change.place.file, change.action, done, written=True, shown=shown)


def _connect_all(settings: Settings, wanted: ConnectRequest, *, yes: bool, as_json: bool) -> None:
    """Do the same for every client that is installed. Raises AtlasError if it failed for one."""
    chosen = [Client(state.client) for state in _states(settings) if state.installed or wanted.undo]
    if not chosen:
        raise ConfigError("no client is installed here", f"Name one: {known_clients()}.")
    reports: list[dict[str, object]] = []
    failed: list[AtlasError] = []
    for client in chosen:
        try:
            report = _connect_one(settings, client, wanted, yes=yes, as_json=as_json)
        except AtlasError as error:
            if wanted.what != "hooks" or not _has_no_hooks(client):
                failed.append(error)
                reports.append({"client": client.value, "written": False, "message": error.message})
                print(output.plain(f"{client.value}: {error.message}"), file=sys.stderr)
            continue
        if report.action != "none" or not wanted.undo:
            reports.append(report.to_dict())
            if not as_json:
                _report(report, as_json=False)
    if as_json:
        output.print_json({"clients": reports})
    elif not reports:
        print("nothing to take back" if wanted.undo else "no installed client has hooks")
    if failed:
        raise type(failed[0])(f"{len(failed)} of {counted(len(chosen), 'client')} failed", failed[0].hint)


def _has_no_hooks(client: Client) -> bool:
    from atlas.cli.clients.hooks import HOOKS

    return client not in HOOKS


def _write_plugin(folder: str, *, as_json: bool) -> None:
    from atlas.cli.clients.plugin import write_plugin

    place = Path(folder).expanduser().absolute()
    files = write_plugin(place)
    if as_json:
        output.print_json({"folder": str(place), "files": files})
        return
    print(output.plain(f"written: {place}: {', '.join(files)}"))
    print("next:    claude plugin marketplace add DIR, claude plugin install code-atlas@code-atlas")
    print("         gemini extensions install DIR")


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
    return [SECRET_VALUE.sub(r"\1***\2", line) for line in unified(before, after, *names)]


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


def _unchanged(client: Client, change: ClientChange, wanted: ConnectRequest) -> list[str]:
    from atlas.cli.clients.overview import is_off

    path = change.place.file
    if wanted.undo:
        what = {"entry": "entry of Code Atlas for this project"}.get(wanted.what, f"{wanted.what} of Code Atlas")
        return [f"nothing to take back: {path} has no {what}"]
    if wanted.what != "entry":
        return [f"already installed: {path}"]
    off = ", but the entry is switched off there" if is_off(change.existing) else ""
    return [f"already connected: {RECIPES[client].title}, in {path}{off}"]


def _done(client: Client, change: ClientChange, note: str, wanted: ConnectRequest) -> list[str]:
    path, title = change.place.file, RECIPES[client].title
    if wanted.undo:
        kept = "" if change.exact else "; the file has changed since, the rest of it was kept"
        return [f"{'deleted' if change.after is None else 'taken back'}: {path}{kept}"]
    lines = [f"{'connected' if wanted.what == 'entry' else 'installed'}: {title}, in {path}"]
    if wanted.what == "entry" and change.place.key[-1] != SERVER_NAME:
        lines.append(f"name:  {change.place.key[-1]}")
    if note:
        lines.append(f"note:  {note}")
    if wanted.portable:
        lines.append("note:  It starts the `atlas` that is on PATH: each user of the file needs one.")
    elif change.place.inside is not None and wanted.what != "skill":
        lines.append("note:  It holds paths of this machine. For a file that you commit, use --portable.")
    lines.append(f"undo:  {' '.join(_words(client, wanted))} --undo")
    if wanted.what == "entry":
        lines.append(f"next:  restart {title}, and `atlas index` if this project has no index yet")
    return lines


def _words(client: Client, wanted: ConnectRequest) -> list[str]:
    import shlex

    options = ["--user"] * wanted.user + [f"--{wanted.what}"] * (wanted.what != "entry")
    options += ["--portable"] * (wanted.portable and wanted.what == "hooks")
    options += ["--name", wanted.name] if wanted.name else []
    return ["atlas", "connect", client.value, *options, *(["--file", shlex.quote(wanted.file)] if wanted.file else [])]


def _report(report: ConnectReport, *, as_json: bool) -> None:
    if as_json:
        output.print_json(report.to_dict())
        return
    for line in report.lines:
        print(output.plain(line).replace("\n", " "))


def _states(settings: Settings) -> list[ClientState]:
    from atlas.cli.clients.overview import overview
    from atlas.cli.mcp import launch_command

    return overview(settings.root, os.environ, Path.home(), launch_command())


def _check(settings: Settings, *, as_json: bool) -> None:
    """List the entries of this project with what each does when it is started. Raises AtlasError if one fails."""
    from atlas.cli.clients.check import check_all
    from atlas.cli.mcp import launch_command

    found = check_all(_states(settings), settings.root, launch_command())
    if as_json:
        output.print_json({"project": str(settings.root), "entries": [asdict(one) for one in found]})
    elif found:
        rows = [(one.client, one.file, one.name, one.result, one.detail, one.seconds or None) for one in found]
        columns = ("client", "file", "entry", "result", "", "seconds")
        output.console().print(output.table(columns, rows))
    failed = [one for one in found if one.result == "fails"]
    if not found:
        raise ConfigError("no client is connected to this project", "Connect one: atlas connect CLIENT")
    if failed:
        raise AtlasError(
            f"not started: {len(failed)} of {counted(len(found), 'entry')}",
            f"Write it again: atlas connect {failed[0].client}",
        )


def _list(settings: Settings, *, as_json: bool) -> None:
    states = _states(settings)
    if as_json:
        output.print_json({"project": str(settings.root), "clients": [_state_of(state) for state in states]})
        return
    rows = [
        (
            state.client,
            state.installed,
            (state.project.state or "no") if state.project else "-",
            (state.user.state or "no") if state.user else "-",
            state.skill,
            state.hooks,
        )
        for state in states
    ]
    console = output.console()
    console.print(output.table(("client", "installed", "in this project", "for the user", "skill", "hooks"), rows))
    for state in states:
        for file in (state.project, state.user):
            if file and file.problem:
                console.print(output.one_line(file.problem), style="yellow")
    console.print("Connect one: atlas connect CLIENT (--user for all your projects); --all, --check, --skill, --hooks")


def _state_of(state: ClientState) -> dict[str, object]:
    """Return a client for `--json`, without the entries: they may hold secrets."""
    found = asdict(state)
    for file in (found["project"], found["user"]):
        if file is not None:
            del file["entry"]
    return found
