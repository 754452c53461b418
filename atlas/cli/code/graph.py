"""`atlas graph`: a small picture of a symbol's neighbourhood, or of the imports between the entries of a folder."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli.code.export import opened
from atlas.cli.options import DataDirOption, ProjectOption, examples, settings_of
from atlas.cli.output import plain
from atlas.cli.run import run

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    shown = examples("atlas graph Cart.total -o cart.svg", "atlas graph src/shop --format mermaid", "atlas graph .")
    app.command("graph", epilog=shown)(graph)


def graph(
    name: Annotated[str, typer.Argument(metavar="SYMBOL|FOLDER", help="A symbol, or a folder of the project.")],
    form: Annotated[str, typer.Option("--format", metavar="svg|html|dot|mermaid", help="Output format.")] = "svg",
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Default: standard output.")] = "",
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
) -> None:
    """Draw a picture of at most 60 nodes; what is left out is counted."""
    text = run(_draw(settings_of(project, data_dir), name, form))
    if output:
        with opened(output) as file:
            file.write(f"{text}\n")
    else:
        print(plain(text) if sys.stdout.isatty() else text)


async def _draw(settings: Settings, name: str, form: str) -> str:
    from atlas.app.session import make_session
    from atlas.cli.code.index_pass import make_first_index
    from atlas.server.explorer.pictures import drawn_as, picture_of
    from atlas.server.explorer.questions import asker_of

    session = make_session(settings, personal=False, first_index=make_first_index)
    try:
        reader = (await session.indexed()).reader
        return drawn_as(await picture_of(asker_of(session), reader, name), form)
    finally:
        await session.aclose()
