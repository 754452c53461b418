"""One index pass on the command line, with a progress bar on a terminal. Imports nothing heavy."""

from __future__ import annotations

import dataclasses
import gc
import math
import sys
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.cli import output
from atlas.cli.code.index_summary import print_summary
from atlas.core.errors import AtlasError, ConfigError
from atlas.core.wording import counted

if TYPE_CHECKING:
    from rich.progress import TaskID

    from atlas.code.index.events import IndexSummary, Progress
    from atlas.runtime.config.load import Settings

PHASES = {
    "wait": "waiting",
    "scan": "looking for files",
    "parse": "parsing",
    "link": "linking",
    "write": "writing",
    "embed": "embedding",
    "quality": "sentence model",
    "copy": "copying files",
    "vectors": "copying vectors",
    "check": "comparing",
}


def make_index(
    settings: Settings,
    *,
    full: bool = False,
    take_over: bool = False,
    no_wait: bool = False,
    yes: bool = False,
    quality: bool = False,
    as_json: bool = False,
) -> int:
    """Make a pass, print its summary and return the exit code; the parameters are the options of `atlas index`."""
    import asyncio

    # the process ends with the pass, and rows hold no cycles
    gc.disable()
    if not yes:
        _check_root(settings.root)
    patience = 0.0 if no_wait else math.inf
    summary = asyncio.run(run_pass(settings, full=full, take_over=take_over, quality=quality, patience=patience))
    if summary is None:
        import typer  # most passes do without the option parser

        raise typer.Abort
    return print_summary(dataclasses.asdict(summary) | {"phases": dict(summary.phases)}, as_json=as_json)


def _check_root(root: Path) -> None:
    """Return unless this is the home folder or a folder around it, or the user wants that.

    Raises ConfigError without a terminal to ask on, AtlasError after a no.
    """
    home = Path.home().resolve()
    if root != home and root not in home.parents:
        return
    what = "the home folder" if root == home else f"a folder around the home folder {home}"
    if not sys.stdin.isatty():
        raise ConfigError(
            f"{root} is {what}: hardly a project",
            "Give the folder of a project: atlas index PATH. If you mean it, add --yes.",
        )
    import typer

    if not typer.confirm(output.one_line(f"{root} is {what}. Index everything in it?"), err=True):
        raise AtlasError("nothing was indexed", "Give the folder of a project: atlas index PATH.")


async def make_first_index(settings: Settings) -> None:
    """Make the index that a question needs, and say so on standard error. Raises AtlasError."""
    print(
        f"{output.one_line(settings.project_name)} is not indexed yet: indexing it first", file=sys.stderr, flush=True
    )
    if await run_pass(settings, full=False, take_over=False, quality=False, patience=math.inf) is None:
        import typer  # questions do without the option parser

        raise typer.Abort


async def run_pass(
    settings: Settings, *, full: bool, take_over: bool, quality: bool, patience: float
) -> IndexSummary | None:
    """Run the pass; None, after a line that says how far it came, when Ctrl-C or SIGTERM has ended it."""
    import asyncio

    from atlas.app.main import index_project
    from atlas.cli.daemon.interrupt import ended_at_signals

    said = ""
    begun, parsed, wanted = False, 0, 0

    def report(phase: str, done: int, total: int) -> None:
        nonlocal begun, parsed, wanted
        begun = begun or phase == "scan"
        if phase == "parse":
            parsed, wanted = done, total
        shown(phase, done, total)

    def waiting(message: str, seconds: float) -> None:
        nonlocal said
        if message != said:
            said = message
            print(f"waiting: {output.one_line(message)}", file=sys.stderr, flush=True)
        shown("wait", 0, 0)

    def leave() -> None:
        ending.close()
        count = f"{parsed:,} of {counted(wanted, 'file', ',')} are parsed; " if wanted else ""
        # a pass of the daemon, or of another process that this one waited for, goes on
        line = f"{count}`atlas index` continues" if begun else "nothing was done here"
        print(f"Interrupted: {line}", file=sys.stderr, flush=True)

    with ExitStack() as ending:
        shown = ending.enter_context(progress_shown())
        try:
            with ended_at_signals(leave):
                return await index_project(
                    settings,
                    report,
                    full=full,
                    take_over=take_over,
                    patience=patience,
                    waiting=waiting,
                    quality=quality,
                )
        except asyncio.CancelledError:
            leave()
            return None


def progress_shown() -> AbstractContextManager[Progress]:
    """Return a context manager that yields a progress callback, visible if standard error is a terminal."""
    from atlas.code.index.events import no_progress

    return _ProgressBar() if sys.stderr.isatty() else nullcontext(no_progress)


class _ProgressBar:
    """One line per phase on standard error."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description:<18}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bars = Progress(*columns, console=output.console(stderr=True), transient=True)
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Progress:
        """Start drawing."""
        self._bars.start()
        return self._report

    def __exit__(self, *exc: object) -> None:
        """Clear the lines."""
        self._bars.stop()

    def _report(self, phase: str, done: int, total: int) -> None:
        for earlier, task in self._tasks.items():
            if earlier != phase and earlier not in ("embed", "quality"):
                self._bars.stop_task(task)
        if phase not in self._tasks:
            self._tasks[phase] = self._bars.add_task(PHASES.get(phase, phase), total=None)
        self._bars.update(self._tasks[phase], completed=done, total=total or None)
