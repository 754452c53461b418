"""`atlas chat --once`: one question without a terminal; text on stdout as it arrives, or one JSON document."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import mcp_types as types

from atlas.chat.content import Content
from atlas.chat.routes import ToolRoute
from atlas.core.invisible import one_line, printable

MAX_LINE = 200


@dataclass(slots=True)
class PlainScreen:
    """`atlas.chat.turn.Screen` and `atlas.chat.servers_user.Host` without a terminal: remarks go to stderr."""

    allow_all: bool
    quiet: bool
    """With --json: nothing is printed while the answer is made."""
    texts: list[str] = field(default_factory=list[str])
    """The parts of the answer; the last one is empty once it has ended."""
    _pieces: list[str] = field(default_factory=list[str])
    calls: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    notices: list[str] = field(default_factory=list[str])
    asked: bool = False
    """Whether a call was refused because there is no user to ask."""

    def text(self, delta: str) -> None:
        """Print a piece of the answer."""
        self._pieces.append(delta)
        if not self.quiet:
            sys.stdout.write(printable(delta))
            sys.stdout.flush()

    def end_text(self) -> None:
        """End a part of the answer."""
        if part := "".join(self._pieces):
            self.texts[-1:] = [part, ""]
            self._pieces.clear()
            if not self.quiet:
                sys.stdout.write("\n")
                sys.stdout.flush()

    def notice(self, text: str) -> None:
        """Print a remark."""
        self.notices.append(text)
        self._remark(f"- {text}")

    def call_started(self, route: ToolRoute, arguments: object) -> None:
        """Print the call."""
        self._remark(f"> {route.name} {arguments}")

    def call_progress(self, route: ToolRoute, done: float, total: float | None, message: str) -> None:
        """Print nothing."""

    def call_ended(self, route: ToolRoute, content: Content, *, failed: bool, seconds: float) -> None:
        """Note the call."""
        self.calls.append(
            {
                "tool": route.name,
                "server": route.server.spec.name,
                "failed": failed,
                "seconds": round(seconds, 3),
                "characters": len(content.text),
            }
        )
        if failed:
            self._remark(f"  {content.text}")

    async def allow(self, route: ToolRoute, arguments: object) -> bool:
        """Return whether --yes was given."""
        if not self.allow_all:
            self.asked = True
            self.notice(f"{route.name} is not read-only and was not called; --yes allows such calls")
        return self.allow_all

    async def elicit(self, server: str, params: types.ElicitRequestParams) -> types.ElicitResult:
        """Decline: there is no user to ask."""
        self.notice(f"{server} asked a question, which was declined: {params.message}")
        return types.ElicitResult(action="decline")

    def log(self, server: str, level: str, text: str) -> None:
        """Print a log message of a server."""
        self._remark(f"[{server}] {level}: {text}")

    def _remark(self, text: str) -> None:
        if not self.quiet:
            print(one_line(" ".join(text[: 4 * MAX_LINE].split()), MAX_LINE), file=sys.stderr, flush=True)
