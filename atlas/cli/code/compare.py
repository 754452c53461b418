"""`atlas compare`: what differs between the graphs of two trees, such as a work tree and the main one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, examples, settings_of
from atlas.cli.run import run
from atlas.core.wording import counted

if TYPE_CHECKING:
    from atlas.code.changes.graph_difference import DifferingEdge, DifferingSymbol, GraphDifference

LINES = 40


def register(app: typer.Typer) -> None:
    """Add the command."""
    shown = examples("atlas compare", "atlas compare main --limit 100", "atlas compare ../shop-old --json")
    app.command("compare", epilog=shown)(compare)


def compare(
    other: Annotated[
        str,
        typer.Argument(
            metavar="[TREE]",
            help="Path of a tree, or folder's name or branch of one of this repository. Default: the main one.",
            show_default=False,
        ),
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, metavar="N", help="Lines of each group; 0 = all.")
    ] = LINES,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Show what this tree's graph has gained and lost against another tree's: symbols and edges. Indexes both first."""
    from atlas.app.comparing import compare_trees, other_tree
    from atlas.cli.code.index_pass import progress_shown

    new = settings_of(project, data_dir)
    old = other_tree(new, other)
    with progress_shown() as progress:
        found = run(compare_trees(old, new, progress))
    trees = {"old": str(old.root), "new": str(new.root)}
    if json:
        output.print_json({**trees, **dataclasses.asdict(found)})
        return
    print("\n".join(output.plain(line) for line in lines_of(trees, found, limit)))


def lines_of(trees: dict[str, str], found: GraphDifference, limit: int) -> list[str]:
    """Return the answer in lines: a count for each group, then its first members."""
    lines = [f"from {trees['old']}", f"to   {trees['new']}"]
    if found.is_empty:
        return [*lines, "no file, symbol or edge differs"]
    files = (("added", found.files_added), ("removed", found.files_removed), ("changed", found.files_changed))
    lines.append(f"files: {', '.join(f'{len(paths):,} {what}' for what, paths in files)}")
    symbols = (
        ("+", "added", found.added),
        ("-", "removed", found.removed),
        ("~", "changed", found.changed),
        (">", "moved", found.moved),
    )
    for sign, what, members in symbols:
        lines += _group("symbol", what, [f"  {sign} {_symbol(one)}" for one in members], limit)
    for sign, what, edges in (("+", "gained", found.gained), ("-", "lost", found.lost)):
        lines += _group("edge", what, [f"  {sign} {_edge(one)}" for one in edges], limit)
    return lines


def _group(member: str, what: str, lines: Sequence[str], limit: int) -> list[str]:
    if not lines:
        return []
    shown = lines[:limit] if limit else lines
    more = [f"  and {counted(len(lines) - len(shown), 'further one', ',')}"] if len(shown) < len(lines) else []
    return [f"{counted(len(lines), member, ',')} {what}", *shown, *more]


def _symbol(one: DifferingSymbol) -> str:
    what = f" ({one.what})" if one.what else ""
    place = f" {one.path}:{one.line}" if one.path else ""
    return f"{one.kind} {one.qualified_name}{place}{what}"


def _edge(one: DifferingEdge) -> str:
    place = f" {one.path}:{one.line}" if one.path and one.line else ""
    return f"{one.source} {one.type} {one.target}{place} ({one.strategy} {one.confidence:.2f})"
