"""`atlas config show`: the current settings and their sources."""

from __future__ import annotations

import json as jsonlib

import typer

from atlas.cli import output
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, settings_of


def register(app: typer.Typer) -> None:
    """Add the command family."""
    family = typer.Typer(help="Settings.", no_args_is_help=True)
    family.command("show")(show)
    app.add_typer(family, name="config")


def show(project: ProjectOption = "", data_dir: DataDirOption = "", json: JsonOption = False) -> None:
    """Show every setting, its value and its source, and what the project's own file sets in vain."""
    settings = settings_of(project, data_dir)
    if json:
        values = {key: {"value": value, "origin": origin} for key, value, origin in settings.entries()}
        document = {"root": str(settings.root), "data_dir": str(settings.data_dir), "settings": values}
        output.print_json({**document, "ignored": [{"why": one.why, "hint": one.hint} for one in settings.ignored]})
        return
    console = output.console()
    console.print(f"project  {settings.project_name}\nroot     {settings.root}\ndata     {settings.data_dir}")
    console.print(
        output.table(
            ("setting", "value", "from"), ((key, _shown(value), origin) for key, value, origin in settings.entries())
        )
    )
    if settings.ignored:
        rows = ((one.why, one.hint) for one in settings.ignored)
        console.print(output.table(("ignored", "what to do"), rows))


def _shown(value: object) -> str:
    """Return a value in TOML syntax."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return jsonlib.dumps(value)
    return f'"{value}"' if isinstance(value, str) else str(value)
