"""Where a crawl begins: one address, a list of them, or those of a sitemap and the sitemaps that it names.

A sitemap is XML or text, possibly packed. No XML parser runs, so no entity is expanded.
"""

from __future__ import annotations

import zlib
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from atlas.core.errors import ConfigError, Unavailable
from atlas.core.fetching import FetchFailed
from atlas.core.lazy_regex import lazy_regex
from atlas.packs.documentation.sources.crawl.addresses import NO_PAGES, canonical
from atlas.packs.documentation.sources.folder import read_regular
from atlas.packs.documentation.sources.values import SourceKind

if TYPE_CHECKING:
    from atlas.packs.documentation.sources.crawl.visiting import Visitor
    from atlas.packs.documentation.sources.values import CollectOptions, SourceSpec

MAX_SITEMAPS = 200
MAX_TEXT = 32 << 20
"""Characters of all addresses of a sitemap and those that it names, some 300,000 pages."""
MAX_LIST_BYTES = 8 << 20

MAX_BYTES = 50 << 20
"""Unpacked, as the protocol limits it."""
MAX_ADDRESSES = 50_000
WRITTEN = lazy_regex(rb"(?:^|(?<=\s))(https?://\S{1,4000})")
LOCATION = lazy_regex(rb"<(?:\w{1,20}:)?loc\s*>\s*(?:<!\[CDATA\[)?([^<\]]{1,4000})")


async def start_addresses(source: SourceSpec, visitor: Visitor, options: CollectOptions) -> list[str]:
    """Return the canonical start addresses in order, at least one. Raises ConfigError and Unavailable."""
    if source.kind is SourceKind.SITEMAP:
        return await _of_sitemaps(source, visitor, options)
    written = [source.url] if source.kind is SourceKind.URL else _listed(source)
    found = list(dict.fromkeys(url for one in written if (url := canonical(one))))
    if not found:
        raise ConfigError(f"{source.text} names no http or https address.", "Write one address a line.")
    return found


def _listed(source: SourceSpec) -> list[str]:
    try:
        text = read_regular(source.path, MAX_LIST_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise ConfigError(f"{source.path} cannot be read: {error}.") from error
    lines = [line.partition(" ")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")][:MAX_ADDRESSES]


async def _of_sitemaps(source: SourceSpec, visitor: Visitor, options: CollectOptions) -> list[str]:
    """Return the pages of a sitemap on its own host, and of the sitemaps that it names."""
    first = canonical(source.url)
    if not first:
        raise ConfigError(f"{source.url} is not an http or https address.")
    await visitor.name_start(first)
    host = urlsplit(first).netloc
    pending, seen, pages = [first], {first}, dict[str, None]()
    left, fetched = MAX_TEXT, 0
    while pending and left > 0 and fetched < MAX_SITEMAPS:
        url = pending.pop(0)
        fetched += 1
        try:
            response = await visitor.fetch_through(url)
        except FetchFailed as error:
            raise Unavailable(f"{url} cannot be read: {error}.", "Check the address and the network.") from error
        if response.status != 200:
            raise Unavailable(f"{url} cannot be read: HTTP {response.status}.", "Check the address.")
        addresses, is_index = read_sitemap(response.body)
        for one in addresses:
            found = canonical(one, url)
            if not found or urlsplit(found).netloc not in (host, *options.hosts):
                continue
            if is_index and found not in seen:
                left -= len(found)
                seen.add(found)
                pending.append(found)
            elif not is_index and not NO_PAGES.search(urlsplit(found).path):
                left -= len(found) if found not in pages else 0
                pages[found] = None
    if not pages:
        raise ConfigError(f"{source.url} names no pages of its host.", "Is it a sitemap?")
    return list(pages)


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
