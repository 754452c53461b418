"""Packs of web sources: a second build asks again, and what was left out is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from atlas.packs.build import BuildRequest, build_pack, update_pack
from atlas.packs.documentation.sources.values import CollectOptions
from tests.docs.web_server import Answer, page, serve

OPTIONS = CollectOptions(delay=0, backoff=0.01, retries=0, max_pages=3)


async def test_a_build_reads_changed_pages_and_names_what_it_leaves_out(tmp_path: Path) -> None:
    options = replace(OPTIONS, state=tmp_path / "state")
    routes = {"/": page("Start", "/a", "/b", "/c"), "/a": page("A"), "/b": Answer(status=500), "/c": page("C")}
    with serve(routes) as site:
        request = BuildRequest("site", (f"{site.url}/",), "1", options=options)
        first = await build_pack(request, tmp_path / "pack")
        assert first.manifest.counts["Article"] == 2
        assert first.problems == (f"{site.url}/b: HTTP 500", f"{site.url}/c: page limit")
        site.routes["/a"] = page("A", text="Another text.")
        before = first.manifest.files["pack.db"]
        second = await build_pack(request, tmp_path / "pack", replaces=True)
        assert second.manifest.files["pack.db"] != before
        assert site.requests["/a"] == 2
        site.requests.clear()
        same = await update_pack(tmp_path / "pack", state=tmp_path / "state")
        assert (same.changed, site.requests["/a"]) == ((), 1)
        assert same.problems == first.problems
