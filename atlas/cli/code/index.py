"""`atlas index`: one pass over a project, with a progress bar on a terminal and a summary."""

from __future__ import annotations

import dataclasses
import gc
import math
import sys
from pathlib import Path
from typing import Annotated

import typer

from atlas.cli import output
from atlas.cli.code.index_pass import run_pass
from atlas.cli.code.index_summary import print_summary
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, examples, settings_of
from atlas.cli.run import run
from atlas.core.errors import AtlasError, ConfigError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("index", epilog=examples("atlas index", "atlas index ~/src/shop --full", "atlas index --json"))(index)


def index(
    path: Annotated[
        str, typer.Argument(metavar="[PATH]", help="Project folder; as --project.", show_default=False)
    ] = "",
    full: Annotated[bool, typer.Option("--full", help="Parse and write all files again.")] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Replace an index of another tree with the same project name.")
    ] = False,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Fail if another `atlas index` is running on this index.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before indexing the home folder, or a folder around it.")
    ] = False,
    quality: Annotated[
        bool, typer.Option("--quality", help="Also wait for the vectors of the sentence transformer (quality.model).")
    ] = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Update the index from the files; only changes are parsed and written. A running daemon does the work."""
    if path and project and path != project:
        raise ConfigError("both PATH and --project are given", "Give one of them.")
    # the process ends with the pass, and rows hold no cycles
    gc.disable()
    settings = settings_of(path or project, data_dir)
    if not yes:
        _check_root(settings.root)
    patience = 0.0 if no_wait else math.inf
    summary = run(run_pass(settings, full=full, take_over=take_over, quality=quality, patience=patience))
    if summary is None:
        raise typer.Abort
    document = dataclasses.asdict(summary) | {"phases": dict(summary.phases)}
    if code := print_summary(document, as_json=json):
        raise typer.Exit(code)


def _check_root(root: Path) -> None:
    """Return unless this is the home folder or a folder around it, or the user wants that.

    Raises ConfigError without a terminal to ask on, AtlasError after a no.
    """
    home = Path.home().resolve()
    if root != home and root not in home.parents:
        return
    what = "the home folder" if root == home else f"a folder around the home folder {home}"
    if not sys.stdin.isatty():
        raise ConfigError(
            f"{root} is {what}: hardly a project",
            "Give the folder of a project: atlas index PATH. If you mean it, add --yes.",
        )
    if not typer.confirm(output.one_line(f"{root} is {what}. Index everything in it?"), err=True):
        raise AtlasError("nothing was indexed", "Give the folder of a project: atlas index PATH.")
