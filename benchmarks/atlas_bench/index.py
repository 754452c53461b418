"""The cost of indexing a copy of a tree: in full, unchanged, with one file changed, with ten percent changed."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from atlas_bench.process import Cost, folder_mb, run

APPENDED = {
    "python": "\n\ndef atlas_bench_added_{n}(value):\n    return value\n",
    "javascript": "\nfunction atlasBenchAdded{n}(value) {{ return value; }}\n",
    "typescript": "\nfunction atlasBenchAdded{n}(value: number) {{ return value; }}\n",
    "go": "\nfunc atlasBenchAdded{n}(value int) int {{ return value }}\n",
    "rust": "\nfn atlas_bench_added_{n}(value: u32) -> u32 {{ value }}\n",
}
"""Text that changes a file, by language; a comment for other languages."""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One row of the table."""

    case: str
    cost: Cost
    files_parsed: int
    units_written: int
    vectors: int
    store_mb: float


def bench_index(tree: Path) -> list[IndexRow]:
    """Measure the four cases on a copy of `tree`.

    Raises ConfigError for a tree that cannot be indexed and AtlasError if a pass fails.
    """
    with tempfile.TemporaryDirectory(prefix="atlas-bench-") as scratch:
        copy, data = Path(scratch) / "tree", Path(scratch) / "data"
        shutil.copytree(
            tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".atlas", "node_modules", ".venv")
        )
        rows = [_measure("full index", copy, data), _measure("nothing changed", copy, data)]
        files = _indexed_files(copy, data)
        _change(copy, files[len(files) // 2 :][:1], 1)
        rows.append(_measure("1 file changed", copy, data))
        tenth = files[::10]
        _change(copy, tenth, 2)
        rows.append(_measure(f"{len(tenth)} files changed (10 %)", copy, data))
        return rows


def _measure(case: str, tree: Path, data: Path) -> IndexRow:
    cost, output = run(["index", str(tree), "--data-dir", str(data), "--json"])
    summary = json.loads(output)
    return IndexRow(case, cost, summary["parsed"], summary["written"], summary["vectors"], folder_mb(data))


def _indexed_files(tree: Path, data: Path) -> list[tuple[str, str]]:
    """Return (path, language) of the indexed code files, sorted by path."""
    _, output = run(["export", "--format", "jsonl", "--canonical", "--project", str(tree), "--data-dir", str(data)])
    found: set[tuple[str, str]] = set()
    for line in output.splitlines():
        row = json.loads(line)
        if row.get("label") in ("File", "Module", "Package") and row.get("path"):
            found.add((row["path"], row["language"]))
    return sorted(found)


def _change(tree: Path, files: list[tuple[str, str]], number: int) -> None:
    for path, language in files:
        text = APPENDED.get(language, "\n// changed {n}\n").format(n=number)
        with (tree / path).open("a", encoding="utf-8") as file:
            file.write(text)
