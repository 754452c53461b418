"""Crawls of a real server on this machine: what is fetched, what is left out and why, and what becomes of bad answers."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from atlas.adapters.web.fetcher import WebFetcher
from atlas.core.errors import ConfigError, Unavailable
from atlas.core.fetching import FetchFailed, FetchRequest
from atlas.packs.documentation.article import Article
from atlas.packs.documentation.sources.collecting import collect, plan
from atlas.packs.documentation.sources.spec import parse_source
from atlas.packs.documentation.sources.values import CollectOptions, CollectProgress
from tests.docs.web_server import Answer, Site, page, serve

OPTIONS = CollectOptions(delay=0, backoff=0.01, retries=2, timeout=5)


@pytest.fixture
async def fetcher() -> AsyncIterator[WebFetcher]:
    fetcher = WebFetcher()
    yield fetcher
    await fetcher.aclose()


class Crawled:
    def __init__(self, articles: list[Article], progress: list[CollectProgress], site: Site) -> None:
        self.articles = articles
        self.paths = [one.key.removeprefix(site.url) for one in articles]
        self.problems = {one.current.removeprefix(site.url): one.problem for one in progress if one.problem}


async def run(site: Site, fetcher: WebFetcher, start: str = "/", options: CollectOptions = OPTIONS) -> Crawled:
    progress: list[CollectProgress] = []
    source = parse_source(start if ":" in start else site.url + start)
    articles = [one async for one in collect([source], options, fetcher, progress.append)]
    return Crawled(articles, progress, site)


async def test_pages_below_the_start_are_read_once_and_robots_are_obeyed(fetcher: WebFetcher) -> None:
    routes = {
        "/robots.txt": Answer(
            b"User-agent: *\nDisallow: /docs/private/\nDisallow: /*.secret$", media_type="text/plain"
        ),
        "/docs/": page(
            "Start", "a.html", "a.html#part", "./b.html?utm_source=x", "private/x.html", "k.secret", "/blog/"
        ),
        "/docs/a.html": page("A", "b.html", "/docs/../docs/a.html", "http://192.0.2.1/far.html"),
        "/docs/b.html": page("B", "a.html;jsessionid=12AB"),
    }
    with serve(routes) as site:
        found = await run(site, fetcher, "/docs/")
        assert found.paths == ["/docs/", "/docs/a.html", "/docs/b.html"]
        assert site.requests == {"/robots.txt": 1, "/docs/": 1, "/docs/a.html": 1, "/docs/b.html": 1}
    assert found.problems == {"/docs/private/x.html": "robots.txt", "/docs/k.secret": "robots.txt"}
    first = found.articles[0]
    assert (first.title, first.language, first.format) == ("Start", "en", "html")
    assert first.retrieved.endswith("Z") and len(first.digest) == 32


async def test_redirects_are_followed_and_loops_end(fetcher: WebFetcher) -> None:
    def to(target: str) -> Answer:
        return Answer(status=302, headers={"Location": target})

    routes = {
        "/": page("Start", "/old", "/loop1", "/self", "/out", "/nowhere"),
        "/old": to("/new"),
        "/new": page("New"),
        "/loop1": to("/loop2"),
        "/loop2": to("/loop1"),
        "/self": to("/self"),
        "/out": to("http://192.0.2.1/"),
        "/nowhere": Answer(status=302),
    }
    with serve(routes) as site:
        found = await run(site, fetcher)
        assert found.paths == ["/", "/new"]
        assert max(site.requests.values()) == 1
    assert "itself" in found.problems["/self"]
    assert "other host" in found.problems["/out"]


async def test_a_redirect_to_another_service_of_this_machine_is_refused(fetcher: WebFetcher) -> None:
    with serve({"*": page("Inside")}) as inside, serve({}) as site:
        site.routes["/"] = Answer(status=302, headers={"Location": f"{inside.url}/"})
        with pytest.raises(Unavailable, match="address of this machine"):
            await run(site, fetcher)
        assert not inside.requests["/"]


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/", "http://localhost:9/", "http://[::1]:9/", "http://0x7f.1:9/", "http://169.254.169.254/",
            "http://[::ffff:10.0.0.1]/", "file:///etc/passwd", "ftp://127.0.0.1/", "http:///x"],
)  # fmt: skip
async def test_private_addresses_and_other_schemes_are_refused_unless_allowed(fetcher: WebFetcher, url: str) -> None:
    with pytest.raises(FetchFailed) as caught:
        await fetcher.fetch(FetchRequest(url, 1000, 5))
    assert caught.value.refused


async def test_failures_are_repeated_and_then_named(fetcher: WebFetcher) -> None:
    tries: dict[str, int] = {}

    def recovers(path: str, _: Mapping[str, str]) -> Answer:
        tries[path] = tries.get(path, 0) + 1
        if tries[path] < 3:
            return Answer(b"busy", 429 if path == "/busy" else 500, {"Retry-After": "0"})
        return page(path)

    routes = {
        "/": page("Start", "/busy", "/broken", "/gone", "/dead", "/short", "/later"),
        "/busy": recovers,
        "/broken": recovers,
        "/dead": Answer(b"no", 503),
        "/short": Answer(b"<p>half", declared=10_000),
        "/later": Answer(b"wait", 429, {"Retry-After": "86400"}),
    }
    with serve(routes) as site:
        found = await run(site, fetcher)
        assert found.paths == ["/", "/broken", "/busy"]
        assert (site.requests["/dead"], site.requests["/gone"], site.requests["/later"]) == (3, 1, 1)
    assert found.problems["/gone"] == "HTTP 404"
    assert found.problems["/dead"] == "HTTP 503"
    assert found.problems["/later"] == "HTTP 429"
    assert "/short" in found.problems


async def test_a_slow_page_costs_its_time_limit_only(fetcher: WebFetcher) -> None:
    def slow(_: str, __: Mapping[str, str]) -> Answer:
        time.sleep(1)
        return page("Slow")

    with serve({"/": page("Start", "/slow"), "/slow": slow}) as site:
        found = await run(site, fetcher, options=replace(OPTIONS, timeout=0.4, retries=0))
    assert found.paths == ["/"]
    assert "within 0.4 s" in found.problems["/slow"]


async def test_an_endless_calendar_ends(fetcher: WebFetcher) -> None:
    def calendar(path: str, _: Mapping[str, str]) -> Answer:
        day = int(path.rpartition("/")[2] or 0)
        return page(f"Day {day}", f"/day/{day + 1}", f"/day/{day + 2}", f"/day/{day}?view=week&n={day}", "deeper/")

    def other(path: str, headers: Mapping[str, str]) -> Answer:
        return calendar(path, headers) if re.fullmatch(r"/day/\d+", path) else Answer(status=404)

    with serve({"/": page("Start", "/day/1"), "*": other}) as site:
        found = await run(site, fetcher, options=replace(OPTIONS, max_pages_per_pattern=10, max_depth=50))
        assert sum(site.requests.values()) < 60
    assert len(found.paths) == 11
    assert any(reason.startswith("too many pages of one pattern") for reason in found.problems.values())


async def test_what_is_no_documentation_is_left_out_with_a_reason(fetcher: WebFetcher) -> None:
    login = b"<html><body><form action=/in><label>User<input name=u></label><input type=password name=p></form></body></html>"
    routes = {
        "/": page("Start", "/json", "/login", "/hidden", "/script", "/image.png", "/data", "/copy", "/canonical"),
        "/json": Answer(json.dumps({"a": 1}).encode()),
        "/login": Answer(login),
        "/hidden": page("Hidden", head="<meta name=robots content='noindex, nofollow'>"),
        "/script": Answer(b"<html><body><div id=root></div><script src=a.js></script></body></html>"),
        "/data": Answer(b"\x00\x01\x02", media_type="application/zip"),
        "/copy": page("Start", "/json", "/login", "/hidden", "/script", "/image.png", "/data", "/copy", "/canonical"),
        "/canonical": page("Again", head="<link rel=canonical href='/'>"),
    }
    with serve(routes) as site:
        found = await run(site, fetcher)
        assert not site.requests["/image.png"]
    assert found.paths == ["/"]
    reasons = {path: reason.partition(":")[0] for path, reason in found.problems.items()}
    assert reasons["/json"] == "not-html"
    assert reasons["/login"] == "login"
    assert reasons["/hidden"] == "noindex"
    assert reasons["/script"] == "script"
    assert "zip" in reasons["/data"]
    assert "same" in found.problems["/copy"] and "same page" in found.problems["/canonical"]


async def test_sizes_are_limited_and_charsets_found(fetcher: WebFetcher) -> None:
    large = b"<html><body><h1>Large</h1>" + b"<p>" + b"word " * 4_000_000
    routes = {
        "/": page("Start", "/large", "/latin", "/wrong", "/broken"),
        "/large": Answer(large),
        "/latin": Answer("<p>Größe der Wörter</p>".encode("latin-1"), media_type="text/html; charset=iso-8859-1"),
        "/wrong": Answer("<p>Größe der Zeilen</p>".encode(), media_type="text/html; charset=iso-8859-1"),
        "/broken": Answer(b"<h1>Broken<p>one<div><table><tr><td>cell<h2 id=x>Two</h3><p>two</html></body><p>three"),
    }
    with serve(routes) as site:
        found = await run(site, fetcher, options=replace(OPTIONS, max_page_bytes=1 << 20))
    texts = {path: "\n".join(block.text for section in article.sections for block in section.blocks)
             for path, article in zip(found.paths, found.articles, strict=True)}  # fmt: skip
    assert any("too-large" in problem for problem in found.articles[found.paths.index("/large")].problems)
    assert len(texts["/large"]) <= 1 << 20
    assert texts["/latin"] == "Größe der Wörter"
    assert texts["/wrong"] == "Größe der Zeilen"
    assert "one" in texts["/broken"] and "three" in texts["/broken"]


async def test_an_empty_site_and_no_server_are_clear_errors(fetcher: WebFetcher) -> None:
    with serve({"/": Answer(b"")}) as site:
        with pytest.raises(Unavailable, match="No page of"):
            await run(site, fetcher)
        with pytest.raises(Unavailable, match="HTTP 404"):
            await run(site, fetcher, "/missing/")
    with pytest.raises(Unavailable, match="ConnectError"):
        await run(site, fetcher)


async def test_a_site_that_forbids_robots_is_not_read(fetcher: WebFetcher) -> None:
    with serve({"/robots.txt": Answer(b"User-agent: *\nDisallow: /"), "/": page("Start")}) as site:
        with pytest.raises(Unavailable, match=r"robots\.txt"):
            await run(site, fetcher)
        assert not site.requests["/"]


async def test_sitemaps_and_lists_name_the_pages(fetcher: WebFetcher, tmp_path: Path) -> None:
    with serve({}) as site:
        inner = f"<urlset><url><loc> {site.url}/a </loc></url><url><loc>{site.url}/b?x=1&amp;y=2</loc></url><url><loc>http://192.0.2.1/</loc></url></urlset>"
        index = f"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY e 'x'>]><sitemapindex><sitemap><loc>{site.url}/inner.xml.gz</loc></sitemap></sitemapindex>"
        site.routes = {
            "/sitemap.xml": Answer(index.encode(), media_type="application/xml"),
            "/inner.xml.gz": Answer(gzip.compress(inner.encode()), media_type="application/gzip"),
            "/a": page("A", "/c"),
            "/b?x=1&y=2": page("B"),
            "/c": page("C"),
        }
        found = await run(site, fetcher, "/sitemap.xml")
        assert found.paths == ["/a", "/b?x=1&y=2"]
        (tmp_path / "urls.txt").write_text(f"# pages\n{site.url}/c\n{site.url}/a\n")
        found = await run(site, fetcher, f"urls:{tmp_path / 'urls.txt'}")
        assert found.paths == ["/a", "/c"]
        with pytest.raises(ConfigError, match="names no pages"):
            site.routes["/sitemap.xml"] = Answer(b"<urlset/>")
            await run(site, fetcher, "/sitemap.xml")


async def test_an_update_asks_only_for_what_changed(fetcher: WebFetcher, tmp_path: Path) -> None:
    content = {"/a": "First text"}

    def versioned(path: str, headers: Mapping[str, str]) -> Answer:
        tag = f'"{hash(content[path])}"'
        if headers.get("If-None-Match") == tag:
            return Answer(status=304)
        return replace(page("A", "/b", text=content[path]), headers={"ETag": tag})

    options = replace(OPTIONS, state=tmp_path)
    with serve({"/": page("Start", "/a"), "/a": versioned, "/b": page("B")}) as site:
        first = await run(site, fetcher, options=options)
        before = site.requests.copy()
        assert (await run(site, fetcher, options=options)).articles == first.articles
        assert site.requests == before
        refreshed = await run(site, fetcher, options=replace(options, refresh=True))
        assert site.conditional == ["/a"]
        assert [one.digest for one in refreshed.articles] == [one.digest for one in first.articles]
        assert first.articles[1].source_version.startswith('"')
        content["/a"] = "Second text"
        changed = await run(site, fetcher, options=replace(options, refresh=True))
        assert "Second text" in changed.articles[1].sections[0].blocks[0].text


async def test_a_plan_fetches_no_more_than_the_start(fetcher: WebFetcher) -> None:
    routes = {
        "/robots.txt": Answer(b"User-agent: *\nDisallow: /b"),
        "/": page("Start", "/a", "/b"),
        "/a": page("A", "/c"),
    }
    with serve(routes) as site:
        planned = await plan([parse_source(f"{site.url}/")], OPTIONS, fetcher, lambda _: None)
        assert [(one.key.removeprefix(site.url), one.skipped) for one in planned] == [
            ("/", ""), ("/a", ""), ("/b", "robots.txt")
        ]  # fmt: skip
        assert set(site.requests) == {"/robots.txt", "/"}


async def test_web_sources_need_permission() -> None:
    with pytest.raises(ConfigError, match="not allowed"):
        async for _ in collect([parse_source("https://example.org/")], OPTIONS, None, lambda _: None):
            pass


async def test_an_update_keeps_a_page_that_cannot_be_read_now(fetcher: WebFetcher, tmp_path: Path) -> None:
    options = replace(OPTIONS, state=tmp_path, refresh=True, retries=0)
    routes = {"/": page("Start", "/a", "/b"), "/a": page("A", "/c"), "/b": page("B"), "/c": page("C")}
    with serve(routes) as site:
        first = await run(site, fetcher, options=options)
        site.routes["/a"] = Answer(status=503)
        site.routes["/b"] = Answer(status=404)
        found = await run(site, fetcher, options=options)
        assert found.paths == ["/", "/a", "/c"]
        assert found.problems["/a"] == "HTTP 503; kept as it was read before"
        assert found.problems["/b"] == "HTTP 404"
        assert found.articles[1].retrieved == first.articles[1].retrieved
        source = f"{site.url}/"
    with pytest.raises(Unavailable, match="could be read again"):
        await run(site, fetcher, source, options)
