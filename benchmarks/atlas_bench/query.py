"""The cost of answers of a running MCP server: start, memory, and the distribution of answer times of each tool."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path

from atlas_bench.process import McpProcess, run

ROUNDS = 100
"""Different queries per tool; the first WARM of them are not counted."""
WARM = 5

SAMPLE = (
    "MATCH (n) WHERE (n:Function OR n:Method OR n:Class) AND n.docstring <> '' AND NOT n.is_test "
    "RETURN n.uid AS uid, n.name AS name, n.docstring AS docstring ORDER BY n.uid LIMIT 1000"
)
CALLERS = (
    "MATCH (caller)-[call:CALLS]->(n {uid: $uid}) "
    "RETURN caller.qualified_name, caller.path, call.line, call.strategy, call.confidence "
    "ORDER BY caller.path, call.line LIMIT 50"
)
"""Only the graph part of `get_context`, which also returns source, other neighbours and evidence."""


@dataclass(frozen=True, slots=True)
class QueryRow:
    """Answer times of one tool in milliseconds."""

    tool: str
    p50_ms: float
    p95_ms: float
    worst_ms: float
    calls: int


@dataclass(frozen=True, slots=True)
class QueryReport:
    """Output of `atlas bench query`."""

    start_seconds: float
    """From starting the process to the answer of `tools/list`."""
    idle_rss_mb: float
    warm_rss_mb: float
    """After all queries."""
    rows: tuple[QueryRow, ...]


def bench_query(tree: Path, data: Path) -> QueryReport:
    """Index `tree` into `data` if needed, then query a server. Raises AtlasError if anything fails."""
    run(["index", str(tree), "--data-dir", str(data)])
    server = McpProcess(["--project", str(tree), "--data-dir", str(data)])
    try:
        start = server.start()
        idle = server.rss_mb()
        samples = _samples(server)
        rows = tuple(_time(server, tool, questions) for tool, questions in _questions(samples).items())
        return QueryReport(start, idle, server.rss_mb(), rows)
    finally:
        server.close()


def _samples(server: McpProcess) -> list[tuple[str, str, str]]:
    """Return (uid, name, first line of the docstring) of symbols distributed over the tree."""
    _, result = server.call("cypher_query", {"query": SAMPLE, "limit": 1000, "token_budget": 200_000})
    rows = result["structuredContent"]["rows"]
    step = max(1, len(rows) // ROUNDS)
    return [(uid, name, docstring.strip().split("\n")[0]) for uid, name, docstring in rows[::step][:ROUNDS]]


def _questions(samples: list[tuple[str, str, str]]) -> dict[str, list[tuple[str, dict[str, object]]]]:
    return {
        "get_node": [("get_node", {"name": uid}) for uid, _, _ in samples],
        "get_node by plain name": [("get_node", {"name": name}) for _, name, _ in samples],
        "callers (get_context)": [("get_context", {"name": uid}) for uid, _, _ in samples],
        "callers (cypher_query)": [
            ("cypher_query", {"query": CALLERS, "parameters": {"uid": uid}}) for uid, _, _ in samples
        ],
        "text_search": [("text_search", {"query": text}) for _, _, text in samples],
        "vector_search": [("vector_search", {"query": text}) for _, _, text in samples],
        "hybrid_search": [("hybrid_search", {"query": text}) for _, _, text in samples],
    }


def _time(server: McpProcess, tool: str, questions: list[tuple[str, dict[str, object]]]) -> QueryRow:
    for name, arguments in questions[:WARM]:
        server.call(name, arguments)
    times = sorted(server.call(name, arguments)[0] * 1000 for name, arguments in questions)
    p95 = statistics.quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
    return QueryRow(tool, statistics.median(times), p95, times[-1], len(times))
