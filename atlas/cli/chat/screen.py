"""The screen of `atlas chat`: rendered Markdown, one line per tool call, questions to the user."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.markdown import Markdown
from rich.padding import Padding
from rich.segment import Segment
from rich.text import Text

from atlas.chat.approvals import Approvals
from atlas.chat.content import Content
from atlas.chat.routes import ToolRoute
from atlas.cli.chat.forms import fill_form
from atlas.core.invisible import one_line, printable
from atlas.core.wording import counted

if TYPE_CHECKING:
    import mcp_types as types
    from rich.status import Status

MAX_SHOWN = 160
"""Characters of arguments, results and progress messages on one line."""

MAX_ARGUMENTS, MAX_CHANGES = 10 * MAX_SHOWN, 40
"""Characters of arguments, and lines of a change, that a question shows unless the user wants to see all."""

MAX_BLOCK, MAX_SECONDS = 8000, 1.0
"""Characters of a block that is rendered, and seconds of rendering of one answer; the rest is shown as it is: the
parsers of some languages take time that grows with the square of a block."""

Ask = Callable[[str], Awaitable[str]]
"""Asks the user for a line. Raises EOFError or KeyboardInterrupt if he does not answer."""

FENCES = ("```", "~~~")


class PrintableConsole(Console):
    """A console on which no text drives the terminal, whoever it is from: only rich's own styles do."""

    def __init__(self) -> None:
        super().__init__(highlight=False, markup=False, emoji=False)
        self.push_render_hook(_AllPrintable())


class _AllPrintable(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Wrap everything that is printed."""
        return [_Printable(one) for one in renderables]


class _Printable:
    """A renderable whose text is printable."""

    def __init__(self, inner: ConsoleRenderable) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._inner, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


class TerminalScreen:
    """`atlas.chat.turn.Screen` and `atlas.chat.servers_user.Host` on a terminal."""

    def __init__(self, console: Console, ask: Ask, *, allow_all: bool, code_theme: str = "ansi_dark") -> None:
        self._console, self._ask, self._allow_all, self._theme = console, ask, allow_all, code_theme
        self._blocks = Blocks()
        self._status: Status | None = None
        self._approvals = Approvals()
        self._dialogue = asyncio.Lock()
        self._seconds = 0.0

    def waiting(self, text: str = "thinking") -> None:
        """Show that the model or a server is being waited for."""
        if self._status is None and self._console.is_terminal:
            self._status = self._console.status(Text(text))  # a str would be read as markup, links included
            self._status.start()
        elif self._status is not None:
            self._status.update(Text(text))

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
        self._seconds = 0.0

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
        text = content.text.strip() or "(empty)"
        first, further = text[: 4 * MAX_SHOWN].partition("\n")[0], text.count("\n")
        more = f" (+{counted(further, 'line')})" if further else ""
        style = "red" if failed else "dim"
        self._console.print(Text(f"  {short(first)}{more}  {seconds:.1f} s", style))
        self.waiting()

    async def allow(self, route: ToolRoute, arguments: object) -> bool:
        """Ask once, or follow the earlier answer for this tool as it is."""
        async with self._dialogue:  # of several questions, each has its own answer
            if self._allow_all or self._approvals.allows(route):
                return True
            if self._approvals.refuses(route):
                self.notice(f"{route.name} is not called: you answered never")
                return False
            self.idle()
            given = printable(json.dumps(arguments, ensure_ascii=False, indent=1))
            changes = self._approvals.changes(route)
            self._question(route, given, changes, whole=False)
            return await self._decision(route, given, changes)

    def _question(self, route: ToolRoute, given: str, changes: list[str], *, whole: bool) -> None:
        """Show what is asked: the tool, how it differs from what the user has seen of it, and the arguments."""
        server = one_line(route.server.spec.name)
        self._console.print(Text.assemble(("? ", "yellow"), (route.name, "bold"), f" of {server}"))
        lines = changes if whole else changes[:MAX_CHANGES]
        if changes:
            self._console.print(Text("  the server has changed this tool:", "yellow"))
            styles = {"+": "green", "-": "red"}
            for line in lines:
                self._console.print(Text(f"  | {one_line(line)}", styles.get(line[:1], "")))
        shown = given if whole else given[:MAX_ARGUMENTS]
        self._console.print(Padding(Text(shown), (0, 2)))
        if len(shown) < len(given) or len(lines) < len(changes):
            left = f"{counted(len(given) - len(shown), 'character')} and {counted(len(changes) - len(lines), 'line')}"
            self._console.print(Text(f"  {left} are not shown; s shows all", "yellow"))

    async def _decision(self, route: ToolRoute, given: str, changes: list[str]) -> bool:
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
                self._approvals.always(route)
                return True
            if said in ("v", "never"):
                self._approvals.never(route)
                return False
            if said in ("s", "show"):
                self._question(route, given, changes, whole=True)
            else:
                self._console.print(Text(f"not understood: {one_line(said, 40)}", "dim"))

    async def elicit(self, server: str, params: types.ElicitRequestParams) -> types.ElicitResult:
        """Let the user answer a question of a server."""
        async with self._dialogue:
            self.idle()
            return await fill_form(server, params, self._ask, lambda line: self._console.print(Text(printable(line))))

    def log(self, server: str, level: str, text: str) -> None:
        """Print a log message of a server."""
        self._console.print(Text(f"[{one_line(server)}] {level}: {short(text)}", "dim"))

    def _render(self, block: str) -> None:
        self.idle()
        if len(block) > MAX_BLOCK or self._seconds > MAX_SECONDS:
            self._console.file.write(f"{printable(block)}\n\n")  # rich makes objects of each line
            return
        began = time.process_time()
        self._console.print(Markdown(block, code_theme=self._theme, hyperlinks=False))
        self._console.print()
        self._seconds += time.process_time() - began


def short(text: str) -> str:
    """Return text as one line of limited length."""
    return one_line(" ".join(text[: 4 * MAX_SHOWN].split()), MAX_SHOWN)


class Blocks:
    """Collects pieces of text. A block ends at a blank line outside of a code fence."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._rest: list[str] = []
        self._fence = ""

    def feed(self, text: str) -> list[str]:
        """Add a piece; return the blocks that are complete."""
        complete: list[str] = []
        self._rest.append(text)
        if "\n" not in text:  # a line that never ends is not put together with each piece
            return complete
        *lines, rest = "".join(self._rest).split("\n")
        self._rest = [rest]
        for line in lines:
            mark = line.lstrip()[:3]
            if self._fence:
                self._fence = "" if mark == self._fence else self._fence
            elif mark in FENCES:
                self._fence = mark
            if line.strip() or self._fence:
                self._lines.append(line)
            elif self._lines:
                complete.append(self._taken())
        return complete

    def end(self) -> str:
        """Return what is left, "" if nothing is."""
        if rest := "".join(self._rest):
            self._lines.append(rest)
        self._rest, self._fence = [], ""
        return self._taken()

    def _taken(self) -> str:
        block, self._lines = "\n".join(self._lines), []
        return block
