"""Sitemaps: the addresses in an XML or text file, maybe packed. No XML parser runs, so no entity is expanded."""

from __future__ import annotations

import re
import zlib
from html import unescape
from itertools import islice

MAX_BYTES = 50 << 20
"""Unpacked, as the protocol limits it."""

MAX_ADDRESSES = 50_000

WRITTEN = re.compile(rb"(?:^|(?<=\s))(https?://\S{1,4000})")
LOCATION = re.compile(rb"<(?:\w{1,20}:)?loc\s*>\s*(?:<!\[CDATA\[)?([^<\]]{1,4000})")


def read_sitemap(data: bytes) -> tuple[list[str], bool]:
    """Return the addresses in order, and whether they are of further sitemaps."""
    data = unpacked(data)
    is_index = b"sitemapindex" in data[:4096]
    found = (LOCATION if b"<" in data[:4096] else WRITTEN).finditer(data)
    return [unescape(one[1].decode("utf-8", "replace").strip()) for one in islice(found, MAX_ADDRESSES)], is_index


def unpacked(data: bytes) -> bytes:
    """Return gzip data unpacked up to the limit, other data as it is."""
    if not data.startswith(b"\x1f\x8b"):
        return data[:MAX_BYTES]
    try:
        return zlib.decompressobj(31).decompress(data, MAX_BYTES)
    except zlib.error:
        return b""
