"""What an honest client gets while 1,000 connections of each hostile kind are held: `python -m tests.bench.hostile_clients PATH`.

PATH is a project; it is indexed into a temporary folder. For each kind: errors, p50 and p95 of the honest client in ms,
and what the server's resident memory grew by over its value before any attack, at most, in MB.
"""

from __future__ import annotations

import argparse
import secrets
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from tests.surfaces.honest import ask_often
from tests.surfaces.hostile import KINDS, hostile
from tests.surfaces.http_server import http_server
from tests.surfaces.processes import Place, atlas


def rss_mb(process: int) -> float:
    """Resident memory of a process and its children."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,rss="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return sum(int(row[2]) for row in rows if str(process) in row[:2]) / 1024


class Peak:
    """The most memory that a process had while a block ran."""

    def __init__(self, process: int) -> None:
        self._process, self._done = process, threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.mb = 0.0

    def _look(self) -> None:
        while not self._done.wait(0.1):
            self.mb = max(self.mb, rss_mb(self._process))

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--only", default="", help="kinds whose name contains this")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=100)
    parser.add_argument("--workers", default="1")
    asked = parser.parse_args()
    token = secrets.token_urlsafe(32)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(asked.path.resolve(), Path(folder) / "data")
        atlas("index", str(place.root), "--data-dir", str(place.data), timeout=1800).check_returncode()
        print(f"{'kind':24}{'errors':>8}{'p50 ms':>9}{'p95 ms':>9}{'+MB':>8}", flush=True)
        for name in ["none", *(one for one in KINDS if asked.only in one)]:
            is_asked = name == "no token"
            env = {"ATLAS_MCP_TOKEN": token} if is_asked else {}
            given = token if is_asked else ""
            with http_server(place, "--workers", asked.workers, **env) as served:
                ask_often(served.port, 20, token=given)
                before = rss_mb(served.process.pid)
                with Peak(served.process.pid) as peak:
                    if name == "none":
                        seen = ask_often(served.port, asked.requests)
                    else:
                        with hostile(served.port, name, asked.count):
                            seen = ask_often(served.port, asked.requests, token=given)
                            time.sleep(1)
            line = f"{name:24}{len(seen.errors):8}{seen.p50:9.1f}{seen.p95:9.1f}{peak.mb - before:8.0f}"
            print(line, seen.errors[0][:150] if seen.errors else "", flush=True)


if __name__ == "__main__":
    main()
