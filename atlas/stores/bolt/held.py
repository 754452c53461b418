"""A writing Bolt store that gives back at its end what was taken for it: the right to write to the server."""

from __future__ import annotations

from contextlib import AsyncExitStack

from atlas.stores.bolt.store import BoltStore


class HeldBoltStore(BoltStore):
    """As `BoltStore`; closing it closes what it holds, last."""

    _held: AsyncExitStack | None = None

    def hold(self, held: AsyncExitStack) -> None:
        """Close this with the store."""
        self._held = held

    async def aclose(self) -> None:
        """See `Store.aclose`."""
        try:
            await super().aclose()
        finally:
            if self._held is not None:
                await self._held.aclose()
