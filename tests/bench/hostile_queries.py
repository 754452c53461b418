"""What hostile calls cost everyone else: `python -m tests.bench.hostile_queries TREE [--only WORD] [--data-dir DIR]`.

Indexes TREE, serves it with a real `atlas mcp --transport http`, and sends each call of `ATTACKS` once, then eight
times at once, while another client asks for `get_node` in a loop. Prints per attack how the calls ended, the server's
peak memory above idle and the delays of the other client; exits with 1 when one of `MOST_MB` and `MOST_P95_MS` is
passed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from atlas_bench import meter
from atlas_bench.process import run

from tests.bench.hostile_calls import ATTACKS, Attack
from tests.surfaces.http_server import Served, http_server
from tests.surfaces.processes import Place

MOST_MB = 512
MOST_P95_MS = 100
AT_ONCE = 8
PAUSE = 0.02
"""Between two questions of the other client: agents think longer."""
AT_LEAST = 1.0
"""Seconds of an attack: short ones are repeated."""
WARM = 200


@dataclass(frozen=True)
class Row:
    """What one attack did."""

    name: str
    calls: int
    ends: str
    seconds: float
    peak_mb: float
    delays: tuple[float, ...]

    @property
    def p95(self) -> float:
        return percentile(self.delays, 95)

    @property
    def line(self) -> str:
        p50, worst = percentile(self.delays, 50), max(self.delays, default=0.0)
        return (
            f"{self.name:34} x{self.calls:<3} {self.seconds:6.1f} s  +{self.peak_mb:5.0f} MB  "
            f"p50 {p50:5.0f}  p95 {self.p95:5.0f}  max {worst:5.0f} ms  n {len(self.delays):4}  {self.ends}"
        )


def percentile(values: tuple[float, ...], share: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1] if len(values) > 1 else sum(values)


def ended(served: Served, attack: Attack) -> str:
    """Send the call and say how it ended, in a few words."""
    try:
        reply = served.ask(attack.tool, attack.arguments)
    except OSError as error:
        return type(error).__name__
    if reply.status != 200:
        return f"HTTP {reply.status}"
    # long calls are answered with a stream, whose last event is the answer
    body = json.loads(reply.body.decode().strip().splitlines()[-1].removeprefix("data: "))
    if "error" in body:
        return f"protocol: {body['error']['message'][:60]}"
    if not body["result"].get("isError"):
        return "answered"
    return str(body["result"]["content"][0]["text"].splitlines()[0][:70])


def measured(served: Served, node: str, name: str, idle: float, send: Callable[[], list[str]]) -> Row:
    """Run `send` while the other client asks."""
    delays: list[float] = []
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            began = time.perf_counter()
            reply = served.ask("get_node", {"name": node})
            delays.append(1000 * (time.perf_counter() - began))
            assert reply.status == 200, reply.body
            over.wait(PAUSE)

    meter.forget_peak(served.process.pid)
    other = threading.Thread(target=ask)
    other.start()
    time.sleep(0.1)
    began = time.perf_counter()
    ends = send()
    seconds = time.perf_counter() - began
    while time.perf_counter() - began < AT_LEAST:
        ends += send()
    over.set()
    other.join(60)
    said = "; ".join(f"{count}x {end}" if len(ends) > 1 else end for end, count in Counter(ends).most_common(3))
    peak = meter.peak_rss_mb(served.process.pid)
    return Row(name, len(ends), said, seconds, peak - idle, tuple(delays))


def attacked(served: Served, node: str, attack: Attack, idle: float, calls: int) -> Row:
    with ThreadPoolExecutor(calls) as pool:
        return measured(
            served, node, attack.name, idle, lambda: list(pool.map(ended, [served] * calls, [attack] * calls))
        )


def main(tree: Path, data: Path, only: str, node: str) -> int:
    run(["index", str(tree), "--data-dir", str(data)])
    rows: list[Row] = []
    with http_server(Place(tree, data)) as served:
        for _ in range(WARM):
            served.ask("get_node", {"name": node})
        for attack in ATTACKS[:1]:
            ended(served, attack)
        idle = meter.rss_mb(served.process.pid)
        quiet = measured(served, node, "nothing", idle, lambda: [time.sleep(3) or "answered"])
        print(quiet.line, flush=True)
        for attack in ATTACKS:
            if only not in attack.name:
                continue
            for calls in (1, AT_ONCE):
                rows.append(attacked(served, node, attack, idle, calls))
                print(rows[-1].line, flush=True)
        print(f"idle {idle:.0f} MB, after all {meter.rss_mb(served.process.pid):.0f} MB")
    bad = [row for row in rows if row.peak_mb > MOST_MB or row.p95 > MOST_P95_MS]
    print(f"{len(rows)} attacks, {len(bad)} over {MOST_MB} MB or {MOST_P95_MS} ms: {', '.join({r.name for r in bad})}")
    print(
        f"worst: {max(row.peak_mb for row in rows):.0f} MB, p95 {max(row.p95 for row in rows):.0f} ms, "
        f"max {max(max(row.delays) for row in rows):.0f} ms"
    )
    return int(bool(bad))


if __name__ == "__main__":
    asked = argparse.ArgumentParser()
    asked.add_argument("tree", type=Path)
    asked.add_argument("--data-dir", type=Path)
    asked.add_argument("--only", default="", help="attacks with this in their name")
    asked.add_argument(
        "--node", default="django.db.models.query.QuerySet.filter", help="what the other client asks for"
    )
    given = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="atlas-hostile-") as scratch:
        folder = given.data_dir or Path(scratch)
        sys.exit(main(given.tree.resolve(), folder, given.only, given.node))
