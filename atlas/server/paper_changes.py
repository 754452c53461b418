"""Notifications of topics: a client that subscribes to a topic hears when papers are stored there, by any process.

Revision 2026-07-28 has one stream of what a client listens to, older ones a subscription for each resource; both are
served. Files are looked at while somebody listens, and not otherwise.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping

import anyio
import mcp_types as types
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
)
from mcp.shared.exceptions import MCPError

from atlas.core.errors import AtlasError
from atlas.papers.catalogue import FOLDERS_URI, TOPIC_URI
from atlas.server.mcp import Context, invalid

LOOK_SECONDS = 2.0
"""Between two looks at the files."""
MAX_SUBSCRIPTIONS = 200
"""Of the clients of one process. More are refused."""

Stamps = Callable[[], Mapping[str, object]]


class TopicChanges:
    """What happens to the topics, told to listeners on the event loop; `mcp.server.subscriptions.SubscriptionBus`."""

    def __init__(self, stamps: Stamps) -> None:
        """Take what tells the content of each topic from an earlier one."""
        self._stamps = stamps
        self._bus = InMemorySubscriptionBus()
        self._listeners = 0
        self._looking: asyncio.Task[None] | None = None

    async def publish(self, event: ServerEvent) -> None:
        """Tell the listeners."""
        await self._bus.publish(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Tell a listener what happens from now on; the answer ends that."""
        end = self._bus.subscribe(listener)
        self._listeners += 1
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._look(dict(self._stamps())))
        is_over = False

        def unsubscribe() -> None:
            nonlocal is_over
            if is_over:
                return
            is_over = True
            end()
            self._listeners -= 1
            if not self._listeners and self._looking is not None:
                self._looking.cancel()
                self._looking = None

        return unsubscribe

    async def _look(self, known: Mapping[str, object]) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now = dict(await asyncio.to_thread(self._stamps))
            for topic in sorted(now.keys() | known.keys()):
                if now.get(topic) != known.get(topic):
                    await self.publish(ResourceUpdated(uri=TOPIC_URI.format(topic=topic)))
            if now != known:
                await self.publish(ResourceUpdated(uri=FOLDERS_URI))
            if now.keys() != known.keys():
                await self.publish(ResourcesListChanged())
            known = now


class TopicSubscriptions:
    """The requests of clients about changes."""

    def __init__(self, stamps: Stamps) -> None:
        """Take what tells the content of each topic from an earlier one."""
        self._changes = TopicChanges(stamps)
        self.listen = ListenHandler(self._changes, max_subscriptions=MAX_SUBSCRIPTIONS)
        self._ends: dict[str, Callable[[], None]] = {}
        """By resource: a client of an older revision that can be told is the only one of its process."""
        self._sending: set[asyncio.Task[None]] = set()

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Tell a client of an older revision each change of one resource."""
        uri, session = str(params.uri), context.session
        if not session.can_send_request:
            raise invalid(AtlasError("this connection carries no notifications", "Use stdio, or listen."), uri=uri)
        if len(self._ends) >= MAX_SUBSCRIPTIONS:
            raise invalid(AtlasError("too many subscriptions", f"At most {MAX_SUBSCRIPTIONS}; end others."), uri=uri)

        async def send() -> None:
            try:
                await session.send_resource_updated(uri)
            except (MCPError, OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
                self._end(uri)

        def told(event: ServerEvent) -> None:
            if isinstance(event, ResourceUpdated) and event.uri == uri:
                task = asyncio.get_running_loop().create_task(send())
                self._sending.add(task)
                task.add_done_callback(self._sending.discard)

        self._end(uri)
        self._ends[uri] = self._changes.subscribe(told)
        return types.EmptyResult()

    async def unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Tell no more."""
        self._end(str(params.uri))
        return types.EmptyResult()

    def _end(self, uri: str) -> None:
        with contextlib.suppress(KeyError):
            self._ends.pop(uri)()
