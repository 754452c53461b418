"""`atlas export`: the whole graph as JSON Lines or GraphML, to standard output or a file."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from atlas.cli.options import DataDirOption, ProjectOption, examples, settings_of
from atlas.cli.output import plain
from atlas.cli.run import run
from atlas.core.errors import ConfigError

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    shown = examples(
        "atlas export > graph.jsonl", "atlas export --format graphml -o graph.xml", "atlas export --canonical"
    )
    app.command("export", epilog=shown)(export)


def export(
    form: Annotated[str, typer.Option("--format", metavar="jsonl|graphml", help="Output format.")] = "jsonl",
    canonical: Annotated[
        bool,
        typer.Option(
            "--canonical", help="Omit generation, times and absolute paths, so that equal graphs give equal bytes."
        ),
    ] = False,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Default: standard output.")] = "",
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON; needs --output.")] = False,
) -> None:
    """Write all nodes and edges, sorted."""
    settings = settings_of(project, data_dir)
    if form not in ("jsonl", "graphml"):
        raise ConfigError(f"unknown format {form!r}", "Use --format jsonl or --format graphml.")
    if json and not output:
        raise ConfigError("--json needs --output", "The graph itself goes to standard output: use --format jsonl.")
    with opened(output) if output else nullcontext(sys.stdout) as file:
        lines = run(_export(settings, form, file, canonical=canonical))
    if json:
        from atlas.cli.output import print_json

        print_json({"output": output, "format": form, "lines": lines})


@contextmanager
def opened(name: str) -> Generator[TextIO]:
    """Open a file that appears under its name once it is complete."""
    path = Path(name)
    # a new file under a name that nobody knows: another user could have left a link in a shared folder
    partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.partial")
    try:
        with partial.open("x", encoding="utf-8", newline="\n") as file:
            yield file
        partial.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write {name}: {error.strerror}", "Choose another file.") from error
    finally:
        partial.unlink(missing_ok=True)


async def _export(settings: Settings, form: str, file: TextIO, *, canonical: bool) -> int:
    from atlas.app.main import open_atlas
    from atlas.code.tools.export import ExportFormat, export_lines

    count = 0
    async with open_atlas(settings) as atlas:
        async for line in export_lines(atlas, ExportFormat(form), canonical=canonical):
            file.write(f"{plain(line) if file.isatty() else line}\n")
            count += 1
    return count
