"""Crawls the pages of a web source breadth first and returns their articles.

Pages of one depth are chosen when all of the depth above are done, in the order of their addresses, so that limits cut
the same pages whatever the order of answers and however often the crawl was interrupted.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import tempfile
from contextlib import nullcontext, suppress
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.core.errors import ConfigError, Unavailable
from atlas.core.fetching import FetchFailed
from atlas.core.lazy_regex import lazy_regex
from atlas.core.threads import in_thread
from atlas.packs.documentation.formats.decoding import decode
from atlas.packs.documentation.formats.draft import Draft
from atlas.packs.documentation.formats.html.inline import attribute
from atlas.packs.documentation.formats.html.page import parse_html
from atlas.packs.documentation.formats.reading import MAX_BYTES, format_of
from atlas.packs.documentation.sources.crawl.addresses import CrawlScope, canonical, scope_of
from atlas.packs.documentation.sources.crawl.pages import articles_of, is_readable, media_type_of
from atlas.packs.documentation.sources.crawl.starts import start_addresses
from atlas.packs.documentation.sources.crawl.state import CrawlState, FetchedPage
from atlas.packs.documentation.sources.crawl.visiting import RETRIED, Visitor
from atlas.packs.documentation.sources.values import CollectProgress, Planned, SourceKind, build_time
from atlas.runtime.process.files import make_private_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from atlas.core.fetching import Fetcher, FetchResponse
    from atlas.packs.documentation.article import Article
    from atlas.packs.documentation.sources.values import CollectOptions, SourceSpec

BUILT = "built"
"""Phase of a crawl of whose pages a pack was made."""

MAX_LINKS = 5_000
"""Of one page."""
MAX_LINK_TEXT = 400_000
"""Characters of the addresses that one page leads to."""
MAX_TARGETS = 20_000
"""Written links of one page that are looked at, each once."""
REFRESH = lazy_regex(r"\s*\d{1,5}\s*[;,]\s*url\s*=\s*['\"]?([^'\"]+)", re.I)
MARKDOWN_LINK = lazy_regex(r"\]\(\s*<?([^\s)>]{1,2000})")


async def crawl(
    source: SourceSpec, options: CollectOptions, fetcher: Fetcher, report: Callable[[CollectProgress], None]
) -> list[Article]:
    """Return the articles of a web source, sorted by key.

    Raises Unavailable if no page could be read, with the reason of the first one; ConfigError for invalid addresses.
    """
    kept = options.state
    # A process that is killed leaves a temporary folder behind, so one is made only where no state is kept.
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory(prefix="atlas-crawl-") as folder:
        state = CrawlState(_state_file(source, Path(folder)))
        try:
            await _Crawl(source, options, fetcher, state, report).run()
            return await _read(source, options, state, report)
        finally:
            state.close()


async def plan_crawl(
    source: SourceSpec, options: CollectOptions, fetcher: Fetcher, report: Callable[[CollectProgress], None]
) -> list[Planned]:
    """Return the start pages, or the pages of a sitemap or list, with what robots.txt and the limits say about them.

    Pages that only links lead to are not known before they are fetched; those on the start pages are listed.
    """
    with tempfile.TemporaryDirectory(prefix="atlas-plan-") as folder:
        state = CrawlState(Path(folder) / "plan.sqlite")
        try:
            return await _Crawl(source, options, fetcher, state, report).plan()
        finally:
            state.close()


def mark_built(source: SourceSpec, options: CollectOptions) -> None:
    """Note that a pack was made of a finished crawl: the next build asks for its pages again, if they have changed."""
    if options.state is None:
        return
    state = CrawlState(_state_file(source, options.state))
    try:
        if state.fact("phase") == "done":
            state.set_fact("phase", BUILT)
    finally:
        state.close()


def _state_file(source: SourceSpec, folder: Path) -> Path:
    name = hashlib.blake2b(f"{source.kind} {source.text}".encode(), digest_size=12).hexdigest() + ".sqlite"
    try:
        make_private_folder(folder)
        folder.chmod(0o700)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be used: {error}.", "Remove it; crawls begin again.") from error
    return folder / name


class _Crawl:
    def __init__(
        self,
        source: SourceSpec,
        options: CollectOptions,
        fetcher: Fetcher,
        state: CrawlState,
        report: Callable[[CollectProgress], None],
    ) -> None:
        self._source, self._options, self._state, self._report = source, options, state, report
        self._visitor = Visitor(fetcher, options, state)
        self._follows = source.kind is SourceKind.URL
        self._parsing = asyncio.Lock()
        self._done = 0
        self._is_reached = False
        """A server has answered, whatever it said."""
        self._unreached = ""
        """Why the first page could not be asked for again."""

    async def run(self) -> None:
        """Fetch every page that is not in the state yet. Raises Unavailable if no server answers in an update."""
        scope = await self._begin()
        while True:
            pages = self._state.admitted()
            if not pages:
                depth = self._state.next_depth()
                if depth < 0 or depth > self._options.max_depth:
                    break
                options = self._options
                limits = (options.max_pages, options.max_pages_per_pattern, options.max_total_bytes)
                self._state.admit(depth, *limits, options.max_page_bytes)
                continue
            await self._visit_all(pages, scope)
        if self._unreached and not self._is_reached:
            message = f"No page of {self._source.text} could be read again. {self._unreached}."
            raise Unavailable(message, "Check the network; the pages that were read before are kept.")
        self._state.set_fact("phase", "done")

    async def plan(self) -> list[Planned]:
        """Return the pages that are known without crawling."""
        scope = await self._begin()
        limits = (self._options.max_pages, self._options.max_pages_per_pattern, 1 << 62, 1)
        self._state.admit(0, *limits)
        pages = self._state.admitted()
        if self._follows:
            await self._visit_all(pages, scope)
            self._state.admit(1, *limits)
        found = [Planned(self._source.text, url) for url, _ in pages if self._follows]
        for url, _ in self._state.admitted():
            reason = "" if await self._visitor.allowed(url) else "robots.txt"
            found.append(Planned(self._source.text, url, 0, reason))
        left_out = {url: reason for url, _, reason in self._state.left_out()}
        found = [Planned(one.source, one.key, 0, left_out.pop(one.key, one.skipped)) for one in found]
        return found + [Planned(self._source.text, url, 0, reason) for url, reason in left_out.items()]

    async def _begin(self) -> CrawlScope:
        """Take up an interrupted crawl, or begin one with the start addresses. Return what it may follow."""
        options = self._options
        settings = repr((self._source.text, options.max_pages, options.max_depth, options.hosts, options.below))
        phase = self._state.fact("phase")
        if self._state.fact("settings") != settings or phase == BUILT or (phase == "done" and options.refresh):
            self._state.begin_again()
            self._state.forget_facts("robots ")
            self._state.forget_facts("starts")
            self._state.set_fact("settings", settings)
            self._state.set_fact("phase", "running")
        self._state.resume()
        known = self._state.fact("starts")
        starts = known.split("\n") if known else await start_addresses(self._source, self._visitor, options)
        self._state.set_fact("starts", "\n".join(starts))
        for origin in dict.fromkeys(starts[:1]) if self._follows else dict.fromkeys(starts):
            await self._visitor.name_start(origin)
        self._state.discover(starts, 0)
        return scope_of(starts, options.hosts, below=options.below)

    async def _visit_all(self, pages: list[tuple[str, int]], scope: CrawlScope) -> None:
        """Visit the pages of one round, several at a time; all of them are done or none is under way afterwards."""
        queue = iter(pages)

        async def work() -> None:
            for url, depth in queue:
                await self._visit(url, depth, scope)

        workers = [asyncio.ensure_future(work()) for _ in range(max(self._options.parallel, 1))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            for worker in workers:
                with suppress(asyncio.CancelledError, Exception):
                    await worker

    async def _visit(self, url: str, depth: int, scope: CrawlScope) -> None:
        if not await self._visitor.allowed(url):
            self._leave_out(url, "skipped", "robots.txt")
            return
        earlier = self._state.claim(url)
        left = max(self._options.max_total_bytes - self._state.size(), 1)
        try:
            response = await self._visitor.fetch(url, earlier, min(self._options.max_page_bytes, left))
        except FetchFailed as error:
            await self._fail(url, depth, scope, str(error), {} if error.refused else earlier)
            return
        self._is_reached = True
        if response.status == 304 and earlier:
            links = await self._links(url, self._state.body(url), earlier, scope)
            self._state.keep(url, build_time(), links, depth)
        elif response.status // 100 == 3:
            self._redirect(url, depth, response, scope)
        elif response.status // 100 != 2:
            may_pass = response.status in RETRIED
            await self._fail(url, depth, scope, f"HTTP {response.status}", earlier if may_pass else {}, response.status)
        elif not is_readable(url, response.headers):
            self._leave_out(url, "skipped", f"content type {media_type_of(response.headers)}", response.status)
        else:
            page = FetchedPage(url, depth, dict(response.headers), build_time(), response.body, response.cut)
            self._state.finish(page, response.status, await self._links(url, response.body, response.headers, scope))
        self._done += 1
        counts = self._state.counts()
        total = sum(counts.get(one, 0) for one in ("admitted", "claimed", "processed"))
        self._report(CollectProgress(self._source.text, "fetch", counts.get("processed", 0), total, url))

    async def _fail(
        self, url: str, depth: int, scope: CrawlScope, reason: str, earlier: Mapping[str, str], status: int = 0
    ) -> None:
        """Leave a page out, or keep its earlier answer if there is one and the failure may pass."""
        if not earlier:
            self._leave_out(url, "failed", reason, status)
            return
        self._unreached = self._unreached or f"{url}: {reason}"
        reason = f"{reason}; kept as it was read before"
        links = await self._links(url, self._state.body(url), earlier, scope)
        self._state.keep(url, "", links, depth, reason)
        self._report(CollectProgress(self._source.text, "fetch", self._done, 0, url, reason))

    def _redirect(self, url: str, depth: int, response: FetchResponse, scope: CrawlScope) -> None:
        """Follow a redirect within the scope. A start address may lead to another public host, which then counts."""
        target = canonical(response.headers.get("location", ""), url)
        if not target:
            self._leave_out(url, "failed", "a redirect without a target", response.status)
        elif target == url:
            self._leave_out(url, "failed", "redirects to itself", response.status)
        elif reason := scope.reason(target) if depth else "":
            self._leave_out(url, "skipped", f"redirects to {target}: {reason}", response.status)
        else:
            self._state.move(url, target, response.status, depth)

    async def _links(self, url: str, body: bytes, headers: Mapping[str, str], scope: CrawlScope) -> list[str]:
        if not self._follows:
            return []
        async with self._parsing:  # the tree of one page takes ten times its size
            found = await in_thread(links_of, body, url, headers.get("content-type", ""), "")
        return [one for one in found if not scope.reason(one)]

    def _leave_out(self, url: str, state: str, reason: str, status: int = 0) -> None:
        self._state.end(url, state, reason, status)
        self._report(CollectProgress(self._source.text, "fetch", self._done, 0, url, reason))


async def _read(
    source: SourceSpec, options: CollectOptions, state: CrawlState, report: Callable[[CollectProgress], None]
) -> list[Article]:
    """Return the articles of the pages that were read. Raises Unavailable if there are none."""
    articles, problems = await in_thread(articles_of, source, state.processed(), state.page, options.max_memory)
    for reason, url, count in state.limited():
        more = f" (and {count - 1:,} more)" if count > 1 else ""
        report(CollectProgress(source.text, "read", len(articles), len(articles), url, f"{reason}{more}"))
    for url, reason in problems:
        report(CollectProgress(source.text, "read", len(articles), len(articles), url, reason))
    if articles:
        return articles
    failures = [(url, reason) for url, _, reason in state.left_out()] + problems
    url, reason = failures[0] if failures else (source.url or source.text, "no page was found")
    raise Unavailable(f"No page of {source.text} could be read. {url}: {reason}.", "Check the address and the network.")


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
