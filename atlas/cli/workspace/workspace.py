"""`atlas workspace`: add, list and remove projects that answer together."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output
from atlas.cli.options import JsonOption
from atlas.core.errors import AtlasError, ConfigError, NotFound

if TYPE_CHECKING:
    from atlas.runtime.config.workspace import WorkspaceMember

NameOption = Annotated[
    str, typer.Option("--name", metavar="NAME", help="Name of the workspace, for one of several: letters, digits, - _.")
]
FoldersArgument = Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Folders of projects.")]


def register(app: typer.Typer) -> None:
    """Add the command family."""
    family = typer.Typer(help="Projects that answer together: add, list, remove.", no_args_is_help=True)
    family.command("add")(add)
    family.command("list")(list_members)
    family.command("remove")(remove)
    app.add_typer(family, name="workspace")


def add(folders: FoldersArgument, name: NameOption = "", json: JsonOption = False) -> None:
    """Add projects to a workspace: each answers with the others from now on. Writes your own atlas.toml."""
    from atlas.cli.workspace.user_file import read_members, write_members
    from atlas.runtime.config.load import discover_root
    from atlas.runtime.config.workspace import MAX_MEMBERS, WorkspaceMember

    if not re.fullmatch(r"[A-Za-z0-9_-]{0,40}", name):
        raise ConfigError(f"not a name of a workspace: {name[:80]!r}", "Use letters, digits, - and _.")
    chosen: list[WorkspaceMember] = []
    for folder in folders:
        if not folder.is_dir():
            raise NotFound(f"no such folder: {folder}", "Give the folder of a project.")
        chosen.append(WorkspaceMember(name, discover_root(folder.resolve()).resolve()))
    members = list(dict.fromkeys((*read_members(), *chosen)))
    if len(members) > MAX_MEMBERS:
        raise ConfigError(f"a user has at most {MAX_MEMBERS} members of workspaces", "Remove some of them.")
    path = write_members(members)
    _show(members, as_json=json)
    if not json:
        print(output.plain(f"written to {path}"))


def remove(folders: FoldersArgument, name: NameOption = "", json: JsonOption = False) -> None:
    """Remove projects from a workspace, also those whose folder is gone. Their indexes stay."""
    from atlas.cli.workspace.user_file import read_members, write_members
    from atlas.runtime.config.load import discover_root
    from atlas.runtime.config.workspace import WorkspaceMember

    members = list(read_members())
    for folder in folders:
        here = folder.resolve()
        named = (WorkspaceMember(name, here), WorkspaceMember(name, discover_root(here).resolve()))
        found = next((one for one in named if one in members), None)
        if found is None:
            of = f"the workspace {name}" if name else "the workspace without a name"
            raise NotFound(f"{here} is not in {of}", "See: atlas workspace list")
        members.remove(found)
    path = write_members(members)
    _show(members, as_json=json)
    if not json:
        print(output.plain(f"written to {path}"))


def list_members(json: JsonOption = False) -> None:
    """List the projects of all workspaces, whether they are indexed, and which folders are gone."""
    from atlas.cli.options import settings_of
    from atlas.runtime.config.workspace import members_of

    _show(list(members_of(settings_of("", "").workspace.members)), as_json=json)


def _show(members: list[WorkspaceMember], *, as_json: bool) -> None:
    rows = [(one.workspace, *_described(one), str(one.root)) for one in members]
    if as_json:
        keys = ("workspace", "project", "state", "root")
        output.print_json({"members": [dict(zip(keys, row, strict=True)) for row in rows]})
        return
    if not rows:
        print("no workspace: atlas workspace add FOLDER FOLDER")
        return
    shown = [(workspace or "-", *others) for workspace, *others in rows]
    output.console().print(output.table(("workspace", "project", "state", "root"), shown))
    equal = [name for name, count in Counter((row[0], row[1]) for row in rows if row[1]).items() if count > 1]
    for workspace, project in equal:
        of = f" of workspace {workspace}" if workspace else ""
        print(output.plain(f"several projects{of} are called {project}: name them by their folder"))


def _described(member: WorkspaceMember) -> tuple[str, str]:
    """Return name and state of a member."""
    from atlas.app.store import has_database
    from atlas.runtime.config.load import load_member

    if not member.root.is_dir():
        return "", "gone"
    try:
        settings = load_member(member.root)
    except AtlasError as error:
        return "", f"unusable: {error.message}"
    is_indexed = bool(settings.store.url) or has_database(settings)
    return settings.project_name, "ok" if is_indexed else "not indexed"
