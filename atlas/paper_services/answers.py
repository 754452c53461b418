"""Answers of services within limits of size and time, and their texts without what a terminal would hide."""

from __future__ import annotations

import time
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import requests

MAX_BYTES = 32 << 20
"""Larger answers are refused: a page of 100 papers has about 300 KB, the references of 100 papers about 1 MB."""

MAX_TEXT = 20_000
"""Characters of a field; the longest abstract of arXiv has about 2,000."""


def line(text: str, longest: int = 2_000) -> str:
    """Return a text on one line, at most `longest` characters long."""
    return " ".join(visible(text).split())[:longest]


def visible(text: str) -> str:
    """Return text without control and formatting characters, which could disguise what a terminal shows."""
    kept = (
        one for one in text[: 4 * MAX_TEXT] if one in "\n\t " or unicodedata.category(one) not in ("Cc", "Cf", "Cs")
    )
    return unicodedata.normalize("NFC", "".join(kept))


def read_body(response: requests.Response, timeout: float) -> bytes:
    """Return the body. Raises RequestException if it is too large or arrives too slowly."""
    import requests

    until = time.monotonic() + 2 * timeout
    pieces: list[bytes] = []
    size = 0
    for piece in response.iter_content(65_536):
        size += len(piece)
        if size > MAX_BYTES:
            raise requests.exceptions.ContentDecodingError(f"the answer has more than {MAX_BYTES >> 20} MB")
        if time.monotonic() > until:
            raise requests.Timeout("the answer arrives too slowly")
        pieces.append(piece)
    return b"".join(pieces)


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
