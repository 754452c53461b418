"""Time of exact text and regular expressions over a tree on disk, against ripgrep in the same run.

`python -m tests.bench.line_search TREE --data-dir DIR [--rounds N]` indexes the tree and runs 50 patterns by turns: as a
call of `text_search` in a warm session, with the check of the tree, the lines, their definitions and the budget; and as
a process of `rg`, whose output is read. Before the measurement each pattern runs once. Prints p50, p95 and the largest
time of both, with the lines that each of them found: they differ in files named like secrets and in what counts as binary.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import subprocess
import time
from pathlib import Path
from statistics import quantiles

from atlas_bench.process import run

from atlas.app.session import Session
from atlas.app.toolsets import BY_NAME
from atlas.code.tools.search.line_answer import LineAnswer
from atlas.runtime.config.load import load_settings

EXACT = (
    "get_or_create(", "Cannot resolve keyword", "raise ImproperlyConfigured", "self.assertEqual(", "import os", "TODO",
    "return None", "class Meta:", "DEFAULT_AUTO_FIELD", "no such text anywhere", "select_related(", "http://", "gettext",
    "SECRET_KEY", "def setUpTestData(cls):", "__init__", "transaction.atomic", "Not Found", "@property", "utf-8",
    "warnings.warn(", "if not ", "CSRF", "é", " -> ",
)  # fmt: skip
REGEX = (
    r"def get_\w+\(", r"raise \w+Error\(", r"class \w+\(.*Mixin.*\):", r"^import \w+$", r"(?i)todo|fixme", r"\bQ\(\w+=",
    r"assert(Raises|Warns)\w*\(", r"[A-Z]{3,}_[A-Z]{3,} = ", r"https?://[^\s)>]+", r"\d{4}-\d{2}-\d{2}", r"%\(\w+\)s",
    r"lambda \w+: ", r"self\.\w+\.\w+\.\w+\(", r"\.filter\([^)]*__in=", r"except \(.*\):", r"^\s*#.*$", r"\bno\b.*\bmatch\b",
    r"(get|set)attr\(", r"@(static|class)method", r"\w{20,}", r'f"[^"]*\{', r"return [^(]+ or ", r"zzz+y", r"\.\. \w+::",
    r"(?i)deprecat(ed|ion)",
)  # fmt: skip


async def measure(tree: Path, data: Path, rounds: int) -> None:
    """Run all patterns and print the table."""
    session = Session(load_settings(str(tree), str(data)))
    text_search, rg = BY_NAME["text_search"], shutil.which("rg") or "rg"
    times: dict[str, list[float]] = {"text_search": [], "rg": []}
    lines = {"text_search": 0, "rg": 0}

    async def ask(pattern: str, mode: str) -> int:
        answer = await session.answer(text_search, {"query": pattern, "mode": mode})
        assert isinstance(answer, LineAnswer)
        return answer.found

    def grep(pattern: str, mode: str) -> int:
        command = [rg, "--no-config", "-n", *(["-F"] if mode == "exact" else []), "-e", pattern, "."]
        return subprocess.run(command, cwd=tree, capture_output=True).stdout.count(b"\n")

    try:
        for number in range(rounds + 1):
            for pattern, mode in (*((each, "exact") for each in EXACT), *((each, "regex") for each in REGEX)):
                began = time.perf_counter()
                found = await ask(pattern, mode)
                between = time.perf_counter()
                grepped = grep(pattern, mode)
                if number:
                    times["text_search"].append(between - began)
                    times["rg"].append(time.perf_counter() - between)
                else:
                    lines["text_search"] += found
                    lines["rg"] += grepped
    finally:
        await session.aclose()
    print(
        f"{len(EXACT)} texts, {len(REGEX)} expressions, {rounds} rounds\n| | p50 | p95 | max | lines |\n|---|---|---|---|---|"
    )
    for name, own in times.items():
        cuts = quantiles(own, n=20)
        print(
            f"| {name} | {cuts[9] * 1e3:.0f} ms | {cuts[18] * 1e3:.0f} ms | {max(own) * 1e3:.0f} ms | {lines[name]} |"
        )


def main() -> None:
    """Index the tree, if it is not, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=4)
    chosen = parser.parse_args()
    run(("index", str(chosen.tree), "--data-dir", str(chosen.data_dir)))
    asyncio.run(measure(chosen.tree, chosen.data_dir, chosen.rounds))


if __name__ == "__main__":
    main()
