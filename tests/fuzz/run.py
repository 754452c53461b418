"""The long fuzz run: `python -m tests.fuzz.run SECONDS [--only TARGET] [--seed N]`.

Each target runs in a process of its own, so that a crash or an endless loop of native code is seen as well. An input
that fails is written to the target's corpus, where the tests find it; the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import random
import resource
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.fuzz.client_files import ClientFiles
from tests.fuzz.cypher import Cypher
from tests.fuzz.facts import Facts
from tests.fuzz.imports import Imports
from tests.fuzz.messages import Messages
from tests.fuzz.mutate import mutated
from tests.fuzz.notes import Notes
from tests.fuzz.packs import Packs
from tests.fuzz.parser import Parser
from tests.fuzz.server_messages import ServerMessages
from tests.fuzz.target import CORPUS, Target

TARGETS: tuple[type[Target], ...] = (
    *(Cypher, Parser, Facts, Notes, Imports, Messages, Packs, ClientFiles, ServerMessages),
)
MOST_SECONDS = 60
"""A single input that takes longer hangs."""
MOST_MEMORY = 4 << 30


def work(kind: type[Target], folder: str, seconds: float, seed: int) -> None:
    """Try inputs until the time is over; `current` holds the one that is being tried."""
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    chance = random.Random(seed)
    place = Path(folder)
    target = kind(place)
    current, tried = place / "current", place / "tried"
    seeds = [*target.seeds(), *(path.read_bytes() for path in target.corpus())]
    end = time.monotonic() + seconds
    outcomes: Counter[str] = Counter()
    fresh = list(seeds)
    while time.monotonic() < end:
        data = fresh.pop() if fresh else mutated(chance, seeds, target.words)
        current.write_bytes(data)
        try:
            outcome = target.check(data)
        except BaseException:  # noqa: BLE001 a panic of the extension is no Exception
            traceback.print_exc()
            target.close()
            sys.exit(1)
        if outcome not in outcomes and len(seeds) < 5000:
            seeds.append(data)
        outcomes[outcome] += 1
        tried.write_text(f"{outcomes.total()} inputs: {dict(outcomes.most_common(8))}")
    current.unlink(missing_ok=True)
    target.close()


def fuzz(kind: type[Target], seconds: float, seed: int) -> bool:
    """Run one target; say what it did; return whether every input passed."""
    with tempfile.TemporaryDirectory() as folder:
        process = multiprocessing.get_context("spawn").Process(target=work, args=(kind, folder, seconds, seed))
        process.start()
        current, tried = Path(folder) / "current", Path(folder) / "tried"
        while process.is_alive():
            process.join(1)
            if current.exists() and time.time() - current.stat().st_mtime > MOST_SECONDS:
                process.kill()
                process.join()
        done = tried.read_text() if tried.exists() else "nothing"
        print(f"{kind.name}: seed {seed}, {done}", flush=True)
        if process.exitcode == 0:
            return True
        if current.exists():
            data = current.read_bytes()
            kept = CORPUS / kind.name / hashlib.sha256(data).hexdigest()[:12]
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(data)
            print(f"{kind.name}: exit code {process.exitcode}; the input is {kept}", flush=True)
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, help="for all targets together")
    parser.add_argument("--only", choices=[kind.name for kind in TARGETS])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    asked = parser.parse_args()
    chosen = [kind for kind in TARGETS if asked.only in (None, kind.name)]
    passed = [fuzz(kind, asked.seconds / len(chosen), asked.seed) for kind in chosen]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
