"""Reads all sources into articles in a stable order, or says what it would read.

Sources come in the order given; within one, articles are sorted by key. A source that cannot be read at all raises
ConfigError or Unavailable; a single document that cannot be read is reported and left out.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from atlas.core.errors import ConfigError
from atlas.core.threads import in_thread
from atlas.packs.documentation.sources import local, registries
from atlas.packs.documentation.sources.contents import connect
from atlas.packs.documentation.sources.values import REGISTRIES, WEB, CollectProgress, Planned

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from atlas.core.fetching import Fetcher
    from atlas.packs.documentation.article import Article
    from atlas.packs.documentation.sources.values import CollectOptions, SourceSpec


async def collect(
    sources: Sequence[SourceSpec],
    options: CollectOptions,
    fetcher: Fetcher | None,
    report: Callable[[CollectProgress], None],
) -> AsyncIterator[Article]:
    """Yield every article of the sources, with keys that are unique over all of them.

    `fetcher` is needed for web sources only. Raises ConfigError and Unavailable.
    """
    used: set[str] = set()
    for number, source in enumerate(sources, start=1):
        articles = await _articles(source, options, fetcher, report)
        for article in _with_unique_keys(connect(articles), used, source.name or str(number)):
            yield article
        report(CollectProgress(source.text, "done", len(articles), len(articles)))


async def plan(
    sources: Sequence[SourceSpec],
    options: CollectOptions,
    fetcher: Fetcher | None,
    report: Callable[[CollectProgress], None],
) -> list[Planned]:
    """Return what a collection would read.

    Of registries nothing is downloaded; what is in an archive is said only if the client has kept it. Of web sources
    only robots.txt, sitemaps and the start pages are fetched, since they name the other pages.
    """
    found: list[Planned] = []
    for source in sources:
        if source.kind in WEB:
            from atlas.packs.documentation.sources.crawl.crawler import plan_crawl

            found.extend(await plan_crawl(source, options, _needed(fetcher, source), report))
        elif source.kind in REGISTRIES:
            found.extend(await in_thread(_plan_package, source, options))
        else:
            found.extend(await in_thread(local.plan_source, source, options))
    return found


def _plan_package(source: SourceSpec, options: CollectOptions) -> list[Planned]:
    archive = registries.at_hand(source)
    if archive is None:
        return [Planned(source.text, registries.describe(source), is_archive=True)]
    return local.plan_archive(archive, source, options)


def mark_built(sources: Sequence[SourceSpec], options: CollectOptions) -> None:
    """Note that a pack was made of what was collected. Raises Unavailable while another process crawls."""
    for source in sources:
        if source.kind in WEB:
            from atlas.packs.documentation.sources.crawl import crawler

            crawler.mark_built(source, options)


async def _articles(
    source: SourceSpec,
    options: CollectOptions,
    fetcher: Fetcher | None,
    report: Callable[[CollectProgress], None],
) -> list[Article]:
    if source.kind in WEB:
        from atlas.packs.documentation.sources.crawl.crawler import crawl

        return await crawl(source, options, _needed(fetcher, source), report)
    loop = asyncio.get_running_loop()

    def report_from_thread(progress: CollectProgress) -> None:
        loop.call_soon_threadsafe(report, progress)

    if source.kind in REGISTRIES:
        with registries.download_folder() as folder:
            report(CollectProgress(source.text, "download"))
            archive = await in_thread(registries.download, source, folder)
            return await in_thread(local.read_archive, archive, source, options, report_from_thread)
    return await in_thread(local.read_source, source, options, report_from_thread)


def _with_unique_keys(articles: Sequence[Article], used: set[str], prefix: str) -> list[Article]:
    """Put a prefix before keys that an earlier source has used, in tables of contents as well."""
    renamed: dict[str, str] = {}
    for article in articles:
        key = article.key
        while key in used:
            key = f"{prefix}/{key}"
        used.add(key)
        if key != article.key:
            renamed[article.key] = key
    if not renamed:
        return list(articles)
    return [
        replace(
            one,
            key=renamed.get(one.key, one.key),
            children=tuple(renamed.get(child, child) for child in one.children),
        )
        for one in articles
    ]


def _needed(fetcher: Fetcher | None, source: SourceSpec) -> Fetcher:
    if fetcher is None:
        raise ConfigError(f"{source.text} is on the network, which is not allowed here.", "Allow it, or name a folder.")
    return fetcher
