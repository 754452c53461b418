"""Where a crawl begins: one address, a list of them, or those of a sitemap and the sitemaps that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from atlas.core.errors import ConfigError, Unavailable
from atlas.core.fetching import FetchFailed
from atlas.packs.documentation.sources.crawl.addresses import NO_PAGES, canonical
from atlas.packs.documentation.sources.crawl.sitemap import MAX_ADDRESSES, read_sitemap
from atlas.packs.documentation.sources.folder import read_regular
from atlas.packs.documentation.sources.values import SourceKind

if TYPE_CHECKING:
    from atlas.packs.documentation.sources.crawl.visiting import Visitor
    from atlas.packs.documentation.sources.values import CollectOptions, SourceSpec

MAX_SITEMAPS = 200
MAX_TEXT = 32 << 20
"""Characters of all addresses of a sitemap and those that it names, some 300,000 pages."""
MAX_LIST_BYTES = 8 << 20


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
