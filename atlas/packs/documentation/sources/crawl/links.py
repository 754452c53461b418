"""The pages that a page leads to: its links and what it says about itself. Markup only, no content."""

from __future__ import annotations

import re
from itertools import accumulate, islice

from atlas.packs.documentation.formats.decoding import decode
from atlas.packs.documentation.formats.draft import Draft
from atlas.packs.documentation.formats.html.inline import attribute
from atlas.packs.documentation.formats.html.page import parse_html
from atlas.packs.documentation.formats.reading import MAX_BYTES, format_of
from atlas.packs.documentation.sources.crawl.addresses import canonical

MAX_LINKS = 5_000
"""Of one page."""
MAX_LINK_TEXT = 400_000
"""Characters of the addresses that one page leads to."""
MAX_TARGETS = 20_000
"""Written links of one page that are looked at, each once."""

REFRESH = re.compile(r"\s*\d{1,5}\s*[;,]\s*url\s*=\s*['\"]?([^'\"]+)", re.I)
MARKDOWN_LINK = re.compile(r"\]\(\s*<?([^\s)>]{1,2000})")


def links_of(data: bytes, url: str, media_type: str, charset: str) -> list[str]:
    """Return the canonical addresses of the pages that a page leads to, in order, each once."""
    form = format_of(url, media_type)
    if form == "markdown":
        text, _ = decode(data[:MAX_BYTES], charset)
        targets = [found[1] for found in MARKDOWN_LINK.finditer(text)]
        base = url
    elif form == "html" or data[:200].lstrip()[:1] == b"<":
        text, _ = decode(data[:MAX_BYTES], charset)
        base, targets = _of_page(text, url)
    else:
        return []
    found = (canonical(target, base) for target in islice(dict.fromkeys(targets), MAX_TARGETS))
    links = list(dict.fromkeys(one for one in found if one))[:MAX_LINKS]
    return [one for one, end in zip(links, accumulate(map(len, links)), strict=True) if end <= MAX_LINK_TEXT]


def _of_page(text: str, url: str) -> tuple[str, list[str]]:
    tree = parse_html(text, Draft())
    node = tree.css_first("base[href]")
    base = canonical(attribute(node, "href"), url) if node else ""
    if any("nofollow" in attribute(one, "content").lower() for one in tree.css("meta[name=robots]")):
        return base or url, []
    targets = [
        attribute(node, "href")
        for node in tree.css("a[href], area[href], link[rel=next], link[rel=prev]")
        if "nofollow" not in attribute(node, "rel")
    ]
    refreshes = [node for node in tree.css("meta[http-equiv]") if attribute(node, "http-equiv").lower() == "refresh"]
    targets.extend(found[1] for node in refreshes if (found := REFRESH.match(attribute(node, "content"))))
    targets.extend(attribute(node, "src") for node in tree.css("frame[src], iframe[src]"))
    return base or url, targets
