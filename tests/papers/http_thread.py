"""An HTTP server in a thread, for servers of paper services."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    """Logs nothing and sends whole JSON answers."""

    def reply(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the client has had enough
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def running(listener: ThreadingHTTPServer) -> Iterator[None]:
    """Serve during the block."""
    thread = threading.Thread(target=listener.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
