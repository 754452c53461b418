"""How the cost of an index grows: an eighth, a quarter, half and all files of a tree, each indexed from nothing."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from atlas.parsing import load_languages
from atlas.parsing.scanning import scan_project
from atlas_bench.process import Cost, folder_mb, run

SHARES = (0.125, 0.25, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class GrowthRow:
    """One index of a part of the tree."""

    files: int
    lines: int
    cost: Cost
    store_mb: float


def bench_growth(tree: Path) -> list[GrowthRow]:
    """Index growing parts of a tree. The same files are in every larger part. Raises AtlasError if a pass fails."""
    paths = sorted((file.path for file in scan_project(tree, load_languages()).files), key=_draw)
    rows: list[GrowthRow] = []
    for share in SHARES:
        with tempfile.TemporaryDirectory(prefix="atlas-growth-") as scratch:
            part, data = Path(scratch) / tree.name, Path(scratch) / "data"
            chosen = paths[: max(1, round(len(paths) * share))]
            lines = 0
            for path in chosen:
                (part / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(tree / path, part / path)
                lines += (part / path).read_bytes().count(b"\n")
            cost, _ = run(["index", str(part), "--data-dir", str(data), "--json"])
            rows.append(GrowthRow(len(chosen), lines, cost, folder_mb(data)))
    return rows


def _draw(path: str) -> bytes:
    """Order files as if at random, but the same on every machine."""
    return hashlib.blake2b(path.encode("utf8", "surrogateescape"), digest_size=8).digest()
