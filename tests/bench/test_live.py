"""`atlas bench live` on a small tree: real daemon, real bus, real readers. What it measures is not asserted, that it does is."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from atlas_bench import meter
from atlas_bench.edits import FUNCTIONS, TreeFile, added, check_out, code_files, save
from atlas_bench.live import PARTS, Row
from atlas_bench.observer import p95
from atlas_bench.readers import CONNECTIONS, PROCESSES, TOOLS, Readers

from tests.pipeline.trees import index, write_tree

COMMAND = (sys.executable, "-P", "-m", "atlas", "bench")

FILES = {
    **{f"pkg/m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(20)},
    "web/a.ts": "export function a() {}\n",
    "README.md": "# Read\n\n`pkg.m1.f1`\n",
}


def live(tree: Path, *options: str) -> dict[str, Any]:
    done = subprocess.run([*COMMAND, "live", str(tree), "--json", *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_parts_are_measured_on_a_copy(tmp_path: Path) -> None:
    write_tree(tmp_path / "p", FILES)
    report = live(tmp_path / "p", "--only", "saves,burst", "--saves", "2", "--events", "50")
    rows = {(row["part"], row["what"]): row["value"] for row in report["rows"]}
    assert report["problems"] == []
    assert report["files"] == len(FILES)
    assert {part for part, _ in rows} == {"saves", "burst"}
    assert rows["saves", "files saved"] == 2
    assert 0 < rows["saves", "save to get_node and text_search, p95"] < 15_000
    assert 0 < rows["saves", "save to vector_search, p95"] < 30_000
    assert rows["burst", "files changed"] == len(FILES)
    assert rows["burst", "rows that differ from a clean index"] == 0
    assert rows["burst", "the same with all vectors, after a full scan"] == 0
    assert rows["burst", "daemon, peak RSS during the burst"] > 10
    assert {path: (tmp_path / "p" / path).read_text() for path in FILES} == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


def test_an_unknown_part_is_refused(tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, "live", str(tmp_path), "--only", "idle,all"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "no such part: all" in done.stderr
    assert all(part in done.stderr for part in PARTS)


async def test_readers_ask_until_they_are_stopped(tmp_path: Path) -> None:
    write_tree(tmp_path / "p", FILES)
    await index(tmp_path / "p", tmp_path / "d")
    with Readers(tmp_path / "p", tmp_path / "d") as readers:
        readers.wait()
        asked = readers.stop()
    assert asked.errors == ()
    # each of them answers at least the question it was at when it was stopped
    assert sum(map(len, asked.seconds.values())) >= PROCESSES * CONNECTIONS
    assert set(asked.seconds) == set(TOOLS)
    assert all(seconds > 0 for times in asked.seconds.values() for seconds in times)


def test_a_checkout_gives_every_file_another_end_in_every_round(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "A = 1\n", "b.md": "# B\n"})
    files = [TreeFile("a.py", "python", 6), TreeFile("b.md", "markdown", 4)]
    written = list(check_out(tmp_path, files, 5, random.Random(1)))
    assert [path for path, _ in written] == ["a.py", "b.md", "a.py", "b.md", "a.py"]
    assert len({content for _, content in written}) == 5
    assert all(content.startswith((b"A = 1\n", b"# B\n")) for _, content in written)
    assert (tmp_path / "a.py").read_bytes() == written[4][1]
    assert written[4][1].count(b"def ") == 1


@pytest.mark.parametrize("by_rename", [False, True])
def test_a_save_adds_a_function(tmp_path: Path, by_rename: bool) -> None:
    for language in FUNCTIONS:
        (tmp_path / "file").write_text("before\n")
        one = added(TreeFile("file", language, 7), 3, random.Random(2))
        save(tmp_path, one, language, by_rename=by_rename)
        text = (tmp_path / "file").read_text()
        assert text.startswith("before\n")
        assert one.name in text
        assert one.text in text
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_files_are_chosen_over_all_sizes() -> None:
    files = [TreeFile(f"{size}.py", "python", size) for size in range(100)] + [TreeFile("x.md", "markdown", 50)]
    assert [file.size for file in code_files(files, 4)] == [0, 25, 50, 75]
    assert len(code_files(files, 1000)) == 100


def test_a_process_is_metered() -> None:
    before = meter.cpu_seconds(os.getpid())
    while meter.cpu_seconds(os.getpid()) < before + 0.05:
        sum(range(100_000))
    assert 5 < meter.rss_mb(os.getpid()) < 5000
    assert meter.peak_rss_mb(os.getpid()) >= meter.rss_mb(os.getpid()) - 1
    assert meter.cpu_seconds(2**22 + 1) == 0
    assert meter.rss_mb(2**22 + 1) == 0


def test_targets() -> None:
    assert Row("p", "w", 5.0, "ms").met
    assert Row("p", "w", 5.0, "ms", 5).met
    assert not Row("p", "w", 5.1, "ms", 5).met
    assert p95([1.0]) == 1.0
    assert p95([float(number) for number in range(1, 101)]) == pytest.approx(95.05)
