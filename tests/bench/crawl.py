"""Crawls that are killed: does a build go on where it was, and is the pack the one of an undisturbed build?

    python -m tests.bench.crawl --pages 1000 --kills 100

Builds a pack from a web server on this machine with `atlas pack build`, once undisturbed and once killed (SIGKILL) at
random moments of the crawl and then some more times while it writes the pack. Ends with 1 if a page was fetched twice
that was not under way at a kill, if a page is missing, or if a byte of
the packs differs. Both builds are told the same time (SOURCE_DATE_EPOCH).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from atlas.packs.documentation.sources.crawl.crawler import BUILT
from atlas.packs.documentation.sources.values import VARIABLE
from tests.docs.web_server import Answer, Route, Site, page, serve

ROOT = Path(__file__).parents[2]
FOLDERS = ("guide", "reference", "howto", "internals")
WORDS = "buffer cache client cursor engine filter handler index loader policy queue record router schema stream worker"
LONGEST_BUILD = 300
"""Seconds."""
UNFINISHED = {"discovered", "admitted", "claimed"}


@dataclass(slots=True)
class Crawled:
    """What became of the killed build."""

    pages: int
    kills: int = 0
    kills_while_crawling: int = 0
    requests: int = 0
    fetched_twice: int = 0
    under_way: int = 0
    """Pages that were under way at a kill."""
    unexpected: list[str] = field(default_factory=list[str])
    """Pages fetched twice that were not under way."""
    different: list[str] = field(default_factory=list[str])
    """Files of the packs that differ in more than times."""
    articles: int = 0
    seconds: float = 0.0
    digest: str = ""

    @property
    def is_right(self) -> bool:
        """Whether nothing was lost, fetched without need or different."""
        return not self.unexpected and not self.different and self.articles == self.pages


def main(arguments: list[str] | None = None) -> int:
    """Crawl, kill, compare; print the result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--kills-in-build", type=int, default=5, help="further kills once all pages are there")
    parser.add_argument("--seed", type=int, default=7)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="crawl-kills-") as folder:
        found = measure(Path(folder), chosen.pages, chosen.kills, chosen.kills_in_build, chosen.seed)
    print(json.dumps(asdict(found), indent=1))
    return 0 if found.is_right else 1


def measure(folder: Path, pages: int, kills: int, kills_in_build: int = 0, seed: int = 7) -> Crawled:
    """Build a pack of a site undisturbed and killed this often, and compare both."""
    with serve(documentation(pages)) as site:
        began = time.monotonic()
        with build(site, folder / "whole") as process:
            assert process.wait(LONGEST_BUILD) == 0, "the undisturbed build failed"
        length, expected = time.monotonic() - began, site.requests.total()
        assert max(site.requests.values()) == 1, "the undisturbed build fetched a page twice"
        site.requests.clear()
        found, under_way, chance = Crawled(pages), Counter[str](), random.Random(seed)
        is_built = False
        for number in range(kills + kills_in_build):
            left = max(expected - len(site.requests), 1) / max(kills - number + 1, 1)
            wanted, pause = max(round(left * chance.uniform(0.1, 1.9)), 1), chance.uniform(0, 0.01)
            if number >= kills:
                wanted, pause = 0, length * chance.uniform(0.1, 0.9)
            is_built = kill_build(site, folder / "killed", site.requests.total() + wanted, pause, found, under_way)
            if is_built:
                break
        if not is_built:
            with build(site, folder / "killed") as process:
                assert process.wait(LONGEST_BUILD) == 0, "the last build failed"
        again = {path: count - 1 for path, count in site.requests.items() if count > 1}
        found.requests, found.fetched_twice = site.requests.total(), sum(again.values())
        found.unexpected = sorted(path for path, count in again.items() if count > under_way[path])
        found.seconds = round(time.monotonic() - began, 1)
    compare(folder / "whole" / "pack", folder / "killed" / "pack", found)
    return found


def kill_build(site: Site, folder: Path, requests: int, pause: float, found: Crawled, under_way: Counter[str]) -> None:
    """Start a build and kill it some seconds after the site has had this many requests."""
    with build(site, folder) as process:
        while process.poll() is None and site.requests.total() < requests:
            time.sleep(0.001)
        with suppress(subprocess.TimeoutExpired):
            process.wait(pause)
        was_killed = process.poll() is None
        process.kill()
    if not was_killed:
        return True
    states, is_built = states_of(folder / "cache", site)
    claimed = [path for path, state in states.items() if state == "claimed"]
    found.kills += 1
    found.kills_while_crawling += not states or bool(UNFINISHED & set(states.values()))
    found.under_way += len(claimed)
    under_way.update(claimed if states else ["/robots.txt"])
    return is_built


def build(site: Site, folder: Path) -> subprocess.Popen[bytes]:
    """Start `atlas pack build` with folders of its own and a fixed time."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "atlas", "pack", "build", "site", "--version", "1", "--from", f"{site.url}/"]
    command += ["--delay", "0", "--max-depth", "40", "--output", str(folder / "pack"), "--replace"]
    own = {
        "XDG_CACHE_HOME": str(folder / "cache"),
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        VARIABLE: "1700000000",
    }
    return subprocess.Popen(
        command, cwd=folder, env={**os.environ, **own}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def states_of(cache: Path, site: Site) -> tuple[dict[str, str], bool]:
    """Return the state of every page by path, from a copy of the file that a killed build has left.

    And whether it had noted that its pack is complete.
    """
    states: dict[str, str] = {}
    is_built = False
    with tempfile.TemporaryDirectory() as copy:
        for file in cache.rglob("*.sqlite*"):
            shutil.copy(file, copy)
        for file in Path(copy).glob("*.sqlite"):
            database = sqlite3.connect(file)
            if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'pages'").fetchone():
                rows = database.execute("SELECT url, state FROM pages").fetchall()
                states |= {url.removeprefix(site.url): state for url, state in rows}
                phase = database.execute("SELECT value FROM facts WHERE name = 'phase'").fetchone()
                is_built = phase == (BUILT,)
            database.close()
    return states, is_built


def compare(whole: Path, killed: Path, found: Crawled) -> None:
    """Compare two packs byte by byte; both were told the same time."""
    files = {path.relative_to(whole) for path in whole.rglob("*") if path.is_file()}
    other = {path.relative_to(killed) for path in killed.rglob("*") if path.is_file()}
    found.different = [str(name) for name in sorted(files ^ other)]
    digest = hashlib.sha256()
    for name in sorted(files & other):
        first, second = ((folder / name).read_bytes() for folder in (whole, killed))
        digest.update(second)
        if first != second:
            found.different.append(str(name))
    found.digest = digest.hexdigest()[:16]
    manifest = json.loads((killed / "manifest.json").read_text(encoding="utf-8"))
    found.articles = manifest["counts"]["Article"]


def documentation(pages: int) -> dict[str, Route]:
    """Return a site: a tree of pages with headings, definitions and links back; some addresses redirect."""

    def answer(path: str, _: Mapping[str, str]) -> Answer:
        moved = path.startswith("/old/")
        name = path.rpartition("/")[2] if path != "/" else "page-0"
        number = name.removeprefix("page-")
        if not number.isdecimal() or int(number) >= pages:
            return Answer(status=404)
        own = int(number)
        if moved:
            return Answer(status=301, headers={"Location": address(own)})
        below = [child for child in range(3 * own + 1, 3 * own + 4) if child < pages]
        links = [f"/old/page-{child}" if child % 50 == 0 else address(child) for child in below]
        return page(f"Page {own}", *links, address(own // 4), text=text_of(own))

    return {"*": answer}


def address(number: int) -> str:
    """Return the path of a page."""
    return f"/{FOLDERS[number % len(FOLDERS)]}/page-{number}" if number else "/"


def text_of(number: int) -> str:
    """Return sentences that only this page has, with a definition and a default."""
    words = WORDS.split()
    first, second = words[number % len(words)], words[number // len(words) % len(words)]
    return (
        f"The {first} {number} hands its work to the {second}. "
        f"<code>{first.upper()}_{second.upper()}_{number}</code> defaults to <code>{number}</code>."
    )


if __name__ == "__main__":
    sys.exit(main())
