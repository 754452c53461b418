"""A build that is killed at any moment goes on: nothing is fetched twice but pages under way, and the pack is the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.bench.crawl import measure


@pytest.mark.slow
def test_a_killed_build_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    monkeypatch.setenv("TMPDIR", str(shared))
    kills = int(os.environ.get("ATLAS_TEST_CRAWL_KILLS", "4"))
    found = measure(tmp_path, pages=20 * kills, kills=kills, kills_in_build=1)
    assert (found.unexpected, found.different, found.articles) == ([], [], found.pages)
    assert found.kills_while_crawling >= kills // 2
    assert not list(shared.glob("atlas-*")), "a kill leaves a folder behind"
