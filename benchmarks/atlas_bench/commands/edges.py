"""`atlas bench edges`: precision and recall of CALLS on any tree, and of each rule beside its stated confidence."""

from __future__ import annotations

import sys
import tempfile
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli.output import console, plain, print_json, table

if TYPE_CHECKING:
    from atlas_bench.edges.judge import Verdicts
    from atlas_bench.edges.language_server import Oracle


def edges(
    path: Annotated[Path, typer.Argument(help="Folder to measure; it is not modified.", metavar="PATH")],
    oracle: Annotated[str, typer.Option("--oracle", help="Language server: ty, pyright, tsc or go.", metavar="NAME")],
    sample: Annotated[int, typer.Option("--sample", min=0, help="Lines with calls to ask about; 0: all.")] = 2_000,
    seed: Annotated[int, typer.Option("--seed", help="Chooses the lines.")] = 0,
    strategy: Annotated[
        list[str] | None, typer.Option("--strategy", help="Only lines with an edge of this rule.")
    ] = None,
    tests: Annotated[bool, typer.Option("--tests/--no-tests", help="Whether calls in tests count.")] = True,
    data_dir: Annotated[Path | None, typer.Option(help="Folder for the index; default: a temporary one.")] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Write a reliability diagram to this file.", metavar="FILE.svg")
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="List wrong edges and calls without an edge.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Compare CALLS with what a language server resolves: precision of each rule, its stated confidence, and recall.

    The server must be on PATH and reads the tree as your editor does: install the tree's dependencies first.

    Example: atlas bench edges ~/src/httpx --oracle pyright --plot calibration.svg
    """
    from atlas.core.errors import ConfigError
    from atlas_bench.edges import report
    from atlas_bench.edges.language_server import ORACLES

    if oracle not in ORACLES:
        raise ConfigError(f"no such language server: {oracle}", f"One of: {', '.join(ORACLES)}.")
    if not path.is_dir():
        raise ConfigError(f"{path} is not a folder", "Give the folder of a project.")
    with tempfile.TemporaryDirectory(prefix="atlas-edges-") as scratch:
        data = data_dir or Path(scratch).resolve()
        verdicts = _compare(path.resolve(), data, ORACLES[oracle], sample, seed, strategy or [], tests=tests)
    counted = report.count(verdicts)
    if plot is not None:
        plot.write_text(report.svg(counted, f"Confidence of CALLS: {path.resolve().name}, {oracle}"), encoding="utf-8")
    if json_output:
        print_json(asdict(counted) | ({"differences": list(report.differences(verdicts))} if show else {}))
        return
    if show:
        print(plain("\n".join(report.differences(verdicts))), end="\n\n")
    console().print(table(report.COLUMNS, report.cells(counted)))
    print(report.summary(counted))


def _compare(
    root: Path, data: Path, oracle: Oracle, sample: int, seed: int, strategies: list[str], *, tests: bool
) -> Verdicts:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from atlas.core.errors import ConfigError
    from atlas_bench.edges.graph import index_calls
    from atlas_bench.edges.judge import choose, judge
    from atlas_bench.edges.language_server import LanguageServer

    # Started first: a missing command is told before the tree is indexed.
    with LanguageServer.started(oracle, root) as server:
        graph = index_calls(root, data, oracle.languages, tests=tests)
        if not (lines := choose(graph, sample, seed, strategies)):
            languages = ", ".join(sorted(oracle.languages))
            raise ConfigError(f"no such calls in {languages}", "Choose another --oracle or --strategy.")
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        shown = Progress(*columns, console=console(stderr=True), transient=True)
        with shown if sys.stderr.isatty() else nullcontext():
            task = shown.add_task("lines", total=len(lines))
            return judge(server, root, graph, lines, lambda done: shown.update(task, completed=done))
