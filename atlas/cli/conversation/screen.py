"""The screen of `atlas chat`: rendered Markdown, one line per tool call, questions to the user."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from rich.markdown import Markdown
from rich.padding import Padding
from rich.text import Text

from atlas.chat.content import Content, printable
from atlas.chat.routes import ToolRoute
from atlas.cli.conversation.blocks import Blocks
from atlas.cli.conversation.forms import fill_form

if TYPE_CHECKING:
    import mcp_types as types
    from rich.console import Console
    from rich.status import Status

MAX_SHOWN = 160
"""Characters of arguments, results and progress messages on one line."""

Ask = Callable[[str], Awaitable[str]]
"""Asks the user for a line. Raises EOFError or KeyboardInterrupt if he does not answer."""


class TerminalScreen:
    """`atlas.chat.turn.Screen` and `atlas.chat.connection.Host` on a terminal."""

    def __init__(self, console: Console, ask: Ask, *, allow_all: bool, code_theme: str = "ansi_dark") -> None:
        self._console, self._ask, self._allow_all, self._theme = console, ask, allow_all, code_theme
        self._blocks = Blocks()
        self._status: Status | None = None
        self._always: set[str] = set()
        self._never: set[str] = set()

    def waiting(self, text: str = "thinking") -> None:
        """Show that the model or a server is being waited for."""
        if self._status is None and self._console.is_terminal:
            self._status = self._console.status(text)
            self._status.start()
        elif self._status is not None:
            self._status.update(text)

    def idle(self) -> None:
        """Show that nothing is waited for."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def text(self, delta: str) -> None:
        """Render the blocks that are complete."""
        for block in self._blocks.feed(printable(delta)):
            self._render(block)

    def end_text(self) -> None:
        """Render what is left."""
        rest = self._blocks.end()
        if rest:
            self._render(rest)

    def notice(self, text: str) -> None:
        """Print a remark."""
        self._console.print(Text(f"- {printable(text)}", "dim"))

    def call_started(self, route: ToolRoute, arguments: object) -> None:
        """Print the call."""
        shown = short(json.dumps(arguments, ensure_ascii=False))
        self._console.print(Text.assemble(("> ", "cyan"), (route.name, "bold cyan"), " ", (shown, "dim")))
        self.waiting(f"{route.name}")

    def call_progress(self, route: ToolRoute, done: float, total: float | None, message: str) -> None:
        """Show the progress next to the spinner."""
        share = f" {done:g}/{total:g}" if total else f" {done:g}"
        self.waiting(f"{route.name}{share} {short(message)}".rstrip())

    def call_ended(self, route: ToolRoute, content: Content, *, failed: bool, seconds: float) -> None:
        """Print the first line of the result."""
        lines = content.text.strip().splitlines() or ["(empty)"]
        more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
        style = "red" if failed else "dim"
        self._console.print(Text(f"  {short(lines[0])}{more}  {seconds:.1f} s", style))
        self.waiting()

    async def allow(self, route: ToolRoute, arguments: object) -> bool:
        """Ask once, or follow the earlier answer for this tool."""
        if self._allow_all or route.name in self._always:
            return True
        if route.name in self._never:
            self.notice(f"{route.name} is not called: you answered never")
            return False
        self.idle()
        shown = json.dumps(arguments, ensure_ascii=False, indent=1)
        self._console.print(Text.assemble(("? ", "yellow"), (route.name, "bold"), f" of {route.server.spec.name}"))
        self._console.print(Padding(Text(printable(shown)[: 10 * MAX_SHOWN]), (0, 2)))
        while True:
            try:
                said = (await self._ask("call it? [y]es, [a]lways, [n]o, ne[v]er: ")).strip().lower()
            except (EOFError, KeyboardInterrupt):
                return False
            if said in ("y", "yes"):
                return True
            if said in ("n", "no", ""):
                return False
            if said in ("a", "always"):
                self._always.add(route.name)
                return True
            if said in ("v", "never"):
                self._never.add(route.name)
                return False
            self._console.print(Text(f"not understood: {printable(said)[:40]}", "dim"))

    async def elicit(self, server: str, params: types.ElicitRequestParams) -> types.ElicitResult:
        """Let the user answer a question of a server."""
        self.idle()
        return await fill_form(server, params, self._ask, lambda line: self._console.print(Text(printable(line))))

    def log(self, server: str, level: str, text: str) -> None:
        """Print a log message of a server."""
        self._console.print(Text(f"[{server}] {level}: {short(text)}", "dim"))

    def _render(self, block: str) -> None:
        self.idle()
        self._console.print(Markdown(block, code_theme=self._theme, hyperlinks=False))
        self._console.print()


def short(text: str) -> str:
    """Return text as one line of limited length."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= MAX_SHOWN else f"{line[: MAX_SHOWN - 1]}…"
