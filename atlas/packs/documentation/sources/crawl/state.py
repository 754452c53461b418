"""The state of a crawl in SQLite: `discovered -> admitted -> claimed -> processed`, or failed, skipped, moved.

A page and the links in it are written in one transaction. A crawl that was killed at any moment goes on from its file:
only pages that were claimed are fetched again.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from atlas.core.errors import Unavailable
from atlas.packs.documentation.sources.crawl.addresses import pattern
from atlas.runtime.process.files import open_file

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping
    from pathlib import Path

SCHEMA_VERSION = 1

ROWS_AT_ONCE = 1_000

LIMITS = ("page limit", "byte limit", "too many pages of one pattern")
"""Reasons why pages were not chosen."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS pages (
  url TEXT PRIMARY KEY, depth INTEGER NOT NULL, state TEXT NOT NULL, pattern TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '', status INTEGER NOT NULL DEFAULT 0, headers TEXT NOT NULL DEFAULT '{}',
  retrieved TEXT NOT NULL DEFAULT '', body BLOB, size INTEGER NOT NULL DEFAULT 0, cut INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pages_by_state ON pages (state, depth);
CREATE INDEX IF NOT EXISTS pages_by_size ON pages (state, size);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page that was fetched."""

    url: str
    depth: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    retrieved: str = ""
    body: bytes = b""
    cut: bool = False


class CrawlState:
    """The pages of one crawl; one process at a time has it open. Use from one thread."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises Unavailable while another process has it."""
        try:
            for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
                if file == path or file.exists():
                    _make_private(file)
        except OSError as error:
            raise Unavailable(f"{path} cannot be used: {error}.", "Delete it; the crawl begins again.") from error
        self._database = sqlite3.connect(path, timeout=1.0, isolation_level=None, check_same_thread=False)
        try:
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            if self.fact("schema_version", create=True) not in ("", str(SCHEMA_VERSION)):
                self._database.executescript("DROP TABLE pages; DROP TABLE facts;")
            self._database.executescript(SCHEMA)
            self.set_fact("schema_version", str(SCHEMA_VERSION))
        except sqlite3.DatabaseError as error:
            self._database.close()
            if "locked" in str(error):
                raise Unavailable(f"Another process reads into {path}.", "Wait until it has ended.") from error
            raise Unavailable(f"{path} cannot be used: {error}.", "Delete it; the crawl begins again.") from error

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def fact(self, name: str, *, create: bool = False) -> str:
        """Return a fact about the crawl, "" if it is not known."""
        if create:
            self._database.executescript(SCHEMA)
        row = self._database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else ""

    def set_fact(self, name: str, value: str) -> None:
        """Remember a fact about the crawl."""
        self._database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def forget_facts(self, prefix: str) -> None:
        """Forget facts whose names begin like this."""
        self._database.execute("DELETE FROM facts WHERE substr(name, 1, ?) = ?", (len(prefix), prefix))

    def begin_again(self) -> None:
        """Keep answers for conditional requests, but let every page be discovered again."""
        with self._transaction():
            self._database.execute("DELETE FROM pages WHERE state <> 'processed' AND state <> 'known'")
            self._database.execute("UPDATE pages SET state = 'known'")

    def resume(self) -> None:
        """Give back pages that a killed crawl had claimed."""
        self._database.execute("UPDATE pages SET state = 'admitted' WHERE state = 'claimed'")

    def discover(self, urls: Iterable[str], depth: int) -> None:
        """Add pages that are not known yet; of two depths the smaller one counts."""
        with self._transaction():
            self._discover(urls, depth)

    def admit(self, depth: int, max_pages: int, max_per_pattern: int, max_bytes: int, page_bytes: int) -> None:
        """Choose among the discovered pages of a depth in the order of their addresses; those over a limit are skipped.

        No more are chosen than pages of `page_bytes` fit into what is left of `max_bytes`, but one at least; the others
        wait. Since all pages that were chosen before are done, the choice is the same however often a crawl was
        interrupted.
        """
        chosen = "state IN ('admitted', 'claimed', 'processed', 'failed', 'moved')"
        with self._transaction():
            one = self._database.execute
            total, size = one(f"SELECT count(*), coalesce(sum(size), 0) FROM pages WHERE {chosen}").fetchone()
            patterns = dict(one(f"SELECT pattern, count(*) FROM pages WHERE {chosen} GROUP BY pattern").fetchall())
            room = max((max_bytes - size) // page_bytes, 1)
            for url, name in self._discovered(depth):
                if reason := LIMITS[0] if total >= max_pages else LIMITS[1] if size >= max_bytes else "":
                    one(
                        "UPDATE pages SET state = 'skipped', reason = ? WHERE state = 'discovered' AND depth = ?",
                        (reason, depth),
                    )
                    break
                if room == 0:
                    break
                is_endless = patterns.get(name, 0) >= max_per_pattern
                if not is_endless:
                    total, room = total + 1, room - 1
                    patterns[name] = patterns.get(name, 0) + 1
                state = ("skipped", LIMITS[2]) if is_endless else ("admitted", "")
                one("UPDATE pages SET state = ?, reason = ? WHERE url = ?", (*state, url))

    def size(self) -> int:
        """Return the bytes of the pages that were read."""
        row = self._database.execute("SELECT coalesce(sum(size), 0) FROM pages WHERE state = 'processed'").fetchone()
        return int(row[0])

    def admitted(self) -> list[tuple[str, int]]:
        """Return address and depth of the pages to fetch, sorted."""
        return self._database.execute(
            "SELECT url, depth FROM pages WHERE state = 'admitted' ORDER BY depth, url"
        ).fetchall()

    def next_depth(self) -> int:
        """Return the lowest depth with discovered pages, -1 if there are none."""
        row = self._database.execute("SELECT min(depth) FROM pages WHERE state = 'discovered'").fetchone()
        return -1 if row[0] is None else int(row[0])

    def claim(self, url: str) -> Mapping[str, str]:
        """Mark a page as under way. Return the headers of an earlier answer to it, if there is one."""
        self._database.execute("UPDATE pages SET state = 'claimed' WHERE url = ?", (url,))
        row = self._database.execute("SELECT headers FROM pages WHERE url = ? AND body IS NOT NULL", (url,)).fetchone()
        return json.loads(row[0]) if row else {}

    def finish(self, page: FetchedPage, status: int, links: Iterable[str]) -> None:
        """Write a page and the addresses found in it; all of it or nothing."""
        with self._transaction():
            self._database.execute(
                "UPDATE pages SET state = 'processed', reason = '', status = ?, headers = ?, retrieved = ?, body = ?,"
                " size = ?, cut = ? WHERE url = ?",
                (
                    status,
                    json.dumps(dict(page.headers)),
                    page.retrieved,
                    zlib.compress(page.body, 3),
                    len(page.body),
                    int(page.cut),
                    page.url,
                ),
            )
            self._discover(links, page.depth + 1)

    def keep(self, url: str, retrieved: str, links: Iterable[str], depth: int, reason: str = "") -> None:
        """Keep the earlier answer of a page that has not changed, or cannot be read now; "" keeps its time, too."""
        with self._transaction():
            self._database.execute(
                "UPDATE pages SET state = 'processed', reason = ?, retrieved = coalesce(nullif(?, ''), retrieved)"
                " WHERE url = ?",
                (reason, retrieved, url),
            )
            self._discover(links, depth + 1)

    def end(self, url: str, state: str, reason: str, status: int = 0) -> None:
        """Mark a page as failed, skipped or moved."""
        self._database.execute(
            "UPDATE pages SET state = ?, reason = ?, status = ? WHERE url = ?", (state, reason, status, url)
        )

    def move(self, url: str, target: str, status: int, depth: int) -> None:
        """Mark a page as moved; its target is a page of the same depth."""
        with self._transaction():
            self.end(url, "moved", target, status)
            if target:
                self._discover([target], depth)

    def body(self, url: str) -> bytes:
        """Return the stored content of a page."""
        row = self._database.execute("SELECT body FROM pages WHERE url = ?", (url,)).fetchone()
        return zlib.decompress(row[0]) if row and row[0] is not None else b""

    def processed(self) -> list[str]:
        """Return the addresses of the pages that were read, sorted."""
        rows = self._database.execute("SELECT url FROM pages WHERE state = 'processed' ORDER BY url")
        return [row[0] for row in rows]

    def page(self, url: str) -> FetchedPage:
        """Return a page that was read."""
        depth, headers, retrieved, body, cut = self._database.execute(
            "SELECT depth, headers, retrieved, body, cut FROM pages WHERE url = ?", (url,)
        ).fetchone()
        return FetchedPage(url, depth, json.loads(headers), retrieved, zlib.decompress(body or b""), bool(cut))

    def left_out(self) -> list[tuple[str, str, str]]:
        """Return address, state and reason of pages that were not read, sorted."""
        return self._database.execute(
            "SELECT url, state, reason FROM pages WHERE state IN ('failed', 'skipped') ORDER BY url"
        ).fetchall()

    def limited(self) -> list[tuple[str, str, int]]:
        """Return each limit that left pages out, with the first of them and their number."""
        marks = ", ".join("?" * len(LIMITS))
        return self._database.execute(
            "SELECT reason, min(url), count(*) FROM pages"
            f" WHERE state = 'skipped' AND reason IN ({marks}) GROUP BY reason",
            LIMITS,
        ).fetchall()

    def counts(self) -> Mapping[str, int]:
        """Return the number of pages of each state."""
        return dict(self._database.execute("SELECT state, count(*) FROM pages GROUP BY state").fetchall())

    def _discovered(self, depth: int) -> Iterator[tuple[str, str]]:
        """Yield address and pattern of the discovered pages of a depth, sorted; their states may change meanwhile."""
        after = ""
        while rows := self._database.execute(
            "SELECT url, pattern FROM pages WHERE state = 'discovered' AND depth = ? AND url > ? ORDER BY url LIMIT ?",
            (depth, after, ROWS_AT_ONCE),
        ).fetchall():
            yield from rows
            after = rows[-1][0]

    def _discover(self, urls: Iterable[str], depth: int) -> None:
        self._database.executemany(
            "INSERT INTO pages (url, depth, state, pattern) VALUES (?, ?, 'discovered', ?) ON CONFLICT (url) DO UPDATE"
            " SET depth = CASE state WHEN 'known' THEN excluded.depth ELSE min(depth, excluded.depth) END,"
            " state = 'discovered' WHERE state IN ('discovered', 'known')",
            [(url, depth, pattern(url)) for url in urls],
        )

    @contextmanager
    def _transaction(self) -> Generator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")


def _make_private(file: Path) -> None:
    """Create a file with mode 0600, or give a file of this user that mode. Raises OSError."""
    descriptor = open_file(file, os.O_RDWR | os.O_CREAT)
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)
