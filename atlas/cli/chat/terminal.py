"""The loop of a chat in a terminal: read a line, run a command or answer a question, until the end.

Ctrl-C cancels the answer that is being made, which reaches the servers; at the prompt it clears the line, and before
the first prompt it ends the chat. Ctrl-D, `/quit` and SIGTERM end the chat. One handler of SIGINT serves all of it.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.chat.session import ChatSession
from atlas.chat.turn import TurnOutcome
from atlas.cli import output
from atlas.cli.chat.commands import Commands
from atlas.cli.chat.screen import TerminalScreen
from atlas.cli.chat.transcript import write_transcript
from atlas.core.errors import AtlasError, NotFound
from atlas.core.invisible import one_line

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from rich.console import Console

    from atlas.core.language_model import ChatModel

HANGUP, INTERRUPTED, TERMINATED = 129, 130, 143
"""Exit codes after SIGHUP (the terminal is gone), SIGINT and SIGTERM."""

MAX_ERROR = 2000
"""Characters of an error, which may name what a server calls its things."""

STOPPED = {
    TurnOutcome.ROUNDS: "stopped: the limit of rounds is reached; ask again to go on",
    TurnOutcome.TOKENS: "stopped: the limit of tokens is reached; ask again to go on",
    TurnOutcome.COST: "stopped: the limit of cost is reached; ask again to go on",
}


class Terminal:
    """One chat in a terminal."""

    def __init__(self, console: Console, transcript: Path | None, *, allow_all: bool) -> None:
        self.console, self._transcript = console, transcript
        self.screen = TerminalScreen(console, self.ask, allow_all=allow_all)
        self._asking = asyncio.Lock()
        self._prompt: PromptSession[str] | None = None
        self._line: asyncio.Task[bool] | None = None
        self._has_ended = False

    async def ask(self, message: str) -> str:
        """Return a line that the user types. Raises EOFError and KeyboardInterrupt."""
        from prompt_toolkit import PromptSession

        async with self._asking:
            return await self._typed(PromptSession[str](), [("bold", message)])

    def interrupt(self) -> bool:
        """Cancel what goes on, as Ctrl-C does; returns False while the chat is still being started."""
        if self._prompt is not None:
            if self._prompt.app.is_running:
                self._prompt.app.key_processor.send_sigint()
        elif self._line is not None:
            self._line.cancel()
        else:
            return self._has_ended
        return True

    async def run(self, session: ChatSession, make_model: Callable[[str], ChatModel]) -> None:
        """Talk until the user ends the chat."""
        from atlas.cli.chat.editor import make_editor

        editor = make_editor(session.hub)

        async def run_prompt(name: str, words: list[str]) -> None:
            await self._answer(session.ask_prompt(name, words))

        commands = Commands(session, self.console, make_model, run_prompt)
        try:
            while True:
                try:
                    line = (await self._typed(editor, [("", "» ")])).strip()
                except KeyboardInterrupt:
                    continue
                except EOFError:
                    return
                if line and not await self._done(line, session, commands):
                    return
        finally:
            self._has_ended = True

    async def _typed(self, editor: PromptSession[str], message: list[tuple[str, str]]) -> str:
        from prompt_toolkit.formatted_text import FormattedText

        outer, self._prompt = self._prompt, editor
        try:
            # an editor that handles the signal itself would leave it without a handler afterwards
            return await editor.prompt_async(FormattedText(message), handle_sigint=False)
        finally:
            self._prompt = outer

    async def _done(self, line: str, session: ChatSession, commands: Commands) -> bool:
        """Run a command or answer a question, which Ctrl-C cancels; returns whether the chat goes on."""
        self._line = asyncio.create_task(self._understood(line, session, commands))
        try:
            await _finished(self._line)
            if self._line.cancelled():
                self.screen.end_text()
                self.console.print("cancelled; the question is forgotten", style="dim")
                return True
            return self._line.result()
        except AtlasError as error:
            self.screen.end_text()
            self._show(error)
            return True
        finally:
            self._line = None

    async def _understood(self, line: str, session: ChatSession, commands: Commands) -> bool:
        if line.lower() in ("quit", "exit"):
            return False
        if line.startswith("/") and not line.startswith("//"):
            going_on = await commands.run(line)
        else:
            await self._answer(session.ask(line))
            going_on = True
        if self._transcript is not None:
            write_transcript(self._transcript, session.conversation.messages, replace=True)
        return going_on

    async def _answer(self, answering: Awaitable[TurnOutcome]) -> None:
        """Wait for an answer."""
        self.screen.waiting()
        try:
            outcome = await answering
        finally:
            self.screen.idle()
        if outcome in STOPPED:
            self.screen.notice(STOPPED[outcome])

    def _show(self, error: AtlasError) -> None:
        self.console.print(f"error: {one_line(error.message, MAX_ERROR)}", style="red")
        if isinstance(error, NotFound) and error.near:
            self.console.print(f"near:  {one_line(', '.join(error.near), MAX_ERROR)}")
        if error.hint:
            self.console.print(f"hint:  {output.sentence(one_line(error.hint, MAX_ERROR))}")


async def _finished(task: asyncio.Task[bool]) -> None:
    """Wait for a task; a cancellation of the caller cancels it and is raised once it has ended."""
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task])
        raise


async def until_signal(work: Awaitable[None], interrupt: Callable[[], bool] | None = None) -> int:
    """Run `work` until it ends or SIGTERM or SIGHUP cancels it; returns the exit code, 0 unless a signal ended it.

    `interrupt` is called for SIGINT; where it returns False, SIGINT ends the work as well.
    """
    task = asyncio.ensure_future(work)
    code = 0

    def stop(number: int) -> None:
        nonlocal code
        if not code:
            code = number
            task.cancel()

    loop = asyncio.get_running_loop()
    handled = [signal.SIGTERM]
    loop.add_signal_handler(signal.SIGTERM, stop, TERMINATED)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as under nohup
        handled.append(signal.SIGHUP)
        loop.add_signal_handler(signal.SIGHUP, stop, HANGUP)
    if interrupt is not None:
        handled.append(signal.SIGINT)
        loop.add_signal_handler(signal.SIGINT, lambda: interrupt() or stop(INTERRUPTED))
    try:
        await task
    except asyncio.CancelledError:
        if not code:
            raise
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
    return code
