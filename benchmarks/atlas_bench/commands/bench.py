"""`atlas bench`: the measurements of docs/measurements on any tree, and comparisons of indexes."""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.core.wording import counted
from atlas_bench.commands.all import run_all
from atlas_bench.commands.answers import answers
from atlas_bench.commands.edges import edges
from atlas_bench.commands.search import search

if TYPE_CHECKING:
    from atlas_bench.compare import Comparison
    from atlas_bench.live import LiveReport
    from atlas_bench.replay import ReplaySteps, Step, WarmIndex

LIVE_PARTS = "idle, saves, tenth, readers, restart, burst."

Tree = Annotated[Path, typer.Argument(help="Folder to measure; it is not modified.", metavar="PATH")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    bench = typer.Typer(name="bench", help="Measure indexing and answering on a real tree.", no_args_is_help=True)
    bench.command("index")(index)
    bench.command("query")(query)
    bench.command("http")(http)
    bench.command("compare")(compare)
    bench.command("replay")(replay)
    bench.command("live")(live)
    bench.command("answers")(answers)
    bench.command("search")(search)
    bench.command("edges")(edges)
    bench.command("all")(run_all)
    bench.command("readers", hidden=True)(readers)
    app.add_typer(bench)


def index(path: Tree, json_output: Json = False) -> None:
    """Measure a full index, an unchanged tree, one changed file, and 10 % changed files."""
    from atlas_bench.index import bench_index

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
    data_dir: Annotated[Path | None, typer.Option(help="Folder for the index.")] = None,
    json_output: Json = False,
) -> None:
    """Measure start-up, memory and answer times of an MCP server."""
    from atlas_bench.query import bench_query

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


def http(
    path: Tree,
    clients: Annotated[int, typer.Option("--clients", min=1, max=1000, help="Number of clients.")] = 64,
    requests: Annotated[int, typer.Option("--requests", min=20, help="Number of requests.")] = 10_000,
    pause: Annotated[
        int, typer.Option("--pause", min=0, metavar="MS", help="Seconds between a client's requests.")
    ] = 0,
    workers: Annotated[int, typer.Option("--workers", min=1, max=256, help="Server processes.")] = 1,
    data_dir: Annotated[Path | None, typer.Option(help="Folder for the index.")] = None,
    json_output: Json = False,
) -> None:
    """Measure errors, answer times and memory of an HTTP server with many clients.

    Exits with 1 when a target is missed.
    """
    from atlas_bench.http import TARGET_GROWTH, TARGET_P95_MS, bench_http

    with tempfile.TemporaryDirectory(prefix="atlas-bench-") as scratch:
        report = bench_http(_folder(path), data_dir or Path(scratch), clients, requests, pause, workers)
    if json_output:
        print(json.dumps(dataclasses.asdict(report) | {"reached": report.reached}, indent=2))
    else:
        cells = [
            [f"errors of {counted(report.requests, 'request', ',')}", str(report.errors), "0"],
            [f"p50 ms, {report.clients} clients, pause {report.pause_ms} ms", f"{report.p50_ms:.0f}", ""],
            ["p95 ms", f"{report.p95_ms:.0f}", f"<= {TARGET_P95_MS:.0f}"],
            ["worst ms", f"{report.worst_ms:.0f}", ""],
            ["requests per second", f"{report.requests / report.seconds:.0f}", ""],
            ["CPU ms per request: server / clients", f"{report.server_cpu_ms:.1f} / {report.client_cpu_ms:.2f}", ""],
            ["RSS MB warm / end", f"{report.warm_rss_mb:.0f} / {report.end_rss_mb:.0f}", ""],
            ["RSS growth", f"{report.growth:.1f} %", f"< {TARGET_GROWTH:.0f} %"],
        ]
        _table(["what", "measured", "target"], cells)
        if report.first_error:
            print(f"first error: {report.first_error}")
    if not report.reached:
        raise typer.Exit(1)


def compare(
    a: Annotated[Path, typer.Argument(help="Data folder of an index.", metavar="DIR_A")],
    b: Annotated[Path, typer.Argument(help="Data folder of another index of the same tree.", metavar="DIR_B")],
    json_output: Json = False,
) -> None:
    """Compare two indexes completely: nodes, edges, words, contents, vectors. Exits with 1 when anything differs."""
    from atlas_bench.compose import compare_indexes

    comparison = compare_indexes(_folder(a), _folder(b))
    if json_output:
        print(json.dumps({"equal": comparison.equal} | dataclasses.asdict(comparison), indent=2))
    else:
        _print_comparison(comparison)
    if not comparison.equal:
        raise typer.Exit(1)


def _print_comparison(comparison: Comparison) -> None:
    columns = ["kind", "rows in A", "rows in B", "only in A", "only in B", "differ"]
    _table(
        columns,
        [
            [one.kind, *(f"{n:,}" for n in (one.rows_a, one.rows_b, one.only_a, one.only_b, one.changed))]
            for one in comparison.kinds
        ],
    )
    print("\n".join(comparison.lines()) or "equal")


def replay(
    repository: Annotated[Path, typer.Argument(help="Git repository; it is not modified.", metavar="GIT_REPO")],
    commits: Annotated[int, typer.Option("--commits", min=1, help="Number of commits.")] = 100,
    every: Annotated[int, typer.Option("--every", min=1, metavar="K", help="Compare after every K-th commit.")] = 1,
    newest: Annotated[str, typer.Option("--from", metavar="REV", help="Last commit of the replay.")] = "HEAD",
    passes: Annotated[bool, typer.Option("--passes", help="One `atlas index` per commit, not a warm index.")] = False,
    json_output: Json = False,
) -> None:
    """Replay a git history with a warm index and compare it with a clean one. Exits with 1 when they differ."""
    import asyncio

    with tempfile.TemporaryDirectory(prefix="atlas-replay-") as scratch:
        ways, folder = _ways(passes=passes), _folder(repository)
        steps = asyncio.run(_replay(folder, Path(scratch), ways, commits, every, newest, quiet=json_output))
    compared = [step for step in steps if step.comparison is not None]
    different = [step for step in compared if step.comparison is not None and not step.comparison.equal]
    if json_output:
        print(json.dumps([dataclasses.asdict(step) for step in steps], indent=2))
    else:
        _print_summary(steps, compared, different)
    if different:
        raise typer.Exit(1)


async def _replay(
    repository: Path, scratch: Path, ways: ReplaySteps, commits: int, every: int, newest: str, *, quiet: bool
) -> list[Step]:
    from contextlib import aclosing

    from rich.console import Console
    from rich.progress import Progress

    from atlas_bench.replay import replay as walk

    steps: list[Step] = []
    bar = Progress(console=Console(stderr=True), transient=True) if sys.stderr.isatty() else nullcontext()
    with bar:
        task = bar.add_task("commits", total=commits) if isinstance(bar, Progress) else None
        async with aclosing(walk(repository, scratch, ways, commits=commits, every=every, newest=newest)) as walking:
            async for step in walking:
                steps.append(step)
                if isinstance(bar, Progress) and task is not None:
                    bar.update(task, completed=step.number, total=step.commits)
                if not quiet:
                    print(_step_line(step), flush=True)
    return steps


def _ways(*, passes: bool) -> ReplaySteps:
    from atlas.app.main import index_project
    from atlas.code.index.events import no_progress
    from atlas.runtime.config.load import load_settings
    from atlas_bench.compose import compare_indexes, open_live
    from atlas_bench.replay import RepeatedPasses, ReplaySteps

    def clean(tree: Path, data: Path) -> Awaitable[object]:
        return index_project(load_settings(str(tree), str(data)), no_progress)

    def live(tree: Path, data: Path) -> AbstractAsyncContextManager[WarmIndex]:
        repeated = RepeatedPasses(lambda: clean(tree, data))
        return nullcontext(repeated) if passes else open_live(load_settings(str(tree), str(data)))

    return ReplaySteps(live, clean, compare_indexes)


def _step_line(step: Step) -> str:
    verdict = "-" if step.comparison is None else "equal" if step.comparison.equal else "DIFFERENT"
    costs = f"{step.live_cpu:6.2f} s live {step.clean_cpu:6.2f} s clean"
    line = f"{step.number:4}/{step.commits} {step.commit[:10]} {step.files:5} files {costs}  {verdict}  {step.subject}"
    found = step.comparison.lines() if step.comparison is not None else []
    return "\n".join([line[:160], *(f"    {one}" for one in found)])


def _print_summary(steps: list[Step], compared: list[Step], different: list[Step]) -> None:
    cells = [
        ["commits walked", str(len(steps))],
        ["compared with a clean index", str(len(compared))],
        ["different", str(len(different))],
        ["files changed", f"{sum(step.files for step in steps):,}"],
        ["CPU s kept warm, first commit", f"{steps[0].live_cpu:.2f}"],
        ["CPU s kept warm, per commit", f"{sum(step.live_cpu for step in steps[1:]) / max(len(steps) - 1, 1):.2f}"],
        ["CPU s clean, per commit compared", f"{sum(step.clean_cpu for step in compared) / len(compared):.2f}"],
    ]
    _table(["what", "number"], cells)


def live(
    path: Tree,
    only: Annotated[str, typer.Option("--only", metavar="PARTS", help="Some of: " + LIVE_PARTS)] = "",
    saves: Annotated[int, typer.Option("--saves", min=1, help="Number of files saved one at a time.")] = 40,
    events: Annotated[int, typer.Option("--events", min=1, help="Number of files that the burst writes.")] = 10_000,
    json_output: Json = False,
) -> None:
    """Measure freshness, cost and restart of a daemon on a copy of the tree, against its targets."""
    import asyncio

    from atlas.core.errors import ConfigError
    from atlas.runtime.config.load import load_settings
    from atlas_bench.compose import AgentProbe, compare_indexes
    from atlas_bench.live import PARTS, LivePlan, bench_live

    parts = [part.strip() for part in only.split(",") if part.strip()] or list(PARTS)
    if unknown := [part for part in parts if part not in PARTS]:
        raise ConfigError(f"no such part: {', '.join(unknown)}", f"Parts: {', '.join(PARTS)}.")

    def probe(tree: Path, data: Path) -> AgentProbe:
        return AgentProbe(load_settings(str(tree), str(data)))

    with tempfile.TemporaryDirectory(prefix="atlas-live-") as scratch:
        plan = LivePlan(parts, saves, events)
        running = bench_live(_folder(path), Path(scratch).resolve(), plan, probe, compare_indexes, _tell)
        report = asyncio.run(running)
    if json_output:
        print(json.dumps(dataclasses.asdict(report), indent=2))
    else:
        _print_live(report)


def _tell(text: str) -> None:
    print(f"{text} ...", file=sys.stderr, flush=True)


def _print_live(report: LiveReport) -> None:
    cells = [
        [
            f"{row.part}: {row.what}",
            f"{row.value:,.0f}" if row.value == int(row.value) else f"{row.value:,.2f}",
            row.unit,
            "" if row.reach is None else f"<= {row.reach:g}",
            "" if row.reach is None else "met" if row.met else "MISSED",
        ]
        for row in report.rows
    ]
    _table(["what", "measured", "unit", "target", ""], cells)
    print(
        f"{report.files:,} files; load average {report.load[0]:.1f} at the beginning, {report.load[1]:.1f} at the end"
    )
    for problem in report.problems:
        print(f"problem: {problem}")


def readers(
    path: Tree,
    data_dir: Annotated[Path, typer.Option()],
    connections: Annotated[int, typer.Option(min=1)] = 5,
    seed: Annotated[int, typer.Option()] = 0,
) -> None:
    """Query the index of a tree until standard input ends; print the times as JSON. Started by `live`."""
    import asyncio

    from atlas.runtime.config.load import load_settings
    from atlas_bench.compose import AgentProbe
    from atlas_bench.readers import ask_until

    async def ask() -> None:
        stop = asyncio.Event()
        probes = [AgentProbe(load_settings(str(path), str(data_dir))) for _ in range(connections)]
        asking = asyncio.create_task(ask_until(probes, stop, seed, lambda: print("asking", flush=True)))
        await asyncio.to_thread(sys.stdin.read)
        stop.set()
        asked = await asking
        print(json.dumps(dataclasses.asdict(asked)))
        for probe in probes:
            await probe.aclose()

    asyncio.run(ask())


def _folder(path: Path) -> Path:
    from atlas.core.errors import ConfigError

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
    # Files and pipes have no width, so lines are not wrapped.
    Console(width=None if sys.stdout.isatty() else 160).print(table)
