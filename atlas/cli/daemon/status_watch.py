"""`atlas status --watch`: refresh the status every second until Ctrl-C, on a terminal in place."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from atlas.answers.answer import to_dict
from atlas.answers.evidence import Evidence
from atlas.app.health import look_at_daemon
from atlas.app.session import Session
from atlas.app.toolsets import BY_NAME
from atlas.cli import output
from atlas.code.tools.state.report import StatusAnswer
from atlas.core.errors import AtlasError
from atlas.core.wording import counted

if TYPE_CHECKING:
    from atlas.runtime.config.load import Settings

REFRESH_SECONDS = 1.0

COUNT_SHARE = 4
"""Counting a store during writes takes up to a second, so the next count waits this multiple of its duration, ..."""
LONGEST_PAUSE = 5.0
"""... but at most this many seconds."""


def watch(settings: Settings, arguments: Mapping[str, object], *, as_json: bool) -> None:
    """Show the status until interrupted; the last state stays on the screen."""
    shown = _show_json if as_json else _show_live if sys.stdout.isatty() else _show_lines
    try:
        asyncio.run(shown(settings, arguments))
    except KeyboardInterrupt:
        return


async def states(settings: Settings, arguments: Mapping[str, object]) -> AsyncIterator[StatusAnswer]:
    """Yield the status every `REFRESH_SECONDS`; an error becomes a note, and the next refresh tries again."""
    loop = asyncio.get_running_loop()
    session, answer, count_at = Session(settings), _nothing(settings, ""), 0.0
    try:
        while True:
            started = loop.time()
            if started >= count_at:
                answer, session = await _answer(settings, session, arguments)
                count_at = started + min(COUNT_SHARE * (loop.time() - started), LONGEST_PAUSE)
            else:
                answer = replace(answer, daemon=await look_at_daemon(settings))
            yield answer
            await asyncio.sleep(max(0.0, started + REFRESH_SECONDS - loop.time()))
    finally:
        await session.aclose()


async def _answer(
    settings: Settings, session: Session, arguments: Mapping[str, object]
) -> tuple[StatusAnswer, Session]:
    """Return the status and the session for the next call: after an error a new session, which reopens the store."""
    try:
        return cast("StatusAnswer", await session.answer(BY_NAME["status"], arguments)), session
    except AtlasError as error:
        await session.aclose()
        answer = _nothing(settings, f"{error.message} {error.hint}".strip())
        return replace(answer, daemon=await look_at_daemon(settings)), Session(settings)


def _nothing(settings: Settings, note: str) -> StatusAnswer:
    evidence = Evidence(settings.project_name, 0, "", "", (), "", 0, 0, (note,) if note else ())
    return StatusAnswer("status", (), (), evidence)


async def _show_json(settings: Settings, arguments: Mapping[str, object]) -> None:
    async for answer in states(settings, arguments):
        print(output.json_text({"at": time.time(), **_object(answer)}), flush=True)


async def _show_lines(settings: Settings, arguments: Mapping[str, object]) -> None:
    async for answer in states(settings, arguments):
        print(output.one_line(watch_text(answer, time.strftime("%H:%M:%S"))), flush=True)


async def _show_live(settings: Settings, arguments: Mapping[str, object]) -> None:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    from atlas.cli.daemon.status_view import Rates, live_parts

    # Unlike the console of answers, this one wraps: a cut line could not be scrolled to.
    console, rates = Console(highlight=False, markup=False, emoji=False), Rates()
    with Live(Text("..."), console=console, auto_refresh=False) as live:
        async for answer in states(settings, arguments):
            if answer.daemon is not None:
                rates.take(answer.daemon, time.monotonic())
            clock, ascii_only = time.strftime("%H:%M:%S"), console.options.ascii_only
            live.update(Group(*live_parts(answer, rates, clock, console.width, ascii_only=ascii_only)), refresh=True)


def watch_text(answer: StatusAnswer, clock: str) -> str:
    """Return the state on one line."""
    daemon = answer.daemon
    words = [clock, f"daemon {daemon.detail}" if daemon else "daemon unknown"]
    for tier in daemon.tiers if daemon else ():
        dead = f" {tier.dead} dead" if tier.dead else ""
        words.append(f"| {tier.tier} {tier.waiting} waiting {tier.pending} pending{dead} {tier.rate:.1f}/s")
    watched = {watch.project: watch for watch in daemon.projects} if daemon else {}
    for project in answer.projects:
        live = watched.get(project.project)
        stale_files = live.stale_files if live else project.stale_files
        stale = f"{counted(stale_files, 'stale file')} {counted(project.stale_symbols, 'stale symbol')}"
        words.append(f"| {project.project} @{project.generation} {counted(project.files, 'file')} {stale}")
    words += [f"| {note}" for note in answer.evidence.notes]
    return " ".join(words)


def _object(answer: StatusAnswer) -> dict[str, object]:
    return cast("dict[str, object]", to_dict(answer))
