"""`atlas impact`: what a change of a symbol, or a difference of two states, affects."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from atlas.cli.options import BudgetOption, DataDirOption, InOption, JsonOption, ProjectOption, settings_of
from atlas.cli.requests import impact_request
from atlas.cli.run import ask, given

EXAMPLES = """Examples:

\b
  atlas impact Cart.total                     what uses it, at most three calls away
  atlas impact --diff HEAD                    what is not committed yet
  atlas impact --diff main...HEAD             what this branch changes
  atlas impact --staged --format mermaid      a diagram for the pull request"""


class Format(StrEnum):
    """Forms of the answer."""

    TEXT = "text"
    JSON = "json"
    MERMAID = "mermaid"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("impact", epilog=EXAMPLES)(impact)


def impact(
    symbol: Annotated[
        str, typer.Argument(metavar="[SYMBOL]", help="Name, suffix of a qualified name, uid, or path:line.")
    ] = "",
    diff: Annotated[
        str,
        typer.Option("--diff", metavar="REV", help="Compare the working tree with REV, or two revisions: A..B, A...B."),
    ] = "",
    staged: Annotated[bool, typer.Option("--staged", help="Compare what is staged with HEAD.")] = False,
    depth: Annotated[
        int, typer.Option("--depth", min=0, max=8, metavar="N", help="Edges to follow; 0 = 3, and on through few.")
    ] = 0,
    form: Annotated[
        Format, typer.Option("--format", help="Text, one JSON document, or a Mermaid diagram for a pull request.")
    ] = Format.TEXT,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, max=1000, metavar="N", help="Lines; 0 = 60.")] = 0,
    token_budget: BudgetOption = 0,
    within: InOption = "",
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Show what a change affects: callers, users, subclasses, tests to run, documents to read again."""
    tool, arguments = impact_request(
        symbol, diff=diff, staged=staged, depth=depth, limit=limit, token_budget=token_budget
    )
    arguments |= given(project=within)
    if form == Format.MERMAID:
        arguments["format"] = "mermaid"
    ask(settings_of(project, data_dir), tool, arguments, as_json=json or form == Format.JSON)
