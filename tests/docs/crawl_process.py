"""A program that crawls `URL` with its state in `FOLDER` and prints one line a page and a digest of the articles."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from dataclasses import replace
from pathlib import Path

from atlas.docs.sources.collecting import collect
from atlas.docs.sources.spec import parse_source
from atlas.docs.sources.values import CollectOptions
from atlas.web.fetcher import WebFetcher


async def main(url: str, folder: str) -> None:
    options = CollectOptions(delay=0, state=Path(folder), max_pages_per_pattern=5_000, max_depth=30, backoff=0.01)
    fetcher = WebFetcher()
    articles = [
        replace(one, retrieved="")
        async for one in collect([parse_source(url)], options, fetcher, lambda one: print(one.current, flush=True))
    ]
    await fetcher.aclose()
    print("articles", len(articles), hashlib.sha256(repr(articles).encode()).hexdigest(), flush=True)


asyncio.run(main(*sys.argv[1:3]))
