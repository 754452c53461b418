"""A server that speaks arXiv's query interface over papers of the test: its Atom format, pages, errors. In a thread."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape, quoteattr


@dataclass(frozen=True)
class Entry:
    """A paper of the service."""

    id: str
    title: str
    summary: str = "An abstract."
    authors: Sequence[str] = ("Ada Lovelace",)
    published: str = "2024-01-02T03:04:05Z"
    categories: Sequence[str] = ("cs.LG",)
    comment: str = ""
    doi: str = ""
    journal: str = ""


@dataclass
class ArxivServer:
    """A running server. `failing` are statuses that the next requests get; `body` replaces every answer."""

    port: int
    entries: list[Entry]
    requests: list[dict[str, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    failing: list[int] = field(default_factory=list)
    body: bytes = b""
    page_limit: int = 2000
    overlap: int = 0
    """Papers of the page before that a page repeats, as the service does when papers arrive between two requests."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/query"

    def feed(self, query: dict[str, str]) -> bytes:
        start, most = int(query.get("start", "0")), min(int(query["max_results"]), self.page_limit)
        wanted = [one for one in query.get("id_list", "").split(",") if one]
        found = [one for one in self.entries if not wanted or re.sub(r"v\d+$", "", one.id) in wanted]
        shown = found[max(0, start - self.overlap if start else 0) :][:most]
        return FEED.format(total=len(found), start=start, size=len(shown), entries="".join(map(_entry, shown))).encode()


FEED = """<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom">
  <id>https://arxiv.org/api/x</id><title>arXiv Query</title><updated>2024-05-01T00:00:00Z</updated>
  <opensearch:itemsPerPage>{size}</opensearch:itemsPerPage>
  <opensearch:totalResults>{total}</opensearch:totalResults>
  <opensearch:startIndex>{start}</opensearch:startIndex>{entries}
</feed>"""


def _entry(one: Entry) -> str:
    authors = "".join(f"<author><name>{escape(name)}</name></author>" for name in one.authors)
    categories = "".join(
        f'<category term={quoteattr(each)} scheme="http://arxiv.org/schemas/atom"/>' for each in one.categories
    )
    extras = "".join(
        f"<arxiv:{tag}>{escape(value)}</arxiv:{tag}>"
        for tag, value in (("comment", one.comment), ("doi", one.doi), ("journal_ref", one.journal))
        if value
    )
    return (
        f"<entry><id>http://arxiv.org/abs/{one.id}</id><title>{escape(one.title)}</title>"
        f"<updated>{one.published}</updated><published>{one.published}</published>"
        f"<summary>{escape(one.summary)}</summary>{authors}{categories}{extras}"
        f"<arxiv:primary_category term={quoteattr(one.categories[0])}/>"
        f'<link href="https://arxiv.org/abs/{one.id}" rel="alternate" type="text/html"/>'
        f'<link href="https://arxiv.org/pdf/{one.id}" rel="related" type="application/pdf" title="pdf"/></entry>'
    )


@contextmanager
def arxiv_server(*entries: Entry, **options: Any) -> Iterator[ArxivServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            server.requests.append(query)
            server.times.append(time.monotonic())
            status = server.failing.pop(0) if server.failing else 200
            data = server.body or (server.feed(query) if status == 200 else b"no")
            self.send_response(status)
            if status in (301, 302):
                self.send_header("location", f"{server.url}/elsewhere")
            self.send_header("content-type", "application/atom+xml; charset=utf-8")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads = True
    server = ArxivServer(running.server_port, list(entries), **options)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        running.shutdown()
        running.server_close()


ATTENTION = Entry(
    "1706.03762v5",
    "Attention Is All You Need",
    "The dominant sequence transduction models are based on recurrent networks. We propose the Transformer, based "
    "solely on attention mechanisms.",
    ("Ashish Vaswani", "Noam Shazeer", "Łukasz Kaiser"),
    "2017-06-12T17:57:34Z",
    ("cs.CL", "cs.LG"),
)
BERT = Entry(
    "1810.04805v2",
    "BERT: Pre-training of Deep Bidirectional Transformers",
    "We introduce a language representation model that builds on the Transformer (arXiv:1706.03762v5).",
    ("Jacob Devlin", "Ming-Wei Chang"),
    "2018-10-11T00:50:01Z",
    ("cs.CL",),
)
WITHDRAWN = Entry(
    "2101.00001v2",
    "A proof of everything in $\\alpha$ & more",
    "This paper has been withdrawn by the author due to an error in Lemma 2.",
    ("日本 太郎", "Renée Müller"),
    "2021-01-01T00:00:00Z",
    ("math.LO",),
    comment="Withdrawn",
    doi="10.1000/xyz.1",
    journal="Journal of Errors 1 (2021)",
)
