"""Where is X defined: the search tool next to grep, and to ripgrep and ctags if they are on PATH, on the same names."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from atlas.parsing import count_tokens, load_languages
from atlas_bench import meter
from atlas_bench.answers.claims import Claim, of_structure, of_text
from atlas_bench.answers.peers import Peer, PeerRunner, peers
from atlas_bench.answers.questions import Question
from atlas_bench.process import McpProcess
from atlas_bench.search.facts import read_tree
from atlas_bench.search.measures import percentile
from atlas_bench.search.questions import SearchQuestion
from atlas_bench.search.symbols import ask_symbols

ATLAS = "atlas"
TOOL = "hybrid_search"


@dataclass(frozen=True, slots=True)
class LookupRow:
    """One tool: times in milliseconds, tokens of an answer, and shares of answers with the place, and with it first."""

    tool: str
    names: int
    p50_ms: float
    p95_ms: float
    tokens_median: float
    tokens_p95: float
    found: float
    first: float
    prepare_seconds: float
    """CPU seconds before the first answer: the index of definitions."""


def bench_lookups(tree: Path, data: Path, limit: int, templates: Sequence[str]) -> list[LookupRow]:
    """Ask for up to `limit` names. The index of the tree must be in `data`. Raises AtlasError and ConfigError."""
    asked = [
        question
        for question in ask_symbols(read_tree(tree, load_languages()), limit, 0)
        if question.kind == "symbol name"
    ]
    server = McpProcess(["--project", str(tree), "--data-dir", str(data)])
    try:
        server.start()
        server.call(TOOL, {"query": "main"})
        rows = [_row(ATLAS, asked, lambda name: _ask(server, name), 0.0)] if asked else []
    finally:
        server.close()
    runner = PeerRunner(tree)
    for peer in peers(templates) if asked else ():
        before = meter.children_cpu_seconds()
        if peer.indexes:
            runner.ask(peer, _question("main"))
        spent = meter.children_cpu_seconds() - before
        rows.append(_row(peer.name, asked, partial(_run, runner, peer), spent))
    return rows


def _run(runner: PeerRunner, peer: Peer, name: str) -> tuple[str, list[Claim], float]:
    output, ms = runner.ask(peer, _question(name))
    return output, of_text(output), ms


def _question(name: str) -> Question:
    return Question("definition", f"`{name}`", grep=name)


def _ask(server: McpProcess, name: str) -> tuple[str, list[Claim], float]:
    started = time.perf_counter()
    _, result = server.call(TOOL, {"query": name})
    ms = (time.perf_counter() - started) * 1000
    content = result["structuredContent"]
    return json.dumps(content, separators=(",", ":")), of_structure(content), ms


def _row(
    tool: str,
    asked: Sequence[SearchQuestion],
    ask: Callable[[str], tuple[str, list[Claim], float]],
    prepare: float,
) -> LookupRow:
    ms, tokens, found, first = list[float](), list[float](), 0, 0
    for question in asked:
        output, claims, took = ask(question.text)
        right = [_is_right(question, claim) for claim in claims]
        ms.append(took)
        tokens.append(float(count_tokens(output)))
        found, first = found + any(right), first + any(right[:1])
    count = len(asked)
    return LookupRow(
        tool,
        count,
        percentile(ms, 50),
        percentile(ms, 95),
        percentile(tokens, 50),
        percentile(tokens, 95),
        found / count,
        first / count,
        prepare,
    )


def _is_right(question: SearchQuestion, claim: Claim) -> bool:
    path = claim.path.removeprefix("./")
    return any(path == target.path and target.line in claim.lines for target in question.gold)
