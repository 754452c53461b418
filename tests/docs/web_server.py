"""A web server for crawls on the loopback interface: pages from a table, and a log of the requests."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "text/html; charset=utf-8"
    declared: int = 0
    """Length that the response claims, if it is another one."""


Route = Answer | Callable[[str, Mapping[str, str]], Answer]


def page(title: str, *links: str, text: str = "Something to read about it.", head: str = "") -> Answer:
    items = "".join(f'<li><a href="{link}">to {link}</a></li>' for link in links)
    body = f"<html lang=en><head><title>{title}</title>{head}</head><body><main><h1>{title}</h1><p>{text} {title}.</p><ul>{items}</ul>"
    return Answer(body.encode())


class Site:
    def __init__(self, routes: Mapping[str, Route]) -> None:
        self.routes = dict(routes)
        self.requests: Counter[str] = Counter()
        self.conditional: list[str] = []
        self.url = ""

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer:
        self.requests[path] += 1
        if headers.get("If-None-Match") or headers.get("If-Modified-Since"):
            self.conditional.append(path)
        route = self.routes.get(path) or self.routes.get("*") or Answer(b"nothing here", 404)
        return route if isinstance(route, Answer) else route(path, headers)


@contextmanager
def serve(routes: Mapping[str, Route]) -> Iterator[Site]:
    site = Site(routes)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            answer = site.answer(self.path, self.headers)  # type: ignore[arg-type]
            self.send_response(answer.status)
            if answer.media_type:
                self.send_header("Content-Type", answer.media_type)
            self.send_header("Content-Length", str(answer.declared or len(answer.body)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            try:
                self.end_headers()
                self.wfile.write(answer.body)
            except OSError:
                self.close_connection = True
            if answer.declared:
                self.close_connection = True

        def handle(self) -> None:
            with suppress(OSError):  # a client that was killed
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
