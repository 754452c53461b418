"""Edges by type and by strategy, and how many of those in small projects with known calls are right."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from atlas_bench.page.plan import Plan
from atlas_bench.page.section import Section
from atlas_bench.process import ENVIRONMENT, McpProcess, run

EDGES = "MATCH ()-[r]->() RETURN type(r) AS t, count(r) AS n ORDER BY n DESC, t"
STRATEGIES = "MATCH ()-[c:CALLS]->() RETURN c.strategy AS s, count(c) AS n, avg(c.confidence) AS a ORDER BY n DESC, s"
FIXTURES = "tests.bench.call_fixtures"


def edges(plan: Plan) -> Section:
    """Count edges and strategies of the tree, and compare CALLS with small projects whose calls are known."""
    data = plan.scratch / "whole"
    run(["index", str(plan.tree), "--data-dir", str(data)])
    server = McpProcess(["--project", str(plan.tree), "--data-dir", str(data)])
    try:
        server.start()
        counts, strategies = (_rows(server, query) for query in (EDGES, STRATEGIES))
    finally:
        server.close()
    known, notes = _fixtures()
    rows: list[tuple[str, ...]] = [
        (f"`{name}`", f"{count:,}", f"{stated:.2f}", *_judged(known.get(name))) for name, count, stated in strategies
    ]
    others = [name for name in sorted(known) if name not in {name for name, _, _ in strategies}]
    rows += [(f"`{name}`", "0", "", *_judged(known[name])) for name in others]
    listed = ", ".join(f"{name} {count:,}" for name, count in counts)
    return Section(
        "edges",
        "Edges and their confidence",
        f"atlas bench all {plan.tree.name} --only edges\npython -m {FIXTURES}",
        ("strategy of CALLS", f"edges of {plan.tree.name}", "stated confidence", "known edges", "right of them"),
        rows,
        [f"Edges of {plan.tree.name}: {listed}.", *notes],
    )


def _rows(server: McpProcess, query: str) -> list[list[Any]]:
    _, result = server.call("cypher_query", {"query": query, "limit": 200, "token_budget": 20_000})
    return result["structuredContent"]["rows"]


def _judged(numbers: Sequence[float] | None) -> tuple[str, str]:
    if numbers is None or not numbers[0] + numbers[1]:
        return "", ""
    return f"{numbers[0] + numbers[1]:.0f}", f"{numbers[0] / (numbers[0] + numbers[1]):.2f}"


def _fixtures() -> tuple[dict[str, list[float]], list[str]]:
    """Return right and wrong edges of each strategy in the small projects, and a line about each language."""
    if importlib.util.find_spec("tests") is None or importlib.util.find_spec(FIXTURES) is None:
        return {}, ["Edges were not compared with known ones: the small projects are in the source repository."]
    done = subprocess.run([sys.executable, "-m", FIXTURES, "--json"], capture_output=True, text=True, env=ENVIRONMENT)
    if done.returncode:
        return {}, [f"Edges were not compared with known ones: {done.stderr.strip()[-200:]}"]
    found = json.loads(done.stdout.splitlines()[-1])
    parts = [
        f"{each['name']} {each['right'] / max(each['right'] + each['wrong'], 1):.2f} / "
        f"{each['right'] / max(each['right'] + each['missing'], 1):.2f}"
        for each in found["languages"]
    ]
    return found["strategies"], [f"Precision / recall of CALLS on a small project per language: {', '.join(parts)}."]
