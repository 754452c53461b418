"""What the worst files of a clone cost: `python -m tests.bench.worst_inputs [--only WORD] [--size BYTES] [--follow]`.

Indexes each tree of `tests/fuzz/worst_cases.py` with a real `atlas index` (documents are also built as a pack), in a
folder and with a cache of its own. Prints the CPU seconds beyond those of an empty tree, most first, and exits with 1
when one is above `MOST_SECONDS`. `--follow` asks `search`, `node`, `context` and `status` about each index as well.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.worst_cases import Case, cases
from tests.surfaces.processes import COMMAND, environment

MOST_SECONDS = 2.0
TIMEOUT = 120
"""Seconds after which a command is ended and counted as that long."""
QUESTIONS = (("search", "how does a work"), ("node", "f"), ("context", "f"), ("status",))


@dataclass(frozen=True)
class Cost:
    """What one command cost: CPU seconds, peak MB, exit code and the end of what it said."""

    seconds: float
    megabytes: float
    code: int
    said: str


def cost(home: Path, *arguments: str) -> Cost:
    """Run `atlas` with folders of its own below `home`, and measure it and its children."""
    folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "CACHE", "DATA", "STATE")}
    with tempfile.TemporaryFile() as heard:
        process = subprocess.Popen(
            [*COMMAND, *arguments], stdout=heard, stderr=heard, cwd=home / "tree", env=environment(**folders)
        )
        end = time.monotonic() + TIMEOUT
        done, status, used = os.wait4(process.pid, os.WNOHANG)
        while not done:
            if time.monotonic() > end:
                process.kill()
            time.sleep(0.01)
            done, status, used = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(status)
        heard.seek(0)
        said = " ".join(heard.read().decode("utf-8", "replace").split())
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, process.returncode, said)


def commands(pack: bool, follow: bool) -> list[tuple[str, ...]]:
    """Return the arguments of each command that is measured on a tree, in order."""
    if pack:
        built = [("pack", "build", "a", "--from", "docs", "-o", "../pack")]
        return [*built, ("pack", "query", "../pack", "how does a work")] if follow else built
    return [("index",), *(QUESTIONS if follow else ())]


def measured(case: Case, *, follow: bool) -> list[tuple[str, Cost]]:
    """Write the tree of a case, run its commands, and return their names and costs."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for path, data in case.files.items():
            place = home / "tree" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        return [(" ".join(each[:2]), cost(home, *each)) for each in commands(case.pack, follow)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name matches this pattern")
    parser.add_argument("--size", type=int, default=(1 << 20) - 4096)
    parser.add_argument("--follow", action="store_true", help="ask questions about each index as well")
    asked = parser.parse_args()
    empty = {
        (pack, name): paid.seconds
        for pack in (False, True)
        for name, paid in measured(Case("empty", {"docs/a.md": b"# A\n\nText.\n"}, pack), follow=asked.follow)
    }
    worst: list[tuple[float, str]] = []
    for case in cases(asked.size):
        if not re.search(asked.only, case.name):
            continue
        for name, paid in measured(case, follow=asked.follow):
            more = paid.seconds - empty[case.pack, name]
            line = (
                f"{more:7.2f} s {paid.megabytes:6.0f} MB  exit {paid.code:3} {case.name} ({name}): {paid.said[-120:]}"
            )
            print(line, flush=True)
            worst.append((more, line))
    above = sorted((one for one in worst if one[0] > MOST_SECONDS), reverse=True)
    print(f"\n{len(worst)} commands, {len(above)} above {MOST_SECONDS} s", *(line for _, line in above), sep="\n")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
