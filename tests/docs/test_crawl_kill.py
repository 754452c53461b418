"""A crawl that is killed at any moment goes on: nothing is fetched twice but pages under way, and nothing is lost."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.docs.web_server import Answer, Site, page, serve

PAGES = 1_000
PARALLEL = 4
ROOT = Path(__file__).parents[2]


def tree(path: str, _: Mapping[str, str]) -> Answer:
    """A binary tree of pages with links back, of which some redirect."""
    name = path.removeprefix("/p/")
    if path == "/" or (name.isdecimal() and int(name) < PAGES):
        number = 0 if path == "/" else int(name)
        below = [child for child in (2 * number + 1, 2 * number + 2) if child < PAGES]
        return page(
            f"Page {number}", *(f"/moved/{one}" if one % 50 == 0 else f"/p/{one}" for one in below), f"/p/{number // 3}"
        )
    if path.startswith("/moved/"):
        return Answer(status=301, headers={"Location": f"/p/{path.removeprefix('/moved/')}"})
    return Answer(status=404)


def start(site: Site, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.docs.crawl_process", f"{site.url}/", str(folder)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )


def crawl_with_kills(site: Site, folder: Path, kills: int) -> str:
    """Return the last line of a crawl that was killed this many times."""
    chance = random.Random(7)
    for _ in range(kills):
        with start(site, folder) as process:
            assert process.stdout is not None
            for _ in range(chance.randint(1, PAGES // kills)):
                process.stdout.readline()
            process.kill()
    with start(site, folder) as process:
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return output.splitlines()[-1]


@pytest.mark.slow
def test_a_killed_crawl_goes_on_where_it_was(tmp_path: Path) -> None:
    kills = int(os.environ.get("ATLAS_TEST_CRAWL_KILLS", "3"))
    with serve({"*": tree}) as site:
        whole = crawl_with_kills(site, tmp_path / "whole", 0)
        assert whole.startswith(f"articles {PAGES} ")
        assert max(site.requests.values()) == 1
        site.requests.clear()
        resumed = crawl_with_kills(site, tmp_path / "killed", kills)
        assert resumed == whole
        again = sum(count - 1 for count in site.requests.values())
        assert again <= kills * PARALLEL
        assert site.requests["/robots.txt"] == 1
