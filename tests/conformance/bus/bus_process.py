"""A process on the bus until it is killed: `python -m tests.conformance.bus.bus_process publish|consume|serve|lease WHERE PREFIX [NAME]`.

`publish` adds numbered events and prints each number when it is on the bus; `consume` takes events and prints their
keys without acknowledging them; `serve` starts the server of a data folder and prints its process id; `lease` keeps a
lease and prints who holds it.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from pathlib import Path

from atlas.adapters.buses.valkey.bus import ValkeyBus
from atlas.adapters.buses.valkey.server import ManagedServer
from atlas.core.events import Event


async def publish(bus: ValkeyBus) -> None:
    for number in itertools.count():
        await bus.publish("s", [Event("p", str(number))])
        print(number, flush=True)
        await asyncio.sleep(0.001)


async def consume(bus: ValkeyBus) -> None:
    while True:
        for delivery in await bus.take("s", "g", 10, 10):
            print(delivery.event.key, flush=True)


async def lease(bus: ValkeyBus, name: str) -> None:
    last = ""
    while True:
        held = await bus.lease("p", name, 0.6)
        if held != last:
            print(held, flush=True)
        last = held
        await asyncio.sleep(0.1)


def main(what: str, where: str, prefix: str, name: str = "") -> None:
    if what == "serve":
        print(ManagedServer.start(Path(where)).pid, flush=True)
        sys.stdin.read()
    elif what == "lease":
        asyncio.run(lease(ValkeyBus.open(where, prefix=prefix), name))
    else:
        verb = publish if what == "publish" else consume
        asyncio.run(verb(ValkeyBus.open(where, prefix=prefix)))


if __name__ == "__main__":
    main(*sys.argv[1:])
