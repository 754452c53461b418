"""Progress bars of `atlas pack`."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

from atlas.cli import output

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from rich.progress import TaskID

    from atlas.packs.documentation.sources.values import CollectProgress

PHASES = {
    "download": "downloading",
    "fetch": "fetching",
    "read": "reading",
    "model": "asking the language model",
    "extract": "extracting",
    "embed": "embedding",
    "write": "writing",
    "calibrate": "calibrating",
    "done": "read",
}


def pack_progress() -> AbstractContextManager[Callable[[CollectProgress], None]]:
    """Return a progress bar on a terminal; nothing is shown elsewhere."""
    if not sys.stderr.isatty():
        from atlas.packs.build import no_report

        return nullcontext(no_report)
    return _Bars()


class _Bars:
    """One progress bar for each source and phase, on standard error."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description:<40}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=output.console(stderr=True), transient=True)
        self._tasks: dict[tuple[str, str], TaskID] = {}

    def __enter__(self) -> Callable[[CollectProgress], None]:
        self._progress.start()
        return self._report

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def _report(self, progress: CollectProgress) -> None:
        key = (progress.source, progress.phase)
        if key not in self._tasks:
            text = f"{PHASES.get(progress.phase, progress.phase)} {output.one_line(progress.source)}"[:40]
            self._tasks[key] = self._progress.add_task(text, total=progress.total or None)
        self._progress.update(self._tasks[key], completed=progress.done, total=progress.total or None)
        if progress.problem:
            line = output.one_line(f"{progress.current}: {progress.problem}")
            self._progress.console.print(line)
