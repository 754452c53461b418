"""`atlas bench index|query PATH`: the numbers of the README, for any tree."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer

Tree = Annotated[Path, typer.Argument(help="Folder to measure; it is not changed.", metavar="PATH")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    bench = typer.Typer(name="bench", help="Measure indexing and answering on a real tree.", no_args_is_help=True)
    bench.command("index")(index)
    bench.command("query")(query)
    app.add_typer(bench)


def index(path: Tree, json_output: Json = False) -> None:
    """Cost of a full index, of a pass without changes, with one file changed and with 10 % of the files changed."""
    from atlas.bench.index import bench_index

    rows = bench_index(_folder(path))
    if json_output:
        print(json.dumps([dataclasses.asdict(row) for row in rows], indent=2))
        return
    columns = ["case", "CPU s", "wall s", "peak RSS MB", "parsed", "written", "vectors", "store MB"]
    cells = [
        [
            row.case,
            f"{row.cost.cpu_seconds:.2f}",
            f"{row.cost.wall_seconds:.2f}",
            f"{row.cost.peak_rss_mb:.0f}",
            str(row.files_parsed),
            str(row.units_written),
            str(row.vectors),
            f"{row.store_mb:.1f}",
        ]
        for row in rows
    ]
    _table(columns, cells)


def query(
    path: Tree,
    data_dir: Annotated[Path | None, typer.Option(help="Keep the index here.")] = None,
    json_output: Json = False,
) -> None:
    """Start-up, memory and answer times of a running MCP server."""
    from atlas.bench.query import bench_query

    with tempfile.TemporaryDirectory(prefix="atlas-bench-") as scratch:
        report = bench_query(_folder(path), data_dir or Path(scratch))
    if json_output:
        print(json.dumps(dataclasses.asdict(report), indent=2))
        return
    print(f"start to tools/list  {report.start_seconds:.2f} s")
    print(f"RSS idle / after all {report.idle_rss_mb:.0f} / {report.warm_rss_mb:.0f} MB")
    cells = [
        [row.tool, f"{row.p50_ms:.1f}", f"{row.p95_ms:.1f}", f"{row.worst_ms:.1f}", str(row.calls)]
        for row in report.rows
    ]
    _table(["tool", "p50 ms", "p95 ms", "worst ms", "calls"], cells)


def _folder(path: Path) -> Path:
    from atlas.errors import ConfigError

    if not path.is_dir():
        raise ConfigError(f"{path} is not a folder", "Give the folder of a project.")
    return path.resolve()


def _table(columns: list[str], cells: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns)
    for position, column in enumerate(table.columns):
        column.justify = "right" if position else "left"
    for row in cells:
        table.add_row(*row)
    Console().print(table)
