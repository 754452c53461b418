"""Ten processes that write at once, and writers that are killed; `tests.bench.note_writers` does it on a large scale."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bench.note_writers import count, text

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.note_writers", "--processes", "10", "--notes", "100", "--kills", "20"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_ten_writers_lose_and_double_nothing(report: dict[str, Any]) -> None:
    written = report["writers"]
    assert (written["failed"], written["lost"], written["doubled"], written["broken"]) == (0, 0, 0, [])
    assert written["found"] == written["expected"] == 1000
    assert written["entities"] == 6, "the shared entity and five topics, whoever wrote about them first"
    assert written["drafts"] == 0


def test_killed_writers_lose_nothing_and_their_repeated_calls_double_nothing(report: dict[str, Any]) -> None:
    killed = report["kills"]
    assert (killed["failed"], killed["lost"], killed["doubled"], killed["broken"]) == (0, 0, 0, [])
    assert killed["acknowledged"] >= 5, "the last writer is not killed"
    assert killed["found"] == killed["expected"] == killed["acknowledged"]


def test_the_count_notices_what_is_lost_doubled_and_broken(tmp_path: Path) -> None:
    folder = tmp_path / ".knowledge"
    folder.mkdir()
    note = f"---\nid: c-01JD2V9Q7K4M8N3P5R6S7T8V9A\nkind: claim\n---\n{text(0, 0)}\n"
    (folder / "a.md").write_text(note)
    (folder / "b.md").write_text(note)
    (folder / "c.md").write_text("---\nid: c-01JD2V9Q7K4M8N3P5R6S7T8V9B\nki")
    found = count(tmp_path, [text(0, 0), text(0, 1)])
    assert (found["lost"], found["doubled"], len(found["broken"])) == (1, 2, 1), "one text and one id are doubled"
