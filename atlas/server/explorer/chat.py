"""The chat of `atlas chat` in a page: one conversation, its entries as they come, and calls that wait for a yes.

One task holds the servers and the model, from the first question to the end of the explorer. A page shows what there
is; the script of the pages hears of new text by server-sent events, without it the page asks again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from atlas.chat.approvals import Approvals
from atlas.chat.content import Content
from atlas.chat.routes import ToolRoute
from atlas.chat.servers_user import NoForms
from atlas.code.reader import Reader
from atlas.core.errors import AtlasError, ConfigError, Unavailable
from atlas.core.invisible import one_line, printable
from atlas.server.explorer.packs import passages_of
from atlas.server.explorer.questions import Asker, Given

if TYPE_CHECKING:
    from atlas.chat.connection import ServerConnection
    from atlas.chat.server_spec import ServerSpec
    from atlas.chat.session import ChatSession
    from atlas.runtime.config.load import Settings

Servers = Callable[[], tuple[tuple["ServerSpec", ...], tuple[str, ...]]]
"""Returns the servers of a chat, and the problems of those that cannot be used. Raises ConfigError."""

MAX_ENTRIES, MAX_TEXT = 300, 200_000
"""Entries of a conversation that are kept, and characters of one."""
MAX_LINE = 400
"""Characters of a call or its result on one line."""
MAX_SHOWN = 50_000
"""Characters of arguments that a question shows; longer ones cannot be read, so they are not allowed."""
WAITING_SECONDS = 900.0
"""After this time a call that waits for a yes is refused."""
HELD_SECONDS, PAUSE_SECONDS = 5.0, 0.08
"""How long one answer of events is held open, so that the explorer ends soon, and the pause between two events."""
RESENT = 20
"""Last entries that a new answer of events begins with."""
DECISIONS = ("yes", "always", "no", "never")
NOT_CONFIGURED = (
    "No language model is configured. Set language_model.model in your own atlas.toml, such as "
    "anthropic/claude-sonnet-4-5 (key: ANTHROPIC_API_KEY in the environment) or ollama_chat/llama3.1 with "
    "language_model.url, then start `atlas ui` again. It needs the extra `chat`: pip install 'code-atlas[chat]'."
)


@dataclass(slots=True)
class ChatEntry:
    """One part of a conversation: `question`, `answer`, `call`, `result`, `failed`, `notice` or `problem`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class WaitingCall:
    """A call that is made if the user says so."""

    id: str
    tool: str
    server: str
    arguments: str
    changes: tuple[str, ...]
    """How the tool differs from what the user has seen of it."""
    said: asyncio.Future[str]


class ChatRoom(NoForms):
    """`atlas.chat.turn.Screen` and `atlas.chat.servers_user.Host` as a page. Use from one event loop."""

    def __init__(self, settings: Settings, servers: Servers | None) -> None:
        """`servers` None: this explorer has no chat."""
        self._settings, self._servers = settings, servers
        self._entries: list[ChatEntry] = []
        self._dropped = 0
        self._questions: asyncio.Queue[str] = asyncio.Queue()
        self._working: asyncio.Task[None] | None = None
        self._turn: asyncio.Task[object] | None = None
        self._session: ChatSession | None = None
        self._is_busy = False
        self._approvals = Approvals()
        self._dialogue = asyncio.Lock()
        self._waiting: WaitingCall | None = None
        self._news = asyncio.Event()

    @property
    def is_configured(self) -> bool:
        """Whether there is a model to talk to."""
        return self._servers is not None and bool(self._settings.language_model.model)

    @property
    def state(self) -> str:
        """What the page offers: `idle`, `busy`, or the call that waits."""
        return f"call {self._waiting.id}" if self._waiting is not None else "busy" if self._is_busy else "idle"

    async def values(self, ask: Asker, reader: Reader, given: Given) -> dict[str, object]:
        """Return what the page shows."""
        return {
            "title": "Chat",
            "is_configured": self.is_configured,
            "model": self._settings.language_model.model,
            "missing": NOT_CONFIGURED,
            "entries": [
                (number + self._dropped, one.kind, one.text, passages_of([one.text]) if one.kind == "answer" else ())
                for number, one in enumerate(self._entries)
            ],
            "state": self.state,
            "waiting": self._waiting,
            "decisions": DECISIONS,
            # with a script, events say it
            "refresh": 2 if self.state == "busy" else 0,
            "evidence": None,
        }

    async def ask(self, ask: Asker, given: Given) -> str:
        """Take a question; return the page. Raises ConfigError without a model, Unavailable during an answer."""
        text = given.text("question").strip()
        if not self.is_configured:
            raise ConfigError("there is no language model", NOT_CONFIGURED)
        if self._is_busy:
            raise Unavailable("an answer is being made", "Wait for it, or stop it.")
        if text:
            self._add("question", printable(text))
            self._is_busy = True
            if self._working is None or self._working.done():
                self._questions = asyncio.Queue()
                self._working = asyncio.create_task(self._work())
            self._questions.put_nowait(text)
        return "/chat"

    async def decide(self, ask: Asker, given: Given) -> str:
        """Answer the question about a call; return the page. Raises ConfigError for one that waits no more."""
        waiting, said = self._waiting, given.text("said")
        if waiting is None or waiting.id != given.text("call") or said not in DECISIONS:
            raise ConfigError("this call does not wait for an answer", "Go back to the chat.")
        if not waiting.said.done():
            waiting.said.set_result(said)
        await asyncio.sleep(0)  # the answer is taken before the page is shown
        return "/chat"

    async def end(self, ask: Asker, given: Given) -> str:
        """Stop the answer that is being made; with `clear`, begin a new conversation. Return the page."""
        if self._turn is not None:
            self._turn.cancel()
            await asyncio.wait([self._turn], timeout=5)
        elif self._is_busy and self._working is not None:  # while servers are connected
            await self.aclose()
        if given.text("clear"):
            self._entries, self._dropped = [], 0
            if self._session is not None:
                self._session.clear()
        self._changed()
        return "/chat"

    async def aclose(self) -> None:
        """End the conversation and its servers; idempotent."""
        working, self._working = self._working, None
        if working is not None:
            working.cancel()
            await asyncio.wait([working])
        self._is_busy = False

    async def live(self) -> AsyncGenerator[bytes]:
        """Yield server-sent events with the entries that have changed, for some seconds."""
        loop = asyncio.get_running_loop()
        end = loop.time() + HELD_SECONDS
        known: dict[int, int] = {}
        yield b"retry: 300\n\n" if self._is_busy else b"retry: 3000\n\n"
        while True:
            news = self._news
            yield self._event(known)
            if not self._is_busy or loop.time() >= end:
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), max(end - loop.time(), 0.01))
            await asyncio.sleep(PAUSE_SECONDS)

    def _event(self, known: dict[int, int]) -> bytes:
        changed: list[tuple[int, str, str]] = []
        for at, one in enumerate(self._entries[-RESENT:], max(len(self._entries) - RESENT, 0) + self._dropped):
            if known.get(at) != len(one.text):
                known[at] = len(one.text)
                changed.append((at, one.kind, one.text))
        return f"data: {json.dumps({'state': self.state, 'entries': changed})}\n\n".encode()

    async def _work(self) -> None:
        """Hold the servers and answer questions until the task is cancelled or something fails."""
        from atlas.app.chat import make_chat_model, make_limits, open_chat

        for name in ("mcp", "client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            assert self._servers is not None
            specs, problems = self._servers()
            for problem in problems:
                self.notice(problem)
            model, limits = make_chat_model(self._settings, "", ""), make_limits(self._settings, 0, 0, 0)
            async with open_chat(self._settings, specs, model, self, self, limits, self._connected) as session:
                self._session = session
                while True:
                    await self._answer(session, await self._questions.get())
        except AtlasError as error:
            self._add("problem", f"{error.message}. {error.hint}".strip())
        except Exception as error:  # the boundary of the task: the page says it, the log has the traceback
            logging.getLogger("atlas.explorer").exception("the chat failed")
            self._add("problem", f"the chat failed: {type(error).__name__}")
        finally:
            self._session, self._is_busy = None, False
            self._changed()

    async def _answer(self, session: ChatSession, question: str) -> None:
        self._turn = asyncio.create_task(session.ask(question))
        try:
            await asyncio.wait([self._turn])
            if self._turn.cancelled():
                self.notice("stopped; the question is forgotten")
            elif (error := self._turn.exception()) is not None:
                if not isinstance(error, AtlasError):
                    raise error
                self._add("problem", f"{error.message}. {error.hint}".strip())
            elif str(self._turn.result()) != "answered":
                self.notice(f"stopped: the limit of {self._turn.result()} is reached; ask again to go on")
        finally:
            self._turn.cancel()
            self._turn, self._is_busy = None, False
            self._changed()

    def _connected(self, connection: ServerConnection) -> None:
        if connection.problem:
            self.notice(f"{connection.spec.name} is not connected: {connection.problem}")

    def text(self, delta: str) -> None:
        """Add a piece of the answer."""
        last = self._entries[-1] if self._entries else None
        if last is None or last.kind != "answer":
            self._add("answer", printable(delta))
        elif len(last.text) < MAX_TEXT:
            last.text += printable(delta)
            self._changed()

    def end_text(self) -> None:
        """Nothing: the next entry ends the text."""

    def notice(self, text: str) -> None:
        """Add a remark."""
        self._add("notice", one_line(text, 2000))

    def call_started(self, route: ToolRoute, arguments: object) -> None:
        """Add a call."""
        self._add("call", one_line(f"{route.name} {json.dumps(arguments, ensure_ascii=False)}", MAX_LINE))

    def call_progress(self, route: ToolRoute, done: float, total: float | None, message: str) -> None:
        """Nothing: a page is no place for progress."""

    def call_ended(self, route: ToolRoute, content: Content, *, failed: bool, seconds: float) -> None:
        """Add the beginning of the result."""
        first, _, rest = content.text.strip().partition("\n")
        more = f" (+{rest.count(chr(10)) + 1} lines)" if rest else ""
        kind = "failed" if failed else "result"
        self._add(kind, f"{route.name}: {one_line(first or '(empty)', MAX_LINE)}{more}, {seconds:.1f} s")

    async def allow(self, route: ToolRoute, arguments: object) -> bool:
        """Have the page ask, or follow an earlier answer about this tool as it is."""
        async with self._dialogue:  # of several questions, each has its own answer
            if self._approvals.allows(route):
                return True
            shown = printable(json.dumps(arguments, ensure_ascii=False, indent=1))
            if self._approvals.refuses(route) or len(shown) > MAX_SHOWN:
                why = "you answered never" if len(shown) <= MAX_SHOWN else "its arguments are too long to be read"
                self.notice(f"{route.name} is not called: {why}")
                return False
            changes = tuple(one_line(line) for line in self._approvals.changes(route))
            said = await self._decision(
                WaitingCall(
                    id=secrets.token_hex(8),
                    tool=one_line(route.name),
                    server=one_line(route.server.spec.name),
                    arguments=shown,
                    changes=changes,
                    said=asyncio.get_running_loop().create_future(),
                )
            )
            if said == "always":
                self._approvals.always(route)
            elif said == "never":
                self._approvals.never(route)
            if said in ("no", "never"):
                self.notice(f"{route.name} is not called")
            return said in ("yes", "always")

    async def _decision(self, waiting: WaitingCall) -> str:
        self._waiting = waiting
        self._changed()
        try:
            return await asyncio.wait_for(waiting.said, WAITING_SECONDS)
        except TimeoutError:
            return "no"
        finally:
            self._waiting = None
            self._changed()

    def log(self, server: str, level: str, text: str) -> None:
        """Add a log message of a server."""
        self._add("notice", one_line(f"[{server}] {level}: {text}", 2000))

    def _add(self, kind: str, text: str) -> None:
        self._entries.append(ChatEntry(kind, text[:MAX_TEXT]))
        if len(self._entries) > MAX_ENTRIES:
            del self._entries[0]
            self._dropped += 1
        self._changed()

    def _changed(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
