"""`atlas dead-letters list|retry|drop`: events that failed permanently."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from atlas.cli import output
from atlas.cli.options import DataDirOption, JsonOption, ProjectOption, settings_of
from atlas.cli.run import run
from atlas.core.errors import ConfigError, NotFound, Unavailable
from atlas.core.wording import counted

if TYPE_CHECKING:
    from atlas.core.contracts import Bus
    from atlas.core.events import DeadLetter
    from atlas.runtime.config.load import Settings

MOST = 1_000_000
"""More dead letters than a bus keeps."""

Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Ids from `list`.")]
Every = Annotated[bool, typer.Option("--all", help="Every dead letter.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    letters = typer.Typer(name="dead-letters", help="Events that failed permanently, and why.", no_args_is_help=True)
    letters.command("list")(list_letters)
    letters.command("retry")(retry)
    letters.command("drop")(drop)
    app.add_typer(letters)


def list_letters(project: ProjectOption = "", data_dir: DataDirOption = "", json: JsonOption = False) -> None:
    """Show the dead letters, oldest first."""
    letters = run(_list(settings_of(project, data_dir)))
    if json:
        output.print_json({"dead_letters": [_document(letter) for letter in letters]})
        return
    if not letters:
        print("no dead letters")
        return
    columns = ("id", "tier", "project", "path or symbol", "attempts", "when", "reason")
    now = time.time()
    output.console().print(output.table(columns, (_row(letter, now) for letter in letters)))


def retry(
    ids: Ids = None,
    every: Every = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Publish dead letters again, each with its full number of attempts."""
    chosen = _chosen(ids, every=every)
    done, asked = run(_retry(settings_of(project, data_dir), chosen))
    if done < asked:
        raise Unavailable(f"{done} of {asked} published again; the stream is full", "try again when it is shorter")
    _report(json, "retried", done)


def drop(
    ids: Ids = None,
    every: Every = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before deleting all.")] = False,
    project: ProjectOption = "",
    data_dir: DataDirOption = "",
    json: JsonOption = False,
) -> None:
    """Delete dead letters; the next full scan still covers their files."""
    chosen = _chosen(ids, every=every)
    settings = settings_of(project, data_dir)
    if every and not yes and not json and sys.stdin.isatty() and sys.stderr.isatty():
        count = len(run(_list(settings)))
        if count and not typer.confirm(f"Drop {counted(count, 'dead letter')}?", err=True):
            raise typer.Exit(1)
    _report(json, "dropped", run(_drop(settings, chosen)))


def _chosen(ids: Sequence[str] | None, *, every: bool) -> list[str] | None:
    """Return the ids, None for all. Raises ConfigError unless exactly one of the two is given."""
    if bool(ids) == every:
        raise ConfigError("name dead letters by their ids, or give --all", "`atlas dead-letters list` shows the ids.")
    return None if every else list(dict.fromkeys(ids or ()))


async def _list(settings: Settings) -> list[DeadLetter]:
    async with _bus(settings) as bus:
        return await bus.dead_letters(MOST)


async def _retry(settings: Settings, chosen: list[str] | None) -> tuple[int, int]:
    async with _bus(settings) as bus:
        ids = await _known(bus, chosen)
        return await bus.retry(ids), len(ids)


async def _drop(settings: Settings, chosen: list[str] | None) -> int:
    async with _bus(settings) as bus:
        return await bus.drop(await _known(bus, chosen))


async def _known(bus: Bus, chosen: list[str] | None) -> list[str]:
    """Return the selected ids. Raises NotFound if one of them does not exist; then nothing is done."""
    known = [letter.id for letter in await bus.dead_letters(MOST)]
    if chosen is None:
        return known
    unknown = [id for id in chosen if id not in known]
    if unknown:
        names = ", ".join(unknown[:5]) + (", ..." if len(unknown) > 5 else "")
        raise NotFound(f"no dead letter {names}; nothing was done", "`atlas dead-letters list` shows the ids.")
    return chosen


@asynccontextmanager
async def _bus(settings: Settings) -> AsyncGenerator[Bus]:
    from atlas.app.bus import connect_bus_of_running_daemon

    bus = await connect_bus_of_running_daemon(settings)
    if bus is None:
        raise Unavailable("no daemon is running: there is no bus to ask", "start it: atlas daemon start")
    try:
        yield bus
    finally:
        await bus.aclose()


def _report(as_json: bool, verb: str, count: int) -> None:
    if as_json:
        output.print_json({verb: count})
    else:
        print(f"{count} {verb}")


def _row(letter: DeadLetter, now: float) -> list[object]:
    from atlas.code.tools.state.report import ago

    place = _harmless(letter.event.key) or "(everything)"
    when = ago(max(now - letter.at, 0.0))
    return [letter.id, letter.group, letter.event.project, place, letter.attempts, when, _harmless(letter.reason)]


def _document(letter: DeadLetter) -> dict[str, object]:
    from atlas.code.tools.state.worker_report import stamp

    return {
        "id": letter.id,
        "tier": letter.group,
        "stream": letter.stream,
        "project": letter.event.project,
        "key": _harmless(letter.event.key),
        "attempts": letter.attempts,
        "at": stamp(letter.at),
        "reason": _harmless(letter.reason),
    }


def _harmless(text: str) -> str:
    """Return text as one printable line: paths may contain bytes that are not UTF-8."""
    return output.one_line(text.encode("utf-8", "backslashreplace").decode())
