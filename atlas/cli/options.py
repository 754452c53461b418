"""Options of all commands. Imports nothing heavy but the option parser."""

from __future__ import annotations

from typing import Annotated

import typer

from atlas.cli.settings import settings_of as settings_of

ProjectOption = Annotated[
    str,
    typer.Option(
        "--project", metavar="PATH", help="Project folder. Default: ATLAS_PROJECT, else the one around this folder."
    ),
]
DataDirOption = Annotated[
    str,
    typer.Option(
        "--data-dir", metavar="DIR", help="Folder for derived data. Default: ATLAS_DATA_DIR, else in the user's cache."
    ),
]
InOption = Annotated[
    str,
    typer.Option(
        "--in", metavar="PROJECT", help="Another project of the workspace: its name or folder; all = every one."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
PersonalOption = Annotated[bool, typer.Option("--personal", help="The user's own notes, which belong to no project.")]
LimitOption = Annotated[
    int,
    typer.Option(
        "--limit", "-n", min=0, max=50, metavar="N", help="Number of hits; 0 = as many as the question needs."
    ),
]
BudgetOption = Annotated[
    int,
    typer.Option("--token-budget", min=0, metavar="N", help="Token budget of the answer; 0 = the configured one."),
]


def examples(*lines: str) -> str:
    """Return an epilog that shows each command line on a line of its own."""
    # the first character stops Click from joining the lines
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))
