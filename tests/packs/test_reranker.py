"""The cross-encoder client against a real server on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from atlas.adapters.embedders.remote.http import JsonClient
from atlas.adapters.embedders.reranker import TeiReranker
from atlas.core.errors import Unavailable


@contextmanager
def rerank_server(answer: object, status: int = 200) -> Iterator[tuple[str, list[dict[str, object]]]]:
    asked: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append({**body, "path": self.path})
            rows = [{"index": at, "score": len(text)} for at, text in enumerate(body["texts"])]
            data = json.dumps(rows[::-1] if answer is None else answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def _rerank(url: str, texts: list[str]) -> list[float]:
    reranker = TeiReranker(JsonClient(url, "", 5.0, 2, loopback=True))
    try:
        return await reranker.rerank("how?", texts)
    finally:
        await reranker.aclose()


async def test_scores_are_in_the_order_of_the_texts() -> None:
    texts = ["x" * (number % 7 + 1) for number in range(40)]
    with rerank_server(None) as (url, asked):
        assert await _rerank(url, texts) == [float(len(text)) for text in texts]
    assert [len(each["texts"]) for each in asked] == [32, 8]  # type: ignore[arg-type]
    assert {each["path"] for each in asked} == {"/rerank"}


@pytest.mark.parametrize(
    "answer", [[], {}, "no", [{"index": 0, "score": 1.0}], [{"index": 0}, {"index": 1, "score": "high"}]]
)
async def test_bad_answers_are_unavailable(answer: object) -> None:
    with rerank_server(answer) as (url, _), pytest.raises(Unavailable):
        await _rerank(url, ["one", "two"])


async def test_server_that_is_down_is_unavailable() -> None:
    with rerank_server(None) as (url, _):
        pass
    with pytest.raises(Unavailable):
        await _rerank(url, ["one"])
