"""`atlas status --watch`: what people see of a working daemon, on a terminal and in a pipe, until they have seen enough."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest
from rich.console import Console, Group

from atlas.answers.evidence import Evidence
from atlas.cli.daemon.status_view import CURVE, PLAIN_CURVE, Rates, live_parts
from atlas.cli.daemon.status_watch import watch_text
from atlas.code.tools.cypher_answers import SchemaEntry
from atlas.code.tools.state.daemon import DaemonStatus, TierStatus, WatchStatus
from atlas.code.tools.state.report import ProjectStatus, StatusAnswer

from .daemons import Home, home, until
from .processes import COMMAND, atlas, environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the daemon needs Linux or macOS")

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def daemon(events: int = 0, told_ago: float = 0.0, pid: int = 7, **changes: object) -> DaemonStatus:
    tier = TierStatus("ast", "atlas:ast-dirty", 12, 4, 8, 0, True, 2.5, events, 3, False, "", 0, "", 2, 0.0041, 5.0)
    watch = WatchStatus("shop", True, "watching", "", 3, "2027-01-15T07:00:00+00:00", 75.0, 0.012, 0)
    whole = DaemonStatus(
        "running",
        "running, idle",
        "",
        pid,
        "0.1.0",
        "2027-01-15T07:00:00+00:00",
        180 << 20,
        told_ago,
        (tier,),
        (watch,),
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


def answer(state: DaemonStatus, *notes: str) -> StatusAnswer:
    project = ProjectStatus(
        "shop", "/shop", 1234, "2027-01-15T07:00:00+00:00", 12_500, 300_000, 2_254_156, 1, 1, 300_000, 299_000, "m",
        0, 1, (), (), (), "", "", symbols=256_744, stale_files=17, stale_symbols=1_000,
        decisions=(SchemaEntry("body", "", 41), SchemaEntry("layout", "", 1_002)),
    )  # fmt: skip
    evidence = Evidence("shop", 1234, "", "", (), "cl100k_base", 0, 0, notes)
    return StatusAnswer("status", (project,), (), evidence, state)


def drawn(state: DaemonStatus, width: int, *notes: str, ascii_only: bool = False) -> list[str]:
    """The lines that a person sees."""
    rates = Rates()
    for second, events in enumerate((0, 10, 10, 30, 35)):
        rates.take(daemon(events), float(second))
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=width, file=nowhere, highlight=False, markup=False)
        console.print(Group(*live_parts(answer(state, *notes), rates, "12:00:00", width, ascii_only=ascii_only)))
        return [line.rstrip() for line in console.export_text().splitlines()]


# --- the view ---


@pytest.mark.parametrize("width", [80, 100, 120, 140, 200])
def test_the_view_fits_the_terminal_and_cuts_no_number(width: int) -> None:
    lines = drawn(daemon(35), width)
    text = "\n".join(lines)
    assert max(map(len, lines)) <= width
    assert "…" not in text
    assert lines[0].startswith("12:00:00  daemon running, idle (pid 7 since 2027-01-15T07:00:00+00:00")
    (tier,) = [line.split() for line in lines if line.startswith("ast ")]
    assert tier[-8:] == ["2", "in", "4", "ms,", "5", "s", "ago", "0"]
    assert ("ast-dirty" in tier) is (width >= 120)
    (project,) = [line.split() for line in lines if line.startswith("shop ")]
    shown = ["shop", "12,500", "256,744", "2,254,156", "0", "1,000", "1,234", "75", "s", "ago", "watching"]
    assert project == shown, "stale files are those that the daemon tells: the counts of the store may be older"
    assert "shop: changes by reason: body 41, layout 1,002" in text


def test_the_curve_is_of_the_last_seconds_and_its_highest_is_the_highest_sign() -> None:
    rates = Rates()
    for second, events in enumerate((5, 15, 15, 35, 40)):
        rates.take(daemon(events), 100.0 + second)
        rates.take(daemon(events, told_ago=0.01), 100.01 + second)  # the same state, read twice
    assert rates.curve("ast") == "▅▁█▄"
    assert rates.curve("ast", PLAIN_CURVE) == "=_#-"
    assert rates.curve("graph") == ""
    rates.take(daemon(3, pid=8), 200.0)
    rates.take(daemon(4, pid=8), 201.0)
    assert rates.curve("ast") == "▅▁█▄▂", "another daemon counts from nothing"
    for second in range(100):
        rates.take(daemon(4 + second, pid=8), 300.0 + second)
    assert rates.curve("ast") == CURVE[-1] * 30


def test_a_terminal_that_knows_ascii_only_gets_ascii_curves() -> None:
    (tier,) = [line for line in drawn(daemon(35), 120, ascii_only=True) if line.startswith("ast ")]
    assert "=_#-" in tier
    assert tier.isascii()


def test_troubles_are_said_in_words() -> None:
    tier = replace(daemon().tiers[0], waits_for="disk is full", errors=3, last_error="ValueError: no", dead=2)
    watch = replace(daemon().projects[0], mode="polling", reason="too few inotify watches")
    text = "\n".join(drawn(daemon(tiers=(tier,), projects=(watch,)), 120, "no index: run atlas index"))
    assert "ast waits for: disk is full" in text
    assert "ast: last error: ValueError: no" in text
    assert "2 dead letters: atlas dead-letters list" in text
    assert "shop: polling: too few inotify watches; last full scan" in text
    assert "no index: run atlas index" in text


def test_a_killed_daemon_tells_nothing_of_its_tiers() -> None:
    tier = TierStatus("ast", "atlas:ast-dirty", 12, 4, 8, 0)
    gone = DaemonStatus(
        "gone", "gone: process 7 ended without a clean shutdown", "atlas daemon start", 7, tiers=(tier,)
    )
    lines = drawn(gone, 120)
    assert "-> atlas daemon start" in lines[0]
    (row,) = [line.split() for line in lines if line.startswith("ast ")]
    assert row[:6] == ["ast", "ast-dirty", "12", "4", "8", "0"]
    assert "batch" not in " ".join(row)
    (project,) = [line.split() for line in lines if line.startswith("shop ")]
    assert project[-1] == "nobody"


def test_the_line_of_a_pipe() -> None:
    assert watch_text(answer(daemon()), "12:00:00") == (
        "12:00:00 daemon running, idle | ast 4 waiting 8 pending 2.5/s | "
        "shop @1234 12500 files 0 stale files 1000 stale symbols"
    )


# --- the command ---


@contextmanager
def watching(place: Home, *options: str) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """`atlas status --watch` in a pipe."""
    process = subprocess.Popen(
        [*COMMAND, "status", "--watch", *options],
        cwd=place.root,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout
    finally:
        process.kill()
        process.communicate()


def next_with(lines: IO[str], words: str, most: int = 30) -> str:
    """The next line that holds these words; the command prints one a second."""
    seen: list[str] = []
    for line in lines:
        if words in line:
            return line
        seen.append(line)
        assert len(seen) < most, seen
    raise AssertionError(f"ended without {words!r}: {seen}")


def test_in_a_pipe_a_line_a_second_and_the_daemon_when_it_appears(tmp_path: Path) -> None:
    with home(tmp_path) as place, watching(place) as (process, lines):
        assert "first is not indexed yet" in next_with(lines, "daemon not running")
        atlas("index", cwd=place.root)
        assert "| first @" in next_with(lines, "1 file 0 stale files 0 stale symbols")
        place.run("daemon", "start")
        next_with(lines, "daemon running, idle | graph 0 waiting 0 pending")
        (place.root / "pkg" / "two.py").write_text("def gamma():\n    return 2\n")
        assert "daemon running" in next_with(lines, "2 files 0 stale files")
        place.run("daemon", "stop")
        next_with(lines, "daemon not running: each answer checks the tree first | first @")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, err) == (0, ""), out


def test_json_is_one_document_a_line(tmp_path: Path) -> None:
    with home(tmp_path) as place:
        place.run("daemon", "start")
        with watching(place, "--json") as (process, lines):
            first, second = json.loads(lines.readline()), json.loads(lines.readline())
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
        assert process.returncode == 0
        assert first["at"] < second["at"]
        assert second["daemon"]["state"] == "running"
        assert [tier["tier"] for tier in second["daemon"]["tiers"]] == ["graph", "ast", "embed"]
        assert second["projects"][0]["files"] == 1


def test_on_a_terminal_the_view_is_drawn_in_place_and_stays_after_ctrl_c(tmp_path: Path) -> None:
    with home(tmp_path) as place:
        place.run("daemon", "start")
        code, shown = watched_on_terminal(place, until_shown="daemon running", seconds=4)
    assert code == 0, shown
    assert "\x1b[?1049h" not in shown, "no alternate screen: the last view must stay"
    assert "\x1b[1A" in shown, "each view is drawn over the one before"
    last = ESCAPE.sub("", re.split(r"(?:\x1b\[1A\x1b\[2K)+", shown)[-1])
    assert "daemon running, idle" in last
    assert re.search(r"\bgraph +file-changed +0 +0 +0 +0 ", last)
    assert re.search(r"\bfirst +1 +\d+ +\d+ +0 +0 +\d+ +.* ago +watching", last)
    assert shown.endswith("\x1b[?25h"), "the cursor is back"


def watched_on_terminal(place: Home, until_shown: str, seconds: float) -> tuple[int, str]:
    """Watch on a terminal of 120 columns, press Ctrl-C some seconds after the words were shown; return all of it."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    inherited = {name: value for name, value in environment(TERM="xterm-256color").items() if name != "COLUMNS"}
    process = subprocess.Popen(
        [*COMMAND, "status", "--watch"],
        cwd=place.root,
        env=inherited,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    os.set_blocking(leader, False)
    shown = bytearray()

    def read() -> bool:
        try:
            shown.extend(os.read(leader, 65_536))
        except (BlockingIOError, OSError):
            return False
        return True

    def appeared() -> bool:
        read()
        return until_shown.encode() in shown

    until(appeared, until_shown, 30)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        read()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    until(lambda: not read() and process.poll() is not None, "the end", 20)
    while read():
        pass
    os.close(leader)
    return process.returncode, shown.decode()


def test_watch_and_the_list_of_skipped_files_do_not_go_together(tmp_path: Path) -> None:
    done = atlas("status", "--watch", "--skipped", cwd=tmp_path)
    assert done.returncode == 2
    assert "--watch does not list skipped files" in done.stderr
