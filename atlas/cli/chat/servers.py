"""Which servers a chat connects: the files that the user names, those of an installed client, and Code Atlas itself.

Files of a project are never read unasked, and none of their servers starts before its command has been shown and
confirmed: a repository must not choose which programs are started, nor which of the user's variables they get.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from atlas.chat.server_spec import ServerSpec, filled, read_servers, unique, variables_of
from atlas.cli.clients import config_file, jsonc, toml_text
from atlas.cli.clients.edits import BrokenText
from atlas.cli.clients.recipes import SERVER_NAME, Client
from atlas.cli.clients.recipes import config_file as client_file
from atlas.cli.mcp import launch_command
from atlas.core.errors import ConfigError
from atlas.core.invisible import one_line

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings

PASSED_PREFIXES = ("ATLAS_", "XDG_", "PYTHON")
"""Variables that our own server gets: MCP clients pass few of the user's variables."""

MAX_SHOWN = 4000
"""Characters of one server's description: what is too long to be read is not asked about."""

Confirm = Callable[[str], bool]
"""Shows the description of a server and returns whether the user starts it."""

Found = tuple[tuple[ServerSpec, ...], tuple[str, ...]]
"""Servers, and the problems of those that cannot be used."""


def chosen_servers(
    settings: Settings,
    files: Sequence[str],
    imported: Sequence[Client],
    of_project: Sequence[Client] = (),
    confirm: Confirm | None = None,
    *,
    own_server: bool = True,
) -> Found:
    """Return the servers, our own first, and the problems of those that cannot be used.

    `of_project` are clients whose file in the project is read; `confirm` is asked about each server in it. Raises
    ConfigError for a file that does not exist or cannot be read, and for a project's servers without `confirm`.
    """
    groups: list[Found] = [((own_spec(settings),), ())] if own_server else []
    for name in [*files, *([_configured(settings)] if settings.chat.servers and not files else [])]:
        path = Path(name).expanduser()
        groups.append(_placed(read_servers(_read(path), str(path), os.environ), path.absolute().parent))
    for client in imported:
        path = _users_file(client, settings.root)
        groups.append(_placed(_users_servers(_read(path), str(path), settings.root), Path.home()))
    groups += [_confirmed(_projects_file(client, settings.root), settings.root, confirm) for client in of_project]
    return unique(specs for specs, _ in groups), tuple(problem for _, problems in groups for problem in problems)


def own_spec(settings: Settings) -> ServerSpec:
    """Return how Code Atlas itself is started for this project."""
    command, *arguments = launch_command()
    passed = {name: value for name, value in os.environ.items() if name.startswith(PASSED_PREFIXES)}
    given = ["mcp", "--project", str(settings.root), "--data-dir", str(settings.data_dir)]
    if settings.origin("data_dir") == "default":
        given = given[:3]
    return ServerSpec(SERVER_NAME, command, (*arguments, *given), environment=passed, origin="Code Atlas")


def described(spec: ServerSpec) -> str:
    """Return everything that decides what starting a server does, variables by name, for people."""
    lines = [("command", shlex.join((spec.command, *spec.arguments)))] if spec.command else [("address", spec.url)]
    lines += [("folder", spec.folder)] if spec.command else []
    lines += [("variable", f"{name}={value}") for name, value in spec.environment.items()]
    lines += [("header", f"{name}: {value}") for name, value in spec.headers.items()]
    lines += [("gets your", name) for name in variables_of(spec)]
    shown = [f"  {title + ':':<11}{one_line(text)}" for title, text in lines]
    return "\n".join((f"the server {one_line(spec.name)}, described by {one_line(spec.origin)}", *shown))


def _configured(settings: Settings) -> str:
    """Return the file of the setting. Raises ConfigError for one whose place depends on the current folder."""
    name = settings.chat.servers
    if not Path(name).expanduser().is_absolute():
        raise ConfigError(
            f"chat.servers is {name!r}, which is another file in every folder", "Set an absolute path, or one with ~."
        )
    return name


def _placed(found: Found, folder: Path) -> Found:
    """Let commands start in a folder that is not the current one: that may be a stranger's, with a `json.py` in it."""
    specs, problems = found
    return tuple(replace(one, folder=str(folder / one.folder)) if one.command else one for one in specs), problems


def _users_file(client: Client, root: Path) -> Path:
    """Return the file with the user's servers of a client. Raises ConfigError if there is none outside the project."""
    path = client_file(client, root, os.environ, Path.home(), user=True)
    assert path is not None, "every client has a file of the user"
    theirs = client_file(client, root, os.environ, Path.home(), user=False)
    has_theirs = theirs is not None and theirs.exists()
    more = f" The project has {theirs}: --import-project {client.value} asks before it starts anything."
    if not path.exists():
        raise ConfigError(
            f"{client.value} has no configuration of servers of yours",
            f"Looked for {path}.{more if has_theirs else ''}",
        )
    place, home = root.resolve(), Path.home().resolve()
    if path.resolve().is_relative_to(place) and not home.is_relative_to(place):
        raise ConfigError(
            f"{path} lies in the project, which may choose no programs",
            f"--import-project {client.value} asks before it starts anything, and --config names one file.",
        )
    return path


def _users_servers(document: Any, origin: str, root: Path) -> Found:
    """Return the servers of a client's file of the user; Claude Code's also holds those of single projects."""
    specs, problems = read_servers(document, origin, os.environ)
    projects = cast("dict[str, Any]", document).get("projects") if isinstance(document, dict) else None
    here = cast("dict[str, Any]", projects).get(str(root)) if isinstance(projects, dict) else None
    if not isinstance(here, dict) or not here.get("mcpServers"):  # pyright: ignore[reportUnknownMemberType]
        return specs, problems
    more, further = read_servers(cast("object", here), origin, os.environ)
    return (*more, *specs), (*further, *(problems if specs else ()))


def _projects_file(client: Client, root: Path) -> Path:
    """Return the project's file of a client. Raises ConfigError without one."""
    path = client_file(client, root, os.environ, Path.home(), user=False)
    if path is None or not path.exists():
        raise ConfigError(
            f"the project has no servers for {client.value}",
            f"Looked for {path}." if path else f"{client.value} keeps servers in the user's file: --import.",
        )
    return path


def _confirmed(path: Path, root: Path, confirm: Confirm | None) -> Found:
    """Return the servers of a project's file that the user starts."""
    specs, problems = read_servers(_read(path, inside=root), str(path), None)
    if specs and confirm is None:
        raise ConfigError(
            f"no server of {path} is started: there is no terminal to ask on",
            "Copy those that you trust into a file of yours, and name it with --config.",
        )
    chosen: list[ServerSpec] = []
    further: list[str] = []
    for spec in _placed((specs, ()), root)[0]:
        text = described(spec)
        if len(text) > MAX_SHOWN:
            further.append(f"{path}: {spec.name}: its description is too long to be shown")
        elif confirm is not None and confirm(text):
            try:
                chosen.append(replace(filled(spec, os.environ), is_foreign=True))
            except ValueError as error:
                further.append(f"{path}: {spec.name}: {error}")
        else:
            further.append(f"{path}: {spec.name} is not started")
    return tuple(chosen), (*problems, *further)


def ask_on_terminal(text: str) -> bool:
    """Show the description of a server and return whether the user starts it; the default is no."""
    print(f"\n{text}", file=sys.stderr)
    try:
        return input("start it? [y]es, [N]o: ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _read(path: Path, *, inside: Path | None = None) -> Any:
    """Return a parsed JSON (comments allowed) or TOML file. Raises ConfigError."""
    reader = toml_text if path.suffix == ".toml" else jsonc
    file = config_file.read(path, reader.MAX_BYTES, inside=inside)
    if not file.exists:
        raise ConfigError(
            f"no such file: {path}", 'It holds {"mcpServers": {"NAME": {"command": ..., "args": [...]}}}.'
        )
    try:
        return reader.load(file.text)
    except BrokenText as error:
        raise ConfigError(f"{path}: {error}", "It must be JSON with the key mcpServers.") from error
