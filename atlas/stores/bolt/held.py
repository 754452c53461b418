"""A writing Bolt store that releases its write lock when it is closed."""

from __future__ import annotations

from contextlib import AsyncExitStack

from atlas.stores.bolt.store import BoltStore


class HeldBoltStore(BoltStore):
    """A `BoltStore` that closes the resources registered with it, last."""

    _held: AsyncExitStack | None = None

    def hold(self, held: AsyncExitStack) -> None:
        """Close this resource with the store."""
        self._held = held

    async def aclose(self) -> None:
        """See `Store.aclose`."""
        try:
            await super().aclose()
        finally:
            if self._held is not None:
                await self._held.aclose()
