"""Answers of services within limits of size and time, and their texts without what a terminal would hide."""

from __future__ import annotations

import queue
import threading
import time
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from atlas.core.invisible import visible

if TYPE_CHECKING:
    import requests

MAX_BYTES = 24 << 20
"""Larger answers are refused: a page of 100 papers has about 300 KB, the references of 100 papers about 1 MB."""

ENCODING = "gzip"
"""The only one that is asked for and unpacked."""

MAX_TEXT = 20_000
"""Characters of a field; the longest abstract of arXiv has about 2,000."""

Result = TypeVar("Result")


def line(text: str, longest: int = 2_000) -> str:
    """Return a text on one line, at most `longest` characters long."""
    return " ".join(visible(text[: 4 * MAX_TEXT]).split())[:longest]


def within(seconds: float, ask: Callable[[], Result]) -> Result:
    """Return what a request returns. Raises RequestException, after `seconds` Timeout.

    The library's time limit is one of each packet: a server that sends its headers byte by byte would hold the caller
    for ever. The thread that waits for such a server ends with the connection or the process.
    """
    import requests

    found: queue.SimpleQueue[Result | BaseException] = queue.SimpleQueue()

    def run() -> None:
        try:
            found.put(ask())
        except BaseException as error:  # noqa: BLE001 raised in the caller's thread
            found.put(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        answer = found.get(timeout=seconds)
    except queue.Empty:
        raise requests.Timeout("the answer arrives too slowly") from None
    if isinstance(answer, BaseException):
        raise answer
    return answer


def read_body(response: requests.Response, timeout: float) -> bytes:
    """Return the body, unpacked. Raises RequestException for one that is too large, too slow or packed in another way.

    The library would unpack whatever one packet holds, a thousand times its size.
    """
    import requests
    import urllib3

    until = time.monotonic() + 2 * timeout
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    announced = response.headers.get("content-length", "")
    if coding not in ("identity", ENCODING) or (announced.isdecimal() and len(announced) > len(str(MAX_BYTES))):
        raise requests.exceptions.ContentDecodingError("the answer is packed in another way, or far too large")
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16) if coding == ENCODING else None
    body = bytearray()
    try:
        for piece in response.raw.stream(65_536, decode_content=False):
            body += unpack.decompress(piece, MAX_BYTES + 1 - len(body)) if unpack else piece
            if len(body) > MAX_BYTES:
                raise requests.exceptions.ContentDecodingError(f"the answer has more than {MAX_BYTES >> 20} MB")
            if time.monotonic() > until:
                raise requests.Timeout("the answer arrives too slowly")
    except (zlib.error, urllib3.exceptions.HTTPError) as error:
        raise requests.exceptions.ContentDecodingError("the answer is damaged") from error
    return bytes(body)


def reason(error: Exception) -> str:
    """Return why a request failed, for people."""
    import requests

    if isinstance(error, requests.Timeout):
        return "no answer in time"
    if isinstance(error, requests.ConnectionError):
        return "it cannot be reached"
    return str(error)[:200]


def no_credentials(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Keep credentials of the user's .netrc from a configured address, as the `auth` of a session."""
    return request
