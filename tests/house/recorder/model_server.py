"""A chat model's server with scripted answers: OpenAI's streaming format, or Anthropic's. Runs in a thread.

The script says what each request is answered with, in order; requests are kept for assertions.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Say:
    """An answer: text, then tool calls as (name, arguments as JSON text); `pieces` is the size of chunks."""

    text: str = ""
    calls: Sequence[tuple[str, str]] = ()
    pieces: int = 7
    cut_after: int = -1
    """Chunks after which the connection breaks; -1 = it does not."""
    wait: float = 0.0
    """Seconds before the first chunk."""


@dataclass(frozen=True)
class Fail:
    """An error answer."""

    status: int
    message: str = "something is wrong"
    retry_after: str = ""


Step = Say | Fail


@dataclass
class ModelServer:
    """A running server."""

    port: int
    steps: list[Step]
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    default: Step = Say("that is all")
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def openai(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def anthropic(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def results(self, number: int = -1) -> list[str]:
        """The tool results in a request, as text."""
        return [str(one["content"]) for one in self.requests[number]["messages"] if one["role"] == "tool"]


def openai_events(step: Say) -> Iterator[dict[str, Any]]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "stub", "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    for start in range(0, len(step.text), step.pieces):
        yield chunk({"content": step.text[start : start + step.pieces]})
    parts: list[list[dict[str, Any]]] = []
    for number, (name, arguments) in enumerate(step.calls):
        first = {
            "index": number,
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        rest = [
            {"index": number, "function": {"arguments": arguments[start : start + step.pieces]}}
            for start in range(0, len(arguments), step.pieces)
        ]
        parts.append([first, *rest])
    # pieces of several calls interleave
    for row in range(max(map(len, parts), default=0)):
        for part in parts:
            if row < len(part):
                yield chunk({"tool_calls": [part[row]]})
    yield chunk({}, "tool_calls" if step.calls else "stop")
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    yield {**chunk({}), "choices": [], "usage": usage}


def anthropic_events(step: Say) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 100, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "stub", "usage": usage}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}}
    number = 0
    if step.text:
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        for start in range(0, len(step.text), step.pieces):
            delta = {"type": "text_delta", "text": step.text[start : start + step.pieces]}
            yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        number = 1
    for name, arguments in step.calls:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        yield {"type": "content_block_start", "index": number, "content_block": block}
        for start in range(0, len(arguments), step.pieces):
            delta = {"type": "input_json_delta", "partial_json": arguments[start : start + step.pieces]}
            yield {"type": "content_block_delta", "index": number, "delta": delta}
        yield {"type": "content_block_stop", "index": number}
        number += 1
    reason = "tool_use" if step.calls else "end_turn"
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 9},
    }
    yield {"type": "message_stop"}


@contextmanager
def model_server(*steps: Step) -> Iterator[ModelServer]:
    """A server that answers its first requests with `steps` and all others with its default."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.requests.append(body)
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            step = server.steps.pop(0) if server.steps else server.default
            if isinstance(step, Fail):
                self._fail(step)
                return
            if step.wait:
                server.released.wait(step.wait)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            is_anthropic = self.path.endswith("/messages")
            events = anthropic_events(step) if is_anthropic else openai_events(step)
            try:
                for number, event in enumerate(events):
                    if number == step.cut_after:
                        self.connection.close()
                        return
                    if is_anthropic:
                        self.wfile.write(f"event: {event['type']}\n".encode())
                    self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                    self.wfile.flush()
                if not is_anthropic:
                    self.wfile.write(b"data: [DONE]\n\n")
            except OSError:
                pass

        def _fail(self, step: Fail) -> None:
            data = json.dumps({"error": {"message": step.message, "type": "x", "code": step.status}}).encode()
            self.send_response(step.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            if step.retry_after:
                self.send_header("retry-after", step.retry_after)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads = True
    server = ModelServer(running.server_port, list(steps))
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        running.shutdown()
        running.server_close()
