"""`atlas migrate`: an index from one store to another, checked unit by unit at the end."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output
from atlas.cli.index import progress_shown
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, settings_of
from atlas.cli.run import run
from atlas.errors import StoreError

if TYPE_CHECKING:
    from atlas.config.load import Settings
    from atlas.pipeline.copying import CopyReport

PLACE = "URL|DIR"
SHOWN = 10
"""Differences that are printed."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("migrate")(migrate)


def migrate(
    to: Annotated[str, typer.Option("--to", metavar=PLACE, help="Where to: bolt://host:port, or a data folder.")],
    source: Annotated[
        str, typer.Option("--from", metavar=PLACE, help="Where from. Default: the index in force.", show_default=False)
    ] = "",
    every: Annotated[bool, typer.Option("--all", help="All projects of the index, not only this one.")] = False,
    replacing: Annotated[
        bool, typer.Option("--replace", help="Replace a project that the target already holds.")
    ] = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Copy the index to another store, vectors too, and check that both say the same."""
    from atlas.config.store_checks import with_index_at

    settings = settings_of(project, data_dir)
    origin = with_index_at(settings, source, Path.cwd()) if source else settings
    target = with_index_at(settings, to, Path.cwd())
    copies = run(_migrate(origin, target, every=every, replacing=replacing))
    if json:
        output.print_json([dataclasses.asdict(copy) for copy in copies])
    else:
        _print(copies, target)
    check_equal(copies)


def check_equal(copies: Sequence[CopyReport]) -> None:
    """Raise StoreError when a copy is not what it was made from."""
    different = [line for copy in copies for line in copy.differences]
    if different:
        raise StoreError(
            f"the copy differs in {len(different)} places: {'; '.join(different[:SHOWN])}",
            "does something write to one of them? Else try again: atlas migrate --replace",
        )


async def _migrate(origin: Settings, target: Settings, *, every: bool, replacing: bool) -> list[CopyReport]:
    from atlas.app.migrate import migrate, projects_of

    names = await projects_of(origin) if every else []
    with progress_shown() as progress:
        return await migrate(origin, target, names, progress, replacing=replacing)


def _print(copies: list[CopyReport], target: Settings) -> None:
    console = output.console()
    for copy in copies:
        state = "differs" if copy.differences else "the same on both sides"
        console.print(
            f"{copy.project} is at {target.store_place}: {copy.units} units, {copy.nodes} nodes, {copy.edges} edges, "
            f"{copy.vectors} vectors; digest {copy.target_digest}, {state}"
        )
