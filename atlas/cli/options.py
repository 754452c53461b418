"""Options of all commands and their conversion to `Settings`. Imports nothing heavy."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atlas.runtime.config.load import Settings

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

MAX_WARNINGS = 3
"""Ignored settings that a command names."""


def settings_of(project: str, data_dir: str) -> Settings:
    """Return the current settings for the options of a command. Raises ConfigError.

    What the project's own file sets in vain is told on stderr.
    """
    from atlas.runtime.config.load import load_settings

    settings = load_settings(project, data_dir)
    warn_of([each.why for each in settings.ignored])
    return settings


def warn_of(ignored: Sequence[str]) -> None:
    """Tell on stderr why settings are ignored."""
    for why in ignored[:MAX_WARNINGS]:
        print(f"warning: ignored: {output.one_line(why)}", file=sys.stderr)
    if len(ignored) > MAX_WARNINGS:
        print(f"warning: ignored: {len(ignored) - MAX_WARNINGS} more; see: atlas config show", file=sys.stderr)


def wants_json(arguments: list[str] | None = None) -> bool:
    """Return whether the command line asks for JSON; used before a command runs, to report errors in that form."""
    given = sys.argv[1:] if arguments is None else arguments
    return "--json" in (given[: given.index("--")] if "--" in given else given)


def examples(*lines: str) -> str:
    """Return an epilog that shows each command line on a line of its own."""
    # the first character stops Click from joining the lines
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))
