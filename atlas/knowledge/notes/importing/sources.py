"""Walk the files and folders that are to be imported, and yield what they hold."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from atlas.core.errors import ConfigError
from atlas.knowledge.notes.checks import MAX_FILE
from atlas.knowledge.notes.importing.items import ImportReport, Item, SourcePlace
from atlas.knowledge.notes.importing.pages import read_page
from atlas.knowledge.notes.importing.rows import MAX_INPUT, BadRow, read_rows
from atlas.knowledge.notes.importing.shapes import interpret
from atlas.runtime.process.files import read_file

MAX_FILES = 200_000
"""Files of one import."""
_MAX_DEPTH = 64
_PAGES = (".md", ".markdown")
_ROWS = (".json", ".jsonld", ".jsonl", ".ndjson", ".csv")


def read_sources(paths: Iterable[Path], kind: str, report: ImportReport) -> Iterator[Item]:
    """Yield what the files hold; `kind` is that of files and units that do not say it.

    What cannot be read goes to the report. Raises ConfigError for a path that does not exist.
    """
    for path in paths:
        if not path.exists():
            raise ConfigError(f"{path} does not exist", "Give a file or a folder to import.")
        top = path.resolve()
        in_vault = (top / ".obsidian").is_dir()
        if not top.is_dir():
            yield from _file(top, f"{top.parent.name}/{top.name}", str(path), kind, report)
            continue
        for count, file in enumerate(_files(str(top), 0, report)):
            shown = str(path / os.path.relpath(file, top))
            if count == MAX_FILES:
                report.refuse(SourcePlace(shown, 1), f"there are more than {MAX_FILES:,} files", "Import part by part.")
                break
            # the folder's own name may say what its files are
            name = Path(top.name, os.path.relpath(file, top)).as_posix()
            yield from _file(Path(file), name, shown, kind, report, in_vault=in_vault)


def _file(
    file: Path, name: str, shown: str, kind: str, report: ImportReport, *, in_vault: bool = False
) -> Iterator[Item]:
    name, shown = _printable(name), _printable(shown)
    suffix = file.suffix.lower()
    if suffix not in (*_ROWS, *_PAGES):
        report.refuse(SourcePlace(shown, 1), f"files {suffix or 'without ending'} are not imported", _HINT)
        return
    try:
        data = read_file(file, MAX_FILE if suffix in _PAGES else MAX_INPUT, own=False)
    except OSError as error:
        report.refuse(
            SourcePlace(shown, 1), f"the file cannot be read: {error.strerror}", "Split it, or check its rights."
        )
        return
    if suffix in _PAGES:
        try:
            yield from read_page(data, name, shown, kind, in_vault=in_vault)
        except ConfigError as error:
            report.refuse(SourcePlace(shown, 1), error)
        return
    for row in read_rows(data, name):
        if isinstance(row, BadRow):
            report.refuse(SourcePlace(shown, row.line), row.message, "Correct the file.")
            continue
        try:
            yield from interpret(row, shown, kind)
        except ConfigError as error:
            report.refuse(SourcePlace(shown, row.line), error)


_HINT = f"Give {', '.join(_ROWS)} or .md files."


def _files(folder: str, depth: int, report: ImportReport) -> Iterator[str]:
    """Yield the files below a folder that can be imported, sorted; hidden ones are left out."""
    try:
        with os.scandir(folder) as found:
            ordered = sorted(found, key=lambda one: one.name)
    except OSError as error:
        report.refuse(
            SourcePlace(_printable(folder), 1), f"the folder cannot be read: {error.strerror}", "Check its rights."
        )
        return
    for one in ordered:
        is_wanted = one.name.lower().endswith((*_ROWS, *_PAGES)) and not one.name.startswith(".")
        if is_wanted and one.is_symlink():
            report.refuse(
                SourcePlace(_printable(one.path), 1), "symbolic links are not followed", "Give the file itself."
            )
        elif one.is_dir(follow_symlinks=False) and not one.name.startswith(".") and depth < _MAX_DEPTH:
            yield from _files(one.path, depth + 1, report)
        elif is_wanted and one.is_file(follow_symlinks=False):
            yield one.path
        elif one.is_file(follow_symlinks=False) and not one.name.startswith("."):
            suffix = Path(one.name).suffix.lower()
            report.leave_out(suffix or "without ending")


def _printable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
