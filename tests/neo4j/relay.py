"""A relay before a real server that can be cut, muted and opened again: a server as a bad network shows it."""

from __future__ import annotations

import asyncio
from typing import Self
from urllib.parse import urlsplit


class Relay:
    """Listens on a port of this machine while it is entered; `uri` is its address."""

    def __init__(self, uri: str) -> None:
        parts = urlsplit(uri)
        self._to = (parts.hostname, parts.port)
        self.cut_after = -1
        """Bytes to the server until all connections are cut; -1 = never."""
        self.shut = False
        """Refuse to pass anything on, as a server that is gone."""
        self.mute = False
        """Swallow what the server says."""
        self.cuts = 0
        self.stay_shut = False
        """Be shut after a cut."""
        self._open: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self.uri = f"bolt://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self._cut()
        await asyncio.sleep(0.01)  # the relays see the end of their streams

    def _cut(self) -> None:
        for writer in list(self._open):
            writer.close()

    async def _relay(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        if self.shut:
            to_client.close()
            return
        server, to_server = await asyncio.open_connection(*self._to)
        pair = {to_client, to_server}
        self._open |= pair
        await asyncio.gather(self._pass(client, to_server, False), self._pass(server, to_client, True))
        self._open -= pair

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, replies: bool) -> None:
        try:
            while data := await source.read(65536):
                if not replies and self.cut_after >= 0:
                    self.cut_after -= len(data)
                    if self.cut_after < 0:
                        self.cuts += 1
                        self.shut = self.stay_shut
                        self._cut()
                        return
                if not (replies and self.mute):
                    sink.write(data)
                    await sink.drain()
        except OSError:
            pass
        sink.close()
