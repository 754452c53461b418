"""The loop of a chat in a terminal: read a line, run a command or answer a question, until the end.

Ctrl-C cancels the answer that is being made, which reaches the servers; at the prompt it clears the line. Ctrl-D,
`/quit` and SIGTERM end the chat.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atlas.chat.session import ChatSession
from atlas.chat.turn import Outcome
from atlas.cli import output
from atlas.cli.conversation.commands import Commands
from atlas.cli.conversation.editor import make_editor
from atlas.cli.conversation.screen import TerminalScreen
from atlas.cli.conversation.transcript import write_transcript
from atlas.errors import AtlasError, NotFound

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from rich.console import Console

    from atlas.chat_model import ChatModel

STOPPED = {
    Outcome.ROUNDS: "stopped: the limit of rounds is reached; ask again to go on",
    Outcome.TOKENS: "stopped: the limit of tokens is reached; ask again to go on",
    Outcome.COST: "stopped: the limit of cost is reached; ask again to go on",
}


class Terminal:
    """One chat in a terminal."""

    def __init__(self, console: Console, transcript: Path | None, *, allow_all: bool) -> None:
        self.console, self._transcript = console, transcript
        self.screen = TerminalScreen(console, self.ask, allow_all=allow_all)
        self._editor: PromptSession[str] | None = None
        self._asking = asyncio.Lock()

    async def ask(self, message: str) -> str:
        """Return a line that the user types. Raises EOFError and KeyboardInterrupt."""
        from prompt_toolkit import PromptSession
        from prompt_toolkit.formatted_text import FormattedText

        async with self._asking:
            return await PromptSession[str]().prompt_async(FormattedText([("bold", message)]))

    async def run(self, session: ChatSession, make_model: Callable[[str], ChatModel]) -> None:
        """Talk until the user ends the chat."""
        self._editor = make_editor(session.hub)

        async def run_prompt(name: str, words: list[str]) -> None:
            await self._answer(session.ask_prompt(name, words), session)

        commands = Commands(session, self.console, make_model, run_prompt)
        while True:
            try:
                line = (await self._editor.prompt_async("» ")).strip()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            if not line:
                continue
            try:
                if line.startswith("/") and not line.startswith("//"):
                    if not await commands.run(line):
                        return
                else:
                    await self._answer(session.ask(line), session)
            except AtlasError as error:
                self._show(error)

    async def _answer(self, answering: Coroutine[Any, Any, Outcome], session: ChatSession) -> None:
        """Wait for an answer; Ctrl-C cancels it."""
        loop = asyncio.get_running_loop()
        task = asyncio.create_task(answering)
        loop.add_signal_handler(signal.SIGINT, task.cancel)
        self.screen.waiting()
        try:
            await _finished(task)
            if task.cancelled():
                self.screen.end_text()
                self.console.print("cancelled; the question is forgotten", style="dim")
                return
            outcome = task.result()
            if outcome in STOPPED:
                self.screen.notice(STOPPED[outcome])
        except AtlasError:
            self.screen.end_text()
            raise
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            self.screen.idle()
            if self._transcript is not None:
                write_transcript(self._transcript, session.conversation.messages, replace=True)

    def _show(self, error: AtlasError) -> None:
        self.console.print(f"error: {output.one_line(error.message)}", style="red")
        if isinstance(error, NotFound) and error.near:
            self.console.print(f"near:  {', '.join(error.near)}")
        if error.hint:
            self.console.print(f"hint:  {output.sentence(output.one_line(error.hint))}")


async def _finished(task: asyncio.Task[Outcome]) -> None:
    """Wait for a task; a cancellation of the caller cancels it and is raised once it has ended."""
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task])
        raise


async def until_signal(work: Awaitable[None]) -> bool:
    """Run `work` until it ends or SIGTERM cancels it; returns whether it was SIGTERM."""
    task = asyncio.ensure_future(work)
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        task.cancel()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not stopped:
            raise
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
    return stopped
