"""Rounds of calls at once while a pass over the tree is due: does a call fail, is a write lost?

    python -m tests.bench.parallel_calls --rounds 1000

Each round is one of {no index, one file changed, branch switched} x {ten sessions of a daemon, stdio, HTTP, two, ten
server processes} x {reads, writes, mixed} x {with and without calls that are cancelled while they wait}. Sessions live for `PER_PROJECT` rounds,
of which the first has no index. Ends with 1 and the first failure of each kind if a call failed or a write is not kept.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.surfaces.parallel import LOADS, STATES, Rounds, make_project, sessions, until_settled

TRANSPORTS = ("daemon", "stdio", "http", "two sessions", "ten processes")
PER_PROJECT = 25
AT_ONCE = 10


def main(arguments: list[str] | None = None) -> int:
    """Play the rounds and print what has been asked, kept and lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    return asyncio.run(_main(parser.parse_args(arguments).rounds))


async def _main(rounds: int) -> int:
    began, played, failed = time.monotonic(), Counter[str](), Counter[str]()
    asked = kept = 0
    while sum(played.values()) < rounds:
        transport = TRANSPORTS[sum(played.values()) // PER_PROJECT % len(TRANSPORTS)]
        with tempfile.TemporaryDirectory(prefix="atlas-parallel-") as folder:
            place = make_project(Path(folder))
            try:
                async with sessions(place, transport) as calls:
                    one = Rounds(place, calls)
                    for number in range(PER_PROJECT):
                        state = STATES[0] if number == 0 else STATES[1 + number % 2]
                        load = LOADS[(number // 2 + sum(played.values())) % len(LOADS)]
                        played[f"{transport}, {state}, {load}"] += 1
                        await one.play(state, load, cancels=number % 4 >= 2, at_once=AT_ONCE)
                    await until_settled(one)
                one.check_writes()
                asked, kept = asked + one.asked, kept + len(one.kept)
            except* AssertionError as group:
                failed[f"{transport}: {_first(group)}"] += 1
        print(
            f"{sum(played.values())} rounds, {asked} calls, {kept} writes kept, {sum(failed.values())} failures",
            flush=True,
        )
    for kind, count in sorted(played.items()):
        print(f"{count:5}  {kind}")
    for message, count in failed.items():
        print(f"FAILED {count} times: {message[:1000]}")
    print(f"{time.monotonic() - began:.0f} s")
    return int(bool(failed))


def _first(group: BaseExceptionGroup) -> str:
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return str(found)


if __name__ == "__main__":
    raise SystemExit(main())
