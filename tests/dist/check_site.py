"""Check the documentation site: every link within it leads to a page and a heading, and nothing is loaded from elsewhere."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""Elements that make a browser load something, with the attribute that says what."""


class Page(HTMLParser):
    """The anchors of a page, where it leads to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what one element says."""
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADING and LOADING[tag] in given and given.get("rel") not in {"canonical", "search"}:
            self.loads.append(given[LOADING[tag]])


def problems(site: Path) -> list[str]:
    """Return what is wrong with a built site, a line each."""
    pages = {path.resolve(): Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    found: list[str] = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        found += [f"{name}: loads {address}" for address in page.loads if urlsplit(address).netloc]
        for address in (*page.links, *page.loads):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                found.append(f"{name}: {address} leads to no file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{name}: {address} leads to no heading")
    return found if pages else [f"{site}: no pages"]


if __name__ == "__main__":
    wrong = problems(Path(sys.argv[1]))
    print("\n".join(wrong) or f"{sys.argv[1]}: every link leads somewhere")
    sys.exit(bool(wrong))
