"""What an answer of `hybrid_search` costs: wall and CPU time per question, and by phase.

`python -m tests.bench.search_latency TREE --data-dir DIR [--questions N] [--ask FILE.toml] [--daemon] [--answers FILE]`
indexes the tree, asks questions made from its definitions in a warm session, once without and once with instruments,
and asks a fresh server over stdio its first question. `--daemon` does so while a daemon watches the tree: then no
answer checks it. `--answers` writes the text of each answer, to compare two revisions.

A phase is the CPU time of the thread that runs its functions, without that of phases inside it. "rest" is what no phase
accounts for: the event loop, threads of the extension, and code between the phases.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import sys
import threading
import time
import tomllib
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

from atlas_bench.process import McpProcess, resident_mb, run
from atlas_bench.query import SAMPLE

from atlas.app.session import Session
from atlas.app.toolsets import BY_NAME
from atlas.runtime.config.load import load_settings
from atlas.server.mcp import GC_THRESHOLDS, SWITCH_SECONDS

TOOL = "hybrid_search"
WARM = 20
PHASES: dict[str, tuple[str, ...]] = {
    "tree check": ("atlas.code.index.project.tree_check:TreeCheck._refresh",),
    "route": ("atlas.code.find:route", "atlas.code.retrieve.long_search:route", "atlas.code.find:read_long_text"),
    "words (BM25)": ("atlas.adapters.stores.sqlite.text:WordSearch.search",),
    "words by file": ("atlas.adapters.stores.sqlite.text:WordSearch.count",),
    "vectors": ("atlas.adapters.stores.sqlite.vector_cache:VectorCache.search",),
    "names": ("atlas.adapters.stores.sqlite.store:find",),
    "fusion": ("atlas.code.find:fuse", "atlas.code.retrieve.channels:on_one_scale"),
    "nodes": ("atlas.adapters.stores.sqlite.read:symbols",),
    "degrees": ("atlas.adapters.stores.sqlite.edges:degrees",),
    "edges": ("atlas.adapters.stores.sqlite.edges:edges",),
    "content": ("atlas.adapters.stores.sqlite.read:content",),
    "other reads": (
        "atlas.adapters.stores.sqlite.read:records",
        "atlas.adapters.stores.sqlite.read:projects",
        "atlas.adapters.stores.sqlite.read:manifest",
    ),
    "transactions": ("atlas.adapters.stores.sqlite.file.connection:ReaderPool._call",),
    "score": ("atlas.code.rank.ranking:rank",),
    "order": ("atlas.code.find:order_candidates",),
    "excerpts": ("atlas.code.tools.symbol.bodies:_rate", "atlas.code.tools.symbol.bodies:_lines"),
    "packing": (
        "atlas.code.tools.search.search:plan_page",
        "atlas.code.tools.search.search:groups_of",
        "atlas.code.tools.search.search:likelihoods",
    ),
    "fit": ("atlas.code.tools.envelope:fit",),
    "render": ("atlas.answers.answer:Answer.render", "atlas.answers.answer:Answer.structure"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One answer: what it cost, and its text."""

    kind: str
    text: str
    wall_ms: float
    cpu_ms: float
    answer: str


class Meter:
    """CPU seconds and calls by phase, without those of phases inside; safe for threads."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._guard = threading.Lock()
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)

    def measured(self, phase: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its CPU time added to a phase."""

        @wraps(work)
        def measured(*arguments: Any, **named: Any) -> Any:
            inner = getattr(self._local, "inner", 0.0)
            self._local.inner, began = 0.0, time.thread_time()
            try:
                return work(*arguments, **named)
            finally:
                spent = time.thread_time() - began
                with self._guard:
                    self.seconds[phase] += spent - self._local.inner
                    self.calls[phase] += 1
                self._local.inner = inner + spent

        return measured

    def collected(self, when: str, _: object) -> None:
        """Count the time of a garbage collection as a phase of its own."""
        if when == "start":
            self._local.began = time.thread_time()
            return
        spent = time.thread_time() - self._local.began
        with self._guard:
            self.seconds["garbage collection"] += spent
            self.calls["garbage collection"] += 1
        self._local.inner = getattr(self._local, "inner", 0.0) + spent


@contextmanager
def instruments() -> Iterator[Meter]:
    """Measure the phases inside."""
    meter = Meter()
    replaced: list[tuple[Any, str, Any]] = []
    for phase, places in PHASES.items():
        for place in places:
            module, _, path = place.partition(":")
            *owners, name = path.split(".")
            owner: Any = import_module(module)
            for each in owners:
                owner = getattr(owner, each)
            own = getattr(owner, name, None)
            if own is None:  # another revision
                continue
            replaced.append((owner, name, own))
            setattr(owner, name, meter.measured(phase, own))
    gc.callbacks.append(meter.collected)
    try:
        yield meter
    finally:
        gc.callbacks.remove(meter.collected)
        for owner, name, own in replaced:
            setattr(owner, name, own)


def make_questions(
    samples: Sequence[Sequence[str]], count: int, written: Sequence[str], seed: int
) -> list[tuple[str, str]]:
    """Return (kind, text): names, sentences of documentation, and questions in natural words, a third each, mixed."""
    chooser = random.Random(seed)
    chosen = chooser.sample(list(samples), min(count, len(samples)))
    asked: list[tuple[str, str]] = []
    for number, (uid, name, docstring) in enumerate(chosen):
        qualified = uid.partition(":")[2]
        sentence = " ".join(docstring.split()).partition(". ")[0][:300]
        if number % 3 == 0:
            asked.append(("name", chooser.choice((qualified, ".".join(qualified.split(".")[-2:]), name))))
        elif number % 3 == 1:
            asked.append(("docstring", sentence))
        else:
            words = sentence[:1].lower() + sentence[1:]
            asked.append(
                ("question", f"{chooser.choice(('where is the code that', 'how does it', 'which function'))} {words}?")
            )
    asked += [("written", text) for text in written]
    chooser.shuffle(asked)
    return asked[:count]


def read_written(files: Sequence[Path]) -> list[str]:
    """Return the questions of question files."""
    return [each["ask"] for file in files for each in tomllib.loads(file.read_text())["question"]]


async def sample(session: Session) -> list[list[str]]:
    """Return uid, name and documentation of definitions that have one."""
    query = SAMPLE.replace("LIMIT 1000", "LIMIT 20000")
    atlas = await session.opened()
    table = await atlas.reader.store.cypher(query, {}, 20_000, 60.0, atlas.reader.project)
    return [[str(value) for value in row] for row in table.rows if str(row[2]).strip()]


async def no_report(done: float, total: float, what: str) -> None:
    """Ignore progress."""


async def ask(session: Session, questions: Sequence[tuple[str, str]]) -> list[Asked]:
    """Ask one after the other, as an agent does."""
    found: list[Asked] = []
    for kind, text in questions:
        wall, cpu = time.perf_counter(), time.process_time()
        answer, _ = await session.call(BY_NAME[TOOL], {"query": text}, no_report)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        found.append(Asked(kind, text, wall * 1000, cpu * 1000, answer))
    return found


async def check_ms(session: Session, rounds: int) -> float:
    """Return the CPU milliseconds of one check of the tree, with all threads."""
    store = (await session.opened()).reader.store
    cpu = time.process_time()
    for _ in range(rounds):
        await session.guard.look(store)
    return (time.process_time() - cpu) * 1000 / rounds


@asynccontextmanager
async def opened(root: str, data: str) -> AsyncIterator[Session]:
    """Open a session with the settings of the MCP server's process."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    session = Session(load_settings(root, data), serves_agents=True)
    try:
        yield session
    finally:
        await session.aclose()


async def measure(root: str, data: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the costs of a warm session."""
    async with opened(root, data) as session:
        questions = make_questions(
            await sample(session), options.questions + WARM, read_written(options.ask), options.seed
        )
        await ask(session, questions[:WARM])
        asked = questions[WARM:]
        rounds = [await ask(session, asked) for _ in range(options.rounds)]
        checks = await check_ms(session, 20)
        resident = resident_mb(os.getpid())
        with instruments() as meter:
            cpu = time.process_time()
            await ask(session, asked)
            cpu = time.process_time() - cpu
    if options.answers:
        lines = (json.dumps({"q": each.text, "a": each.answer}, ensure_ascii=False) for each in rounds[0])
        options.answers.write_text("\n".join(lines) + "\n")
    phases = {name: seconds * 1000 / len(asked) for name, seconds in meter.seconds.items()}
    calls = {name: count / len(asked) for name, count in meter.calls.items()}
    phases["rest"] = cpu * 1000 / len(asked) - sum(phases.values())
    return {
        "rows": _rows([each for found in rounds for each in found]),
        "check_cpu_ms": checks,
        "phases_cpu_ms": phases,
        "calls": calls,
        "resident_mb": resident,
    }


def _rows(found: Sequence[Asked]) -> dict[str, dict[str, float]]:
    kinds = {"all": list(found)}
    for each in found:
        kinds.setdefault(each.kind, []).append(each)
    return {
        kind: {
            "questions": len(own),
            "cpu_mean": mean(each.cpu_ms for each in own),
            "cpu_p50": median(each.cpu_ms for each in own),
            "cpu_p95": quantiles([each.cpu_ms for each in own], n=20)[-1],
            "wall_p50": median(each.wall_ms for each in own),
            "wall_p95": quantiles([each.wall_ms for each in own], n=20)[-1],
        }
        for kind, own in kinds.items()
        if len(own) > 1
    }


def first_answers(root: str, data: str, times: int) -> dict[str, float]:
    """Return seconds and memory of servers that answer one question: medians of some starts."""
    starts: list[tuple[float, float, float, float]] = []
    for _ in range(times):
        server = McpProcess(["--project", root, "--data-dir", data])
        try:
            started = server.start()
            idle = server.rss_mb()
            first, _ = server.call(TOOL, {"query": "where are sessions expired"})
            second, _ = server.call(TOOL, {"query": "which function parses the command line"})
            starts.append((started, first, second, idle))
            resident = server.rss_mb()
        finally:
            server.close()
    columns = [median(column) for column in zip(*starts, strict=True)]
    names = ("start_s", "first_answer_s", "second_answer_s", "idle_mb")
    return {**dict(zip(names, columns, strict=True)), "after_mb": resident}


def report(found: dict[str, Any]) -> None:
    """Print tables."""
    print(f"{'kind':12}{'n':>6}" + "".join(f"{name:>10}" for name in ("CPU mean", "p50", "p95", "wall p50", "p95")))
    for kind, row in found["rows"].items():
        numbers = (row[name] for name in ("cpu_mean", "cpu_p50", "cpu_p95", "wall_p50", "wall_p95"))
        print(f"{kind:12}{row['questions']:>6.0f}" + "".join(f"{number:>10.1f}" for number in numbers))
    print(f"check of the tree: {found['check_cpu_ms']:.1f} CPU ms; resident {found['resident_mb']:.0f} MB")
    for name, spent in sorted(found["phases_cpu_ms"].items(), key=lambda each: -each[1]):
        print(f"  {name:22}{spent:>8.2f} CPU ms{found['calls'].get(name, 0):>8.1f} calls")
    for name, number in found.get("first", {}).items():
        print(f"  {name:22}{number:>8.2f}")


def main() -> None:
    """Measure as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--starts", type=int, default=0, help="servers that are asked a first question")
    parser.add_argument("--ask", type=Path, nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--daemon", action="store_true", help="while a daemon watches the tree")
    parser.add_argument("--no-index", action="store_true", help="ask the index as it is, to compare two revisions")
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    root, data = str(options.tree.resolve()), options.data_dir
    if not options.no_index:
        run(["index", root, "--data-dir", data])
    places = [root, "--data-dir", data]
    if options.daemon:
        run(["daemon", "start", *places])
    try:
        found = asyncio.run(measure(root, data, options))
        if options.starts:
            found["first"] = first_answers(root, data, options.starts)
    finally:
        if options.daemon:
            run(["daemon", "stop", "--data-dir", data])
    if options.json:
        print(json.dumps(found))
    else:
        report(found)


if __name__ == "__main__":
    main()
