"""The options that every command has, and what they turn into: `Settings`. Nothing heavy is imported here."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from atlas.config.load import Settings

ProjectOption = Annotated[
    str,
    typer.Option(
        "--project", metavar="PATH", help="Project folder. Default: ATLAS_PROJECT, else the one around this folder."
    ),
]
DataDirOption = Annotated[
    str,
    typer.Option(
        "--data-dir", metavar="DIR", help="Folder of derived data. Default: ATLAS_DATA_DIR, else in the cache."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else.")]
LimitOption = Annotated[
    int, typer.Option("--limit", "-n", min=0, max=50, metavar="N", help="Hits; 0 = the configured number.")
]
BudgetOption = Annotated[
    int,
    typer.Option("--token-budget", min=0, metavar="N", help="Largest answer in tokens; 0 = the configured budget."),
]


def settings_of(project: str, data_dir: str) -> Settings:
    """Return the settings in force for the options of a command. Raises ConfigError."""
    from atlas.config.load import load_settings

    return load_settings(project, data_dir)


def wants_json(arguments: list[str] | None = None) -> bool:
    """Whether the command line asks for JSON; used where no command runs yet, to report errors in the right form."""
    given = sys.argv[1:] if arguments is None else arguments
    return "--json" in (given[: given.index("--")] if "--" in given else given)
