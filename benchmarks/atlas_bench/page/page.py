"""The page: sections in order, below what was measured and on what machine. Writes the page and its charts."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from atlas_bench import meter
from atlas_bench.page.section import Section, to_markdown

PAGE, CHARTS = "BENCHMARKS.md", "benchmarks"
OTHERS = ("grep", "rg", "ctags")
WHERE = {"rg": "ripgrep", "ctags": "universal-ctags", "grep": "grep"}
"""Debian packages of the other tools."""


def write_page(folder: Path, sections: Sequence[Section], trees: Sequence[str], command: str, load: float) -> Path:
    """Write the page and its charts below a folder; return the page's path. Charts of other pages are removed."""
    charts = folder / CHARTS
    shutil.rmtree(charts, ignore_errors=True)
    charts.mkdir(parents=True)
    for section in sections:
        for name, svg in section.charts.items():
            (charts / name).write_text(svg, encoding="utf-8")
    page = folder / PAGE
    page.write_text(
        "\n".join([_head(trees, command, load), *(to_markdown(each, CHARTS) for each in sections)]), encoding="utf-8"
    )
    return page


def _head(trees: Sequence[str], command: str, load: float) -> str:
    found = [name for name in OTHERS if shutil.which(name)]
    missing = [f"{name} (Debian package {WHERE[name]})" for name in OTHERS if name not in found]
    return "\n".join(
        [
            "# Benchmarks",
            "",
            "Written by the command below; every section names its own. All numbers are of one run on one machine.",
            "",
            f"```\n{command}\n```",
            "",
            f"* {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores ({platform.machine()}, {platform.system()}), "
            f"Python {platform.python_version()}; load average {load:.1f} at the beginning, "
            f"{meter.load_average():.1f} at the end. Above the number of cores, wall times say little.",
            f"* Trees: {', '.join(trees)}.",
            f"* Other tools of the same run: {', '.join(found) or 'none'}."
            + (f" Not installed: {', '.join(missing)}." if missing else ""),
            "",
        ]
    )
