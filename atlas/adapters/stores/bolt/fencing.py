"""Fencing tokens: only the latest opener of a project may write.

Each opening increments a number, and each write compares it. The project's node is locked before its number is read and
until the transaction ends. A writer that was paused, or that lost its lease, therefore never commits after its
successor began. No clock is involved.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable

from atlas.adapters.stores.bolt.connection import Transaction
from atlas.adapters.stores.shared.statements import cypher_statements
from atlas.core.errors import LeaseLost


async def become_writer(transaction: Transaction, project: str, root: str) -> tuple[int, int]:
    """Register a project; return its generation and the fencing token of its new writer."""
    write = cypher_statements("write")
    # Two statements: the second one increments a value that it reads under the lock of the first.
    await transaction.rows(write["open_project"], name=project, root=root, host=socket.gethostname())
    await transaction.rows(write["open_commits"], name=project)
    ((generation, fence),) = await transaction.rows(write["next_fence"], name=project)
    return generation, fence


async def forget_project(transaction: Transaction, project: str) -> None:
    """Delete the registration of a project without units."""
    await transaction.rows(cypher_statements("write")["drop_project"], name=project)


async def check_writer(transaction: Transaction, fences: dict[str, int], projects: Iterable[str]) -> None:
    """Lock the projects until the transaction ends, so that no other process becomes their writer.

    Raises `LeaseLost` if another writer exists. A project that this store has not opened is opened with its current
    token; unknown projects are ignored.
    """
    names, write = sorted(projects), cypher_statements("write")
    await transaction.rows(write["lock_projects"], names=names)
    for name, fence, root in await transaction.rows(write["fences"], names=names):
        if fences.setdefault(name, fence) != fence:
            raise LeaseLost(
                f"another process has become the writer of {name} ({root})",
                "only one process at a time may write a project: atlas status",
            )
