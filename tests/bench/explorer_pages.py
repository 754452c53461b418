"""What pages of the explorer cost: `python -m tests.bench.explorer_pages TREE DATA_FOLDER`.

Starts `atlas ui` on an index that is there, and asks for each page `REPEATS` times. CPU times are those of the server, wall
times tell of other work on the machine as well. The symbol is the one with most callers that are no tests.
"""

from __future__ import annotations

import html
import re
import sys
import time
from pathlib import Path

import httpx2

from tests.explorer.served import explorer

REPEATS = 20
TICK = 10
"""Milliseconds of one tick of the clock of processes."""


def cpu(pid: int) -> int:
    """CPU time of a process so far, in ms."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def measure(client: httpx2.Client, pid: int, name: str, path: str, repeats: int = REPEATS) -> str:
    """Ask for a page; return a row of a table, and print it."""
    walls: list[float] = []
    before = cpu(pid)
    answer = client.get(path)
    for _ in range(repeats):
        since = time.perf_counter()
        answer = client.get(path)
        walls.append((time.perf_counter() - since) * 1000)
    walls.sort()
    spent = (cpu(pid) - before) / (repeats + 1)
    p95 = walls[int(len(walls) * 0.95) - 1]
    print(f"| {name} | {spent:.0f} | {walls[len(walls) // 2]:.0f} | {p95:.0f} | {len(answer.content) / 1000:.0f} |")
    return answer.text


def main(tree: str, data: str) -> None:
    """Print a table of all pages."""
    since = time.perf_counter()
    with explorer(Path(tree), Path(data), patience=600) as served, served.client() as client:
        served.enter(client)
        first = client.get("/")
        print(
            f"first page after {time.perf_counter() - since:.1f} s wall, {cpu(served.process.pid)} ms CPU with the start"
        )
        before = cpu(served.process.pid)
        page = first.text
        while "Map of" not in page:
            time.sleep(0.5)
            page = client.get("/").text
        print(f"counts: {cpu(served.process.pid) - before} ms CPU after the first page\n")
        hub = html.unescape(re.search(r'id="hubs">.*?href="/symbol\?name=([^"]*)"', page, re.DOTALL).group(1))  # type: ignore[union-attr]
        word = re.split(r"[.:@]", re.split("%3A", hub)[-1].partition("%40")[0])[-1]
        print("| page | CPU ms | wall p50 ms | wall p95 ms | KB |\n|---|---|---|---|---|")
        pid = served.process.pid
        measure(client, pid, "overview", "/")
        measure(client, pid, f"symbol with most callers ({word})", f"/symbol?name={hub}")
        measure(client, pid, "its impact", f"/symbol?name={hub}&view=impact", 5)
        measure(client, pid, "its picture", f"/picture?name={hub}", 5)
        measure(client, pid, "top folder", "/file")
        measure(client, pid, "suggestions for the first letters of a name", f"/suggest?q={word[:5]}")
        measure(client, pid, "suggestions for a name", f"/suggest?q={word}")
        measure(client, pid, "search for a name", f"/search?q={word}", 5)
        measure(client, pid, "search in words", "/search?q=where+are+errors+handled", 5)
        measure(client, pid, "search for exact text", "/search?q=not+found&mode=exact", 5)
        measure(client, pid, "what a symbol leads to", f"/flow?of={hub}", 5)


if __name__ == "__main__":
    main(*sys.argv[1:])
