"""A server that speaks the batch interface of Semantic Scholar's Academic Graph API. In a thread."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from urllib.parse import unquote

from .http_thread import QuietHandler, running


@dataclass
class CitationServer:
    """A running server: `known` has the references of papers as (externalIds, title); `body` replaces every answer."""

    port: int
    known: Mapping[str, Sequence[tuple[Mapping[str, object], object]]]
    asked: list[list[str]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    status: int = 200
    body: bytes = b""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/graph/v1"

    def answer(self, identifiers: list[str]) -> bytes:
        records: list[object] = []
        for one in identifiers:
            references = self.known.get(one.removeprefix("ARXIV:"))
            listed = [{"paperId": "x", "externalIds": ids, "title": title} for ids, title in references or ()]
            records.append(None if references is None else {"paperId": one, "references": listed})
        return json.dumps(records).encode()


@contextmanager
def citation_server(
    known: Mapping[str, Sequence[tuple[Mapping[str, object], object]]],
) -> Iterator[CitationServer]:
    class Handler(QuietHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["ids"]
            server.asked.append(asked)
            server.headers.append(dict(self.headers))
            expected = "/graph/v1/paper/batch?fields=references.title,references.externalIds"
            self.path = unquote(self.path)
            content = server.body or server.answer(asked)
            self.reply(server.status if self.path == expected else 404, content)

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = CitationServer(listener.server_port, known)
    with running(listener):
        yield server
