"""`atlas migrate`: copy an index from one store to another and compare both unit by unit."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output
from atlas.cli.code.index_pass import progress_shown
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, settings_of
from atlas.cli.run import run
from atlas.core.errors import StoreError
from atlas.core.wording import counted, counts

if TYPE_CHECKING:
    from atlas.code.index.copying import CopyReport
    from atlas.runtime.config.load import Settings

PLACE = "URL|DIR"
SHOWN = 10
"""Maximum number of printed differences."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("migrate")(migrate)


def migrate(
    to: Annotated[str, typer.Option("--to", metavar=PLACE, help="Target: bolt://host:port or a data folder.")],
    source: Annotated[
        str, typer.Option("--from", metavar=PLACE, help="Source. Default: the current index.", show_default=False)
    ] = "",
    every: Annotated[bool, typer.Option("--all", help="Copy all projects of the index.")] = False,
    replacing: Annotated[bool, typer.Option("--replace", help="Replace a project that exists in the target.")] = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Copy the index to another store, vectors included, and compare both afterwards."""
    from atlas.runtime.config.checks import with_index_at

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
    """Raise StoreError if a copy differs from its source."""
    different = [line for copy in copies for line in copy.differences]
    if different:
        raise StoreError(
            f"the copy differs in {counted(len(different), 'place')}: {'; '.join(different[:SHOWN])}",
            "stop writers of both, then run: atlas migrate --replace",
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
            f"{copy.project} is at {target.store_place}: "
            f"{counts((copy.units, 'unit'), (copy.nodes, 'node'), (copy.edges, 'edge'), (copy.vectors, 'vector'))}; "
            f"digest {copy.target_digest}, {state}"
        )
