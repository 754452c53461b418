"""The steps of the page: each runs one measurement and returns its section.

A step that runs a command of `atlas bench` shows that command. A step whose tools or data are missing returns a section
that says so; a step that fails does the same, so that the others still run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from atlas.core.errors import AtlasError
from atlas_bench.page.charts import bars, lines
from atlas_bench.page.edges import edges
from atlas_bench.page.growth import bench_growth
from atlas_bench.page.lookups import bench_lookups
from atlas_bench.page.plan import Plan, command, run_bench
from atlas_bench.page.questions import answers, retrieval
from atlas_bench.page.section import Section
from atlas_bench.process import run

LIVE_PARTS = "idle,saves,tenth,restart"


def index(plan: Plan) -> Section:
    """Measure a full index, an unchanged tree and changed files."""
    rows = run_bench(["index", str(plan.tree)])
    return Section(
        "index",
        "Index",
        command("index", plan.tree),
        ("case", "CPU s", "wall s", "peak RSS MB", "parsed", "written", "vectors", "store MB"),
        [
            (
                row["case"],
                f"{row['cost']['cpu_seconds']:.2f}",
                f"{row['cost']['wall_seconds']:.2f}",
                f"{row['cost']['peak_rss_mb']:.0f}",
                f"{row['files_parsed']:,}",
                f"{row['units_written']:,}",
                f"{row['vectors']:,}",
                f"{row['store_mb']:.1f}",
            )
            for row in rows
        ],
        charts={
            "index.svg": bars(
                f"CPU seconds of `atlas index` on {plan.tree.name}",
                [(row["case"], {"CPU": row["cost"]["cpu_seconds"]}) for row in rows],
                "s",
            )
        },
    )


def growth(plan: Plan) -> Section:
    """Measure indexes of growing parts of the tree."""
    rows = bench_growth(plan.tree)
    points = {
        "CPU s": [(row.lines / 1000, row.cost.cpu_seconds) for row in rows],
        "wall s": [(row.lines / 1000, row.cost.wall_seconds) for row in rows],
    }
    memory = {"peak RSS": [(row.lines / 1000, row.cost.peak_rss_mb) for row in rows]}
    return Section(
        "growth",
        "How the index grows",
        f"atlas bench all {plan.tree.name} --only growth",
        ("files", "lines", "CPU s", "CPU ms per 1,000 lines", "wall s", "peak RSS MB", "store MB"),
        [
            (
                f"{row.files:,}",
                f"{row.lines:,}",
                f"{row.cost.cpu_seconds:.2f}",
                f"{1e6 * row.cost.cpu_seconds / max(row.lines, 1):.0f}",
                f"{row.cost.wall_seconds:.2f}",
                f"{row.cost.peak_rss_mb:.0f}",
                f"{row.store_mb:.1f}",
            )
            for row in rows
        ],
        charts={
            "growth.svg": lines(f"Index of parts of {plan.tree.name}", points, "thousand lines", "seconds"),
            "growth-memory.svg": lines(
                f"Memory of the index of parts of {plan.tree.name}", memory, "thousand lines", "MB"
            ),
        },
    )


def latency(plan: Plan) -> Section:
    """Measure the times of the tools and the memory of the server."""
    report = run_bench(["query", str(plan.tree), "--data-dir", str(plan.scratch / "whole")])
    return Section(
        "latency",
        "Latency and memory of answers",
        command("query", plan.tree),
        ("tool", "p50 ms", "p95 ms", "worst ms", "calls"),
        [
            (row["tool"], f"{row['p50_ms']:.1f}", f"{row['p95_ms']:.1f}", f"{row['worst_ms']:.1f}", str(row["calls"]))
            for row in report["rows"]
        ],
        [
            f"Start of `atlas mcp` to the answer of `tools/list`: {report['start_seconds']:.2f} s. Resident memory: "
            f"{report['idle_rss_mb']:.0f} MB idle, {report['warm_rss_mb']:.0f} MB after all queries."
        ],
        {
            "latency.svg": bars(
                f"Answer times on {plan.tree.name}",
                [(row["tool"], {"p50": row["p50_ms"], "p95": row["p95_ms"]}) for row in report["rows"]],
                "ms",
            )
        },
    )


def freshness(plan: Plan) -> Section:
    """Measure how soon a saved file is found, and what the daemon costs."""
    report = run_bench(["live", str(plan.tree), "--only", LIVE_PARTS])
    rows = [
        (
            f"{row['part']}: {row['what']}",
            f"{row['value']:,.2f} {row['unit']}",
            "" if row["reach"] is None else f"<= {row['reach']:g}",
        )
        for row in report["rows"]
    ]
    return Section(
        "freshness",
        "Freshness",
        f"{command('live', plan.tree)} --only {LIVE_PARTS}",
        ("what", "measured", "target"),
        rows,
        [f"Problem: {problem}" for problem in report["problems"]],
    )


def lookups(plan: Plan) -> Section:
    """Ask for definitions by name, next to grep, ripgrep and ctags."""
    cells: list[tuple[str, ...]] = []
    charted: list[tuple[str, Mapping[str, float]]] = []
    for tree in (plan.tree, *plan.others):
        data = plan.scratch / ("whole" if tree == plan.tree else f"whole-{tree.name}")
        run(["index", str(tree), "--data-dir", str(data)])
        rows = bench_lookups(tree, data, plan.limit, plan.peers)
        cells += [
            (
                tree.name,
                row.tool,
                str(row.names),
                f"{row.p50_ms:.1f}",
                f"{row.p95_ms:.1f}",
                f"{row.tokens_median:,.0f}",
                f"{row.tokens_p95:,.0f}",
                f"{row.found:.0%}",
                f"{row.first:.0%}",
                f"{row.prepare_seconds:.2f}" if row.prepare_seconds else "",
            )
            for row in rows
        ]
        charted.append((tree.name, {row.tool: row.tokens_p95 for row in rows}))
    return Section(
        "lookups",
        "Where is X defined, next to other tools",
        f"atlas bench all {' '.join(tree.name for tree in (plan.tree, *plan.others))} --only lookups",
        ("tree", "tool", "names", "p50 ms", "p95 ms", "tokens", "p95", "found", "first", "CPU s to prepare"),
        cells,
        ["*first*: the first place of the answer is the definition. Output of others is cut at 30,000 characters."],
        {"lookups.svg": bars("Tokens of an answer to a name, 95th percentile", charted)},
    )


STEPS: Mapping[str, Callable[[Plan], Section]] = {
    "index": index,
    "growth": growth,
    "latency": latency,
    "freshness": freshness,
    "lookups": lookups,
    "answers": answers,
    "edges": edges,
    "retrieval": retrieval,
}
"""In the order of the page."""


def run_step(name: str, plan: Plan) -> Section:
    """Return the section of a step; one that fails is skipped with the reason."""
    try:
        return STEPS[name](plan)
    except AtlasError as error:
        return Section(name, name.capitalize(), skipped=f"failed: {error.message} {error.hint}".strip())
