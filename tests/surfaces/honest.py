"""A client that asks one thing after another, as agents do, and notes what came of it and how long it took."""

from __future__ import annotations

import http.client
import statistics
import time
from dataclasses import dataclass, field

from .http_server import message


@dataclass
class Seen:
    """What an honest client saw; times in milliseconds."""

    times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def p50(self) -> float:
        return statistics.median(self.times) if self.times else float("nan")

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.times, n=20)[-1] if len(self.times) > 1 else float("nan")


def ask_often(port: int, requests: int, pause: float = 0.02, token: str = "", name: str = "Cart") -> Seen:
    """Ask for a node so many times: half of the requests on a connection that is kept, half on one of their own."""
    seen = Seen()
    kept = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    body, more = message("get_node", {"name": name})
    headers = {key.replace("__", "-"): value for key, value in more.items()}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    for number in range(requests):
        connection = kept if number % 2 else http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        started = time.perf_counter()
        try:
            status, said = _post(connection, body, headers)
            if status != 200 or b'"isError":true' in said:
                seen.errors.append(f"{status} {said[:120]!r}")
        except OSError as error:  # also RemoteDisconnected
            seen.errors.append(repr(error))
            connection.close()
        seen.times.append(1000 * (time.perf_counter() - started))
        if connection is not kept:
            connection.close()
        time.sleep(pause)
    kept.close()
    return seen


def _post(connection: http.client.HTTPConnection, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """Send on a connection; one that the server closed since the last request is opened again, as any pool does."""
    was_open = connection.sock is not None
    try:
        connection.request("POST", "/mcp", body, headers)
        answer = connection.getresponse()
    except (ConnectionError, http.client.RemoteDisconnected):
        connection.close()
        if not was_open:
            raise
        connection.request("POST", "/mcp", body, headers)
        answer = connection.getresponse()
    return answer.status, answer.read()
