"""An interrupted pass ends soon, says how far it came, and the next one goes on there; the result is a whole pass's."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from atlas.code.index.project.parse_journal import ParseJournal
from tests.pipeline.test_crash import project
from tests.pipeline.trees import dump, index, write_tree

FILES = 1500


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_pass_after_an_interrupt_goes_on(tmp_path: Path) -> None:
    root, data, fresh = tmp_path / "p", tmp_path / "d", tmp_path / "fresh"
    write_tree(root, project(FILES, 0))
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        count = _parsed_until(kind, root, data)
    # a changed file is parsed again, though the cache has facts of its path
    (root / "pkg/m0.py").write_text("def other():\n    return 1\n")
    summary = asyncio.run(index(root, data))
    assert 0 < summary.parsed <= FILES - count + 1
    assert not list(data.glob("*.parsed")), "the pass is over"
    asyncio.run(index(root, fresh))
    assert dump(data) == dump(fresh)


def _parsed_until(kind: signal.Signals, root: Path, data: Path) -> int:
    """Interrupt a pass once it has parsed more files; return how many are named in the journal."""
    before = _journalled(data)
    process = subprocess.Popen(
        [sys.executable, "-m", "atlas.cli.main", "index", str(root), "--data-dir", str(data)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while _journalled(data) <= before:
        assert process.poll() is None, "the pass must not end before it is interrupted"
        time.sleep(0.002)
    process.send_signal(kind)
    sent = time.monotonic()
    _, said = process.communicate()
    if kind == signal.SIGKILL:
        return _journalled(data)
    assert time.monotonic() - sent < 5, "half a second, on a machine at work"
    assert process.returncode == 130
    line = re.fullmatch(rf"Interrupted: ([\d,]+) of {FILES:,} files are parsed; `atlas index` continues\n", said)
    assert line is not None, said
    assert before <= int(line[1].replace(",", "")) <= _journalled(data)
    return _journalled(data)


def _journalled(data: Path) -> int:
    return sum(path.read_text().count('.py"') for path in data.glob("*.parsed"))


def test_a_journal_of_other_rules_counts_for_nothing(tmp_path: Path) -> None:
    cache = tmp_path / "facts.bin"
    ParseJournal(cache, "one").add([("a\udc80\n.py", "00")])
    assert ParseJournal(cache, "one").load() == {"a\udc80\n.py": "00"}
    assert ParseJournal(cache, "two").load() == {}
    assert not list(tmp_path.iterdir())


def test_a_full_pass_ignores_the_journal(tmp_path: Path) -> None:
    journal = ParseJournal(tmp_path / "facts.bin", "one")
    journal.add([("a.py", "00")])
    assert journal.load(ignored=True) == {}
    assert not list(tmp_path.iterdir())


def test_a_torn_line_costs_its_files_only(tmp_path: Path) -> None:
    cache = tmp_path / "facts.bin"
    journal = ParseJournal(cache, "one")
    journal.add([("a.py", "00")])
    journal.add([("b.py", "11")])
    file = next(tmp_path.iterdir())
    file.write_bytes(file.read_bytes()[:-5])
    again = ParseJournal(cache, "one")
    assert again.load() == {"a.py": "00"}
    again.add([("c.py", "22")])
    assert again.load() == {"a.py": "00", "c.py": "22"}
