"""docs/tutorial.md: every command is run in the order of the page, and prints what the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
BLOCKS = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[str, str | None]]:
    """Return (commands, what they print) of the page; None where it shows nothing."""
    found: list[tuple[str, str | None]] = []
    for kind, text in BLOCKS.findall(PAGE.read_text()):
        if kind == "sh":
            found.append((text, None))
        else:
            assert found and found[-1][1] is None, f"no command prints {text!r}"
            found[-1] = (found[-1][0], text)
    return found


def shown(expected: str) -> re.Pattern[str]:
    """Return a pattern for a block of output: `...` is any text, a line of it any lines."""
    lines = [r"(?:[^\n]*\n)*" if line == "..." else as_line(line) for line in expected.splitlines()]
    return re.compile("".join(lines))


def as_line(line: str) -> str:
    """Return a pattern for one line with its end."""
    return "[^\n]*".join(map(re.escape, line.split("..."))) + "\n"


@pytest.mark.slow
def test_every_command_of_the_tutorial_prints_what_the_page_shows(tmp_path: Path) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ATLAS_")},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "ATLAS_MCP_START_DAEMON": "false",
        "COLUMNS": "200",
    }
    folder = tmp_path
    (tmp_path / "home").mkdir()
    asked = steps()
    assert len(asked) > 10
    for commands, expected in asked:
        done = subprocess.run(
            ["bash", "-e", "-c", commands], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, (commands, done.stdout, done.stderr)
        if expected is not None:
            assert shown(expected).fullmatch(done.stdout), f"{commands}\nprints\n{done.stdout}\nnot\n{expected}"
        folder = tmp_path / "shop"
