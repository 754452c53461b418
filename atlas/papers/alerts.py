"""Alerts: saved searches repeated at intervals, and what is new told once, in a file or as a notification.

Titles come from strangers: they go to programs as arguments only, without markup, and to files on one line each.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atlas.core.errors import ConfigError, StoreError
from atlas.core.invisible import escaped
from atlas.core.paper_source import named

if TYPE_CHECKING:
    from atlas.papers.desk import PapersDesk

SYSTEM_PROGRAMS = "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin"
"""Where programs are looked for: `PATH` may lead into the project."""
NOTIFY_SECONDS = 10.0
SHOWN = 3
"""Titles in one notification."""
_APPLE = (
    "-e",
    "on run given",
    "-e",
    "display notification (item 2 of given) with title (item 1 of given)",
    "-e",
    "end run",
)


@dataclass(frozen=True, slots=True)
class PaperAlert:
    """A paper that is new in a topic."""

    topic: str
    id: str
    title: str
    published: str

    @property
    def line(self) -> str:
        """The alert as one line of Markdown, which has no markup of the title."""
        return f"- {self.published[:10]} {named(self.id)} [{self.topic}] {_plain(self.title)}"


async def watch(
    desk: PapersDesk,
    topic: str,
    tell: Callable[[list[PaperAlert], list[str]], Awaitable[None]],
    *,
    rounds: int,
    pause: float,
) -> int:
    """Repeat the saved searches `rounds` times (0: for ever) and tell what is new; return the number of alerts.

    What was told is stored as found, so that no later round, and no later process, tells it again.
    """
    told = done = 0
    while True:
        _, document = await desk.call("check_topics", {"topic": topic})
        alerts = alerts_of(document)
        await tell(alerts, [str(one) for one in document["problems"]])
        told, done = told + len(alerts), done + 1
        if rounds and done >= rounds:
            return told
        await asyncio.sleep(pause)


def alerts_of(document: dict[str, Any]) -> list[PaperAlert]:
    """Return the new papers in an answer of `check_topics`, each once."""
    found = {
        paper["id"]: PaperAlert(row["topic"], paper["id"], paper["title"], paper.get("published", ""))
        for row in document["topics"]
        for paper in row["new"]
    }
    return list(found.values())


def append(path: Path, alerts: list[PaperAlert]) -> None:
    """Add alerts to the end of a file. Raises StoreError."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{alert.line}\n" for alert in alerts)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}", "Give --file another path.") from error


def notifier() -> tuple[str, ...]:
    """Return the program that shows notifications, with its first arguments. Raises ConfigError without one."""
    if sys.platform == "darwin" and (program := shutil.which("osascript", path=SYSTEM_PROGRAMS)):
        return (program, *_APPLE)
    if program := shutil.which("notify-send", path=SYSTEM_PROGRAMS):
        return (program, "--app-name=Code Atlas", "--")
    raise ConfigError("no program shows notifications here", "Install libnotify (notify-send), or give --file.")


async def notify(program: tuple[str, ...], alerts: list[PaperAlert]) -> None:
    """Show one notification for all alerts. Raises StoreError if the program fails."""
    titles = [_plain(alert.title) for alert in alerts[:SHOWN]]
    more = [f"and {len(alerts) - SHOWN} more"] if len(alerts) > SHOWN else []
    text = "\n".join((*titles, *more))
    text = text if program[0].endswith("osascript") else escape(text, quote=False)
    nothing = asyncio.subprocess.DEVNULL
    said = (f"{len(alerts)} new paper{'s' if len(alerts) > 1 else ''}", text)
    process = await asyncio.create_subprocess_exec(*program, *said, stdin=nothing, stdout=nothing, stderr=nothing)
    try:
        code = await asyncio.wait_for(process.wait(), NOTIFY_SECONDS)
    except TimeoutError:
        process.kill()
        code = await process.wait()
    if code:
        raise StoreError(f"{program[0]} ended with {code}", "Give --file instead.")


def _plain(title: str) -> str:
    return " ".join(escaped(title).split())
