"""A Bolt store for writing that releases its write lock when it is closed."""

from __future__ import annotations

from contextlib import AsyncExitStack

from atlas.adapters.stores.bolt.store import BoltStore


class HeldBoltStore(BoltStore):
    """A `BoltStore` that also closes the resources passed to `hold`, after its own connections."""

    _held: AsyncExitStack | None = None

    def hold(self, held: AsyncExitStack) -> None:
        """Register the resources to close with the store."""
        self._held = held

    async def aclose(self) -> None:
        """See `Store.aclose`. Closes the registered resources even if closing the store fails."""
        try:
            await super().aclose()
        finally:
            if self._held is not None:
                await self._held.aclose()
