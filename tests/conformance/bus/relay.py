"""A relay between a bus and its server: speaks TLS when told to, and swallows the server's next words when told to."""

from __future__ import annotations

import asyncio
import ssl
from typing import Self


class Relay:
    """Listens on a port of this machine while it is entered."""

    def __init__(self, socket_path: str, context: ssl.SSLContext | None = None) -> None:
        self.swallow = False
        """Break the connection instead of passing the server's next reply on."""
        self.port = 0
        self._path = socket_path
        self._context = context
        self._open: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0, ssl=self._context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in list(self._open):
            writer.close()
        await asyncio.sleep(0.01)  # the relays see the end of their streams

    async def _relay(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        server, to_server = await asyncio.open_unix_connection(self._path)
        self._open |= {to_client, to_server}
        there = asyncio.create_task(self._pass(client, to_server, False))
        await self._pass(server, to_client, True)
        await there
        for writer in (to_client, to_server):
            self._open.discard(writer)

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, replies: bool) -> None:
        try:
            while data := await source.read(65536):
                if replies and self.swallow:
                    self.swallow = False
                    break
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        sink.close()
