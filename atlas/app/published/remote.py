"""The shelf of a server, over HTTP: each request is one POST, small enough to be buffered as a whole.

Headers say what is asked for; the body of a request or of an answer is a piece of an index, or an entry.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from atlas.app.published.manifest import MAX_ENTRY, Entry, read_entry
from atlas.app.published.shelf import MAX_LISTED, PIECE
from atlas.core.errors import AtlasError, StoreError

if TYPE_CHECKING:
    from atlas.adapters.web.named_server import NamedServer

PATH = "/published"
ACTION, PROJECT, BODY, OFFSET, LENGTH = "atlas-action", "atlas-project", "atlas-body", "atlas-offset", "atlas-length"
"""Headers of a request."""
LIST, READ, WRITE, ENTER = "list", "read", "write", "enter"
MAX_LIST = 16 << 20
"""Bytes of a list of entries."""
_SMALL = 1 << 16


class RemoteShelf:
    """The shelf of a server that the user named."""

    def __init__(self, server: NamedServer) -> None:
        self._server = server

    def entries(self) -> list[Entry]:
        """Return the entries of the projects that the token may read."""
        try:
            found: object = json.loads(self._server.post({ACTION: LIST}, b"", MAX_LIST))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, list):
            raise StoreError(f"{self._server.url} did not send a list of indexes")
        return [_entry(one) for one in cast("list[object]", found)[:MAX_LISTED]]

    def read(self, project: str, body: str, offset: int, length: int) -> bytes:
        """Return a piece of a body."""
        headers = {ACTION: READ, PROJECT: project, BODY: body, OFFSET: str(offset), LENGTH: str(length)}
        return self._server.post(headers, b"", min(length, PIECE))

    def write(self, project: str, body: str, offset: int, total: int, data: bytes) -> bool:
        """Send a piece of a body; return whether the server has the whole."""
        headers = {ACTION: WRITE, PROJECT: project, BODY: body, OFFSET: str(offset), LENGTH: str(total)}
        return self._server.post(headers, data, _SMALL) == b"whole"

    def enter(self, project: str, entry: Entry) -> None:
        """Publish an index whose body is there."""
        self._server.post({ACTION: ENTER, PROJECT: project}, entry.text().encode(), _SMALL)

    def close(self) -> None:
        """Close the connection."""
        self._server.close()


def _entry(value: object) -> Entry:
    try:
        return read_entry(json.dumps(value)[: MAX_ENTRY + 1])
    except AtlasError:
        return Entry("")  # it is refused where it is looked at, and does not hide the others
