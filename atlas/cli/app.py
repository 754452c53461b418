"""The application: its help, its version, the options that may stand before a command, and every command family."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from atlas.cli import options

EXIT_CODES = """Exit codes: 0 done · 1 failed · 2 wrong arguments or settings · 3 not found · 4 query not understood ·
5 store failed · 6 index of another version · 7 busy or unreachable, try again · 130 interrupted."""

FAMILIES = {
    "code.index": ("index",),
    "daemon.daemon": ("daemon",),
    "daemon.worker": ("worker",),
    "code.query": ("search", "node", "context", "cypher"),
    "code.impact": ("impact",),
    "code.compare": ("compare",),
    "ui": ("ui",),
    "knowledge.notes": ("notes",),
    "knowledge.memory": ("memory",),
    "packs.pack": ("pack",),
    "daemon.state": ("status", "health", "schema"),
    "daemon.dead_letters": ("dead-letters",),
    "code.export": ("export",),
    "code.graph": ("graph",),
    "migrate": ("migrate",),
    "mcp": ("mcp",),
    "lsp": ("lsp",),
    "connect": ("connect",),
    "clients.hook_command": ("hook",),
    "chat.chat": ("chat",),
    "doctor": ("doctor",),
    "manual": ("man",),
    "papers": ("papers",),
    "workspace.workspace": ("workspace",),
    "cache": ("cache",),
    "code.published": ("published",),
    "config": ("config",),
}
"""Modules of this package with the commands that they register, in the order of `atlas --help`."""

FURTHER = "atlas.commands"
"""Entry points of further distributions `code-atlas-*`: functions that register commands, such as `bench`."""


def create_app(command: str = "") -> typer.Typer:
    """Return the application; only with the family of `command` if that is the name of one.

    All families take 0.2 CPU seconds to import and to describe to the option parser.
    """
    app = _bare_app()
    for family, commands in FAMILIES.items():
        if command in commands or not any(command in names for names in FAMILIES.values()):
            import_module(f"atlas.cli.{family}").register(app)
    if not any(command in names for names in FAMILIES.values()):
        _register_further(app)
    return app


def create_help_app() -> typer.Typer:
    """Return an application that knows of its commands no more than `atlas --help` shows."""
    from atlas.cli.summaries import SUMMARIES

    app = _bare_app()
    for name, summary in SUMMARIES.items():
        app.command(name, help=summary)(_not_run)
    _register_further(app)
    return app


def _not_run() -> None:
    raise AssertionError("the application of the help runs no command")


def _bare_app() -> typer.Typer:
    app = typer.Typer(
        name="atlas",
        help="Code Atlas: a code graph that stays current and answers in few tokens, with evidence.",
        epilog=EXIT_CODES,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    return app


def _register_further(app: typer.Typer) -> None:
    """Register the commands of further distributions of Code Atlas, which are installed beside its dependencies.

    Entry points of all distributions would take 15 ms to read, and those of a folder on the path may be a stranger's.
    """
    for folder in Path(typer.__file__).parents[1].glob("code_atlas_*.dist-info"):
        from importlib.metadata import Distribution

        for command in Distribution.at(folder).entry_points.select(group=FURTHER):
            command.load()(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        from atlas.cli.doctor import print_version
        from atlas.cli.settings import wants_json

        print_version(as_json=wants_json())
        raise typer.Exit


def root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit; with --json also interpreter, platform and place.",
        ),
    ] = False,
    project: options.ProjectOption = "",
    data_dir: options.DataDirOption = "",
    trust_data_dir: Annotated[
        bool,
        typer.Option("--trust-data-dir", help="Trust a data folder from elsewhere, such as a CI cache or a volume."),
    ] = False,
    json: options.JsonOption = False,
) -> None:
    """Code Atlas: a code graph that stays current and answers in few tokens, with evidence."""
    if trust_data_dir:
        # Set in the environment, because a daemon that the command starts must trust the folder as well.
        os.environ["ATLAS_TRUST_DATA_DIR"] = "1"
    given = {"project": project, "data_dir": data_dir, "json": json}
    # Options before the command are defaults for the same options after it, for nested commands, too.
    shared: dict[str, object] = {name: value for name, value in given.items() if value}
    context.default_map = {
        name: {**shared, **dict.fromkeys(getattr(command, "commands", ()), shared)}
        for name, command in getattr(context.command, "commands", {}).items()
    }
