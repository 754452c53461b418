"""A server that answers `GET /works` as OpenAlex documents it: filters with several values, `select`, pages. In a thread."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .http_thread import QuietHandler, running

ALIASES = {"doi": "doi", "openalex": "id"}
MOST_VALUES = 100


def work(number: int, doi: str | None, title: object, cites: Sequence[object] = ()) -> dict[str, object]:
    """A work with the fields of OpenAlex's documentation that matter here, and some that do not."""
    return {
        "id": f"https://openalex.org/W{number}",
        "doi": f"https://doi.org/{doi}" if doi else None,
        "title": title,
        "display_name": title,
        "publication_year": 2018,
        "type": "preprint",
        "ids": {"openalex": f"https://openalex.org/W{number}", "doi": doi},
        "referenced_works": [f"https://openalex.org/W{one}" if isinstance(one, int) else one for one in cites],
        "referenced_works_count": len(cites),
        "cited_by_count": 7,
    }


@dataclass
class OpenAlexServer:
    """A running server; `status` and `body` replace every answer."""

    port: int
    works: Sequence[Mapping[str, Any]]
    asked: list[dict[str, str]] = field(default_factory=list)
    status: int = 200
    body: bytes = b""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, query: Mapping[str, str]) -> tuple[int, object]:
        name, _, values = query["filter"].partition(":")
        wanted = values.lower().split("|")
        if name not in ALIASES or len(wanted) > MOST_VALUES:
            return 400, {"error": "Invalid query parameters error.", "message": f"{name} is not a valid field"}
        most, fields = int(query.get("per_page", "25")), query["select"].split(",")
        found = [one for one in self.works if _short(one[ALIASES[name]]) in map(_short, wanted)]
        shown = [{key: one[key] for key in fields} for one in found[:most]]
        meta = {"count": len(found), "db_response_time_ms": 3, "page": 1, "per_page": most, "groups_count": None}
        return 200, {"meta": meta, "results": shown, "group_by": []}


def _short(value: str | None) -> str:
    return (value or "").lower().removeprefix("https://doi.org/").removeprefix("https://openalex.org/")


@contextmanager
def openalex_server(*works: Mapping[str, Any]) -> Iterator[OpenAlexServer]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            server.asked.append(query)
            status, document = server.answer(query) if parts.path == "/works" else (404, {"error": "not found"})
            content = server.body or json.dumps(document).encode()
            self.reply(server.status if server.status != 200 else status, content)

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = OpenAlexServer(listener.server_port, works)
    with running(listener):
        yield server
