"""Serves the sessions of a data folder over the daemon's socket, in a thread with an event loop of its own.

Each connection is one client: after the first line (`session_socket`) it speaks MCP as over stdio, to a server with the
client's own settings. Sessions with equal settings share the store and the check of the tree. The SDK is imported for
the first session; this module imports nothing of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from atlas.answers.tool import Effort
from atlas.app.toolsets import BY_NAME, TOOLSETS, offer_of, with_toolsets
from atlas.core.errors import AtlasError, ConfigError
from atlas.knowledge.notes.checks import client_name
from atlas.runtime.config.load import load_settings
from atlas.runtime.process import session_socket
from atlas.runtime.process.memory import limit_malloc_arenas
from atlas.runtime.process.places import is_around_home, run_path
from atlas.server.asking_commands import answer_command, check_answerable
from atlas.server.client_lines import ClientLines, ClientWriter, tasks_of_client, with_counted_tasks
from atlas.server.shared_sessions import ClientSession, SharedSessions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from atlas.app.session_host import SessionHost
    from atlas.runtime.config.load import Settings

logger = logging.getLogger("atlas.sessions")

HELLO_SECONDS = 10.0
"""A connection says within this time what it is for."""
CLOSING_SECONDS = 5.0
"""Calls at work when the daemon ends may take this long."""
WARM_SECONDS = 0.3
TYPICAL_QUESTIONS = (
    "who calls X", "callers of X", "what does X call", "where is X used", "usages of X", "tests for X",
    "subclasses of X", "what overrides X", "who imports X", "where is X defined", "impact of changing X",
    "how does X reach Y", "is X unused", "which packages does this project use",
)  # fmt: skip
THREADS = 32
"""Threads for the work of all sessions: some may hang, on a disk that does not answer."""


@dataclass(slots=True)
class ServedClient:
    """One client, for `atlas daemon status`."""

    project: str
    since: float
    name: str = ""
    heard_at: float = 0.0
    """When it has sent its last message (monotonic)."""
    tasks: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]])

    def hear(self, line: str) -> None:
        """Note the name and version of the client if a message says them."""
        if not self.name and 'clientInfo"' in line:
            self.name = _name_in(line)


@dataclass(slots=True)
class Inherited:
    """What a process has had of its sessions before its program was replaced."""

    lock: int = -1
    """Descriptor of the held lock beside the socket; -1: take it."""
    listening: int = -1
    """Descriptor of the socket, whose connections wait since the process began to rest; -1: make it."""
    leaves_at: float | None = None
    """When the process ends without a session (monotonic); None: `daemon.idle_seconds` from now."""


@contextmanager
def serving(first: Settings, host: SessionHost, inherited: Inherited | None = None) -> Generator[SessionServer | None]:
    """Serve sessions of the first project's data folder during the block; not if another process does.

    A socket that cannot be made is logged: the daemon watches without sessions.
    """
    limit_malloc_arenas()
    try:
        server = SessionServer.open(first, host, inherited or Inherited())
    except OSError as error:
        logger.warning("sessions are not served by this daemon: %s", error)
        server = None
    try:
        yield server
    finally:
        if server is not None:
            server.close()


class SessionServer:
    """The thread that serves sessions; create with `open`, end with `close`."""

    def __init__(self, first: Settings, host: SessionHost, listening: socket.socket, inherited: Inherited) -> None:
        self._first, self._host, self._listening, self._lock = first, host, listening, inherited.lock
        self._leaves_at, self._used_at = inherited.leaves_at, time.monotonic()
        """When the process ends, and when a client was last heard (monotonic)."""
        self._kept, self._let_go_at = -1, 0.0
        """The socket's descriptor for the time of rest, and when its clients were let go."""
        self._clients: dict[asyncio.Task[None], ServedClient] = {}
        self._waiting: set[asyncio.Task[Any]] = set()
        """Connections of commands that wait for a pass or an answer."""
        self._sessions = SharedSessions(host)
        self._surroundings, self._keys = session_socket.surroundings(), session_socket.keys_of_servers()
        self._since, self._stays = time.time(), not host.for_sessions
        self._leaving: asyncio.TimerHandle | None = None
        self._loop = asyncio.new_event_loop()
        self._ended = asyncio.Event()
        self._warming: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="sessions", daemon=True)

    @classmethod
    def open(cls, first: Settings, host: SessionHost, inherited: Inherited) -> SessionServer | None:
        """Return a server at work, None if another process serves this data folder. Raises OSError."""
        session_socket.open_run_folder()
        if inherited.lock < 0:
            inherited.lock = session_socket.take_lock(run_path(str(first.data_dir), "lock"))
            if inherited.lock < 0:
                return None
        else:
            os.set_inheritable(inherited.lock, False)
        if inherited.listening < 0:
            listening = session_socket.listen(run_path(str(first.data_dir), "sock"))
        else:
            os.set_inheritable(inherited.listening, False)
            listening = socket.socket(fileno=inherited.listening)
        server = cls(first, host, listening, inherited)
        host.let_go, host.hand_over = server.let_go, server.hand_over
        server._thread.start()
        return server

    def let_go(self, seconds: float) -> bool:
        """Stop serving if no client has been heard for so long, and return whether; from another thread.

        Connections wait in the socket from then on. The silent clients are told, and connect again with their next
        message.
        """
        if not self._thread.is_alive():
            return True  # serving has ended with an error
        try:
            return asyncio.run_coroutine_threadsafe(self._let_go(seconds), self._loop).result(CLOSING_SECONDS)
        except TimeoutError:
            return False

    async def _let_go(self, seconds: float) -> bool:
        at_work = self._waiting or any(one.is_at_work for one in self._sessions.clients)
        if at_work or time.monotonic() - self._used_at < seconds:
            return False
        self._kept, self._let_go_at = os.dup(self._listening.fileno()), time.monotonic()
        self._ended.set()
        return True

    def hand_over(self) -> dict[str, object]:
        """Return what a resting process needs; see `process.resting`. Waits until sessions have been let go."""
        self._thread.join(CLOSING_SECONDS * 2)
        idle = self._first.daemon.idle_seconds
        leaves_at = None if self._stays else self._leaves_at or time.monotonic() + idle
        path = run_path(str(self._first.data_dir), "sock")
        return {"serving": self._lock, "listening": self._kept, "path": path, "leaves_at": leaves_at}

    def close(self) -> None:
        """Tell the clients, let calls at work end, and close the socket; waits for it."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(CLOSING_SECONDS * 2)
        if self._kept >= 0:  # the process was to rest, and ends
            self._remove_socket()
        os.close(self._lock)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.set_default_executor(ThreadPoolExecutor(THREADS, "session"))
        self._loop.set_task_factory(with_counted_tasks)
        try:
            self._loop.run_until_complete(self._serve())
        except Exception:  # the boundary of the thread
            logger.exception("serving sessions has ended")
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        if self._host.for_sessions:
            self._leave_later()
            await asyncio.to_thread(import_module, "atlas.server.mcp")
            self._warming = self._loop.create_task(_warm())
        more: dict[str, Any] = {"cleanup_socket": False} if sys.version_info >= (3, 13) else {}
        more |= {"limit": session_socket.LONGEST_LINE, "backlog": session_socket.BACKLOG}
        server = await asyncio.start_unix_server(self._connected, sock=self._listening, **more)
        try:
            await self._ended.wait()
        finally:
            if self._kept < 0:
                self._remove_socket()
            server.close()
            if self._warming is not None:
                self._warming.cancel()
            await self._close_clients()
            await self._sessions.aclose()

    def _remove_socket(self) -> None:
        """Before it is closed: whoever gets no answer finds no socket either. The lock keeps others from listening."""
        with contextlib.suppress(OSError):
            Path(run_path(str(self._first.data_dir), "sock")).unlink()

    async def _close_clients(self) -> None:
        """Let calls at work end within a time, then end the connections."""
        end = time.monotonic() + CLOSING_SECONDS
        while any(one.is_at_work for one in self._sessions.clients) and time.monotonic() < end:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        ending = [*self._clients, *self._waiting]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    def _leave_later(self) -> None:
        """End the process after a time without a session."""
        if not self._stays and not self._clients:
            idle, now = self._first.daemon.idle_seconds, time.monotonic()
            seconds = idle if self._leaves_at is None else self._leaves_at - now
            self._leaving = self._loop.call_later(max(seconds, 0.0), self._host.leave)
            self._leaves_at = now + seconds

    def _stay_for_now(self) -> None:
        """Note that a client uses the process."""
        self._used_at, self._leaves_at = time.monotonic(), None
        if self._leaving is not None:
            self._leaving.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if session_socket.peer_of(writer.get_extra_info("socket")) == os.geteuid():
                await self._answer(reader, writer)
        except (OSError, ValueError, TimeoutError) as error:
            logger.info("a connection has ended: %s", error)
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read the first line of a connection and do what it asks for. Raises OSError and ValueError."""
        said: Any = json.loads(await asyncio.wait_for(reader.readline(), HELLO_SECONDS))
        if not isinstance(said, dict):
            raise ValueError("the first line is no object")
        hello = cast("dict[str, Any]", said)
        answer: dict[str, object] = {**session_socket.identity(), "pid": os.getpid(), "accepted": True}
        settings = indexed = asked = None
        try:
            match hello.get("asks"):
                case "state":
                    answer |= self._state()
                case "stay":
                    self._stay()
                case "session":
                    settings = await self._settings_of(hello)
                    answer |= _offer_of(settings)
                case "answer":
                    asked = await self._settings_of(hello)
                    self._check_watched(asked)
                    check_answerable(asked, hello)
                    answer |= _offer_of(asked)
                case "index":
                    indexed = await self._settings_of(hello)
                    self._check_watched(indexed)
                    answer |= _offer_of(indexed)
                case other:
                    raise ConfigError(f"unknown: {other}")
        except AtlasError as error:
            answer |= {"accepted": False, "why": error.message}
        writer.write(session_socket.line_of(answer))
        await writer.drain()
        if settings is not None:
            await self._serve_client(settings, hello, reader, writer)
        if indexed is not None:
            writer.write(session_socket.line_of({"summary": await self._index(indexed)}))
            await writer.drain()
        if asked is not None:
            writer.write(session_socket.line_of(await self._answer_command(asked, hello, reader)))
            await writer.drain()

    async def _answer_command(
        self, settings: Settings, hello: Mapping[str, Any], reader: asyncio.StreamReader
    ) -> dict[str, object]:
        """Return what a command prints; {} if it is to ask itself. Ends with its process, which then says no more."""
        task = asyncio.current_task()
        assert task is not None
        self._waiting.add(task)
        self._stay_for_now()
        session = self._sessions.open(settings)
        answering = self._loop.create_task(answer_command(session, hello))
        gone = self._loop.create_task(reader.read())
        try:
            await asyncio.wait((answering, gone), return_when=asyncio.FIRST_COMPLETED)
            return answering.result() if answering.done() else {}
        except asyncio.CancelledError:
            return {}  # the process ends
        finally:
            self._waiting.discard(task)
            for one in (answering, gone):
                one.cancel()
            await asyncio.gather(answering, gone, return_exceptions=True)
            await session.aclose()
            self._leave_later()

    async def _index(self, settings: Settings) -> dict[str, Any] | None:
        """Return the summary of a pass that the watching part of this process makes; None if it ends or cannot."""
        from atlas.app.main import index_by_running_daemon

        task = asyncio.current_task()
        assert task is not None
        self._waiting.add(task)
        self._used_at = time.monotonic()
        try:
            summary = await index_by_running_daemon(settings)
        except (AtlasError, asyncio.CancelledError):
            return None  # the command says why
        finally:
            self._waiting.discard(task)
        return dataclasses.asdict(summary) | {"phases": dict(summary.phases)} if summary is not None else None

    def _check_watched(self, settings: Settings) -> None:
        """Raise ConfigError unless this process watches exactly this tree."""
        watched = {one.project_name: one.root for one in self._host.watched}
        if watched.get(settings.project_name) != settings.root or is_around_home(str(settings.root)):
            raise ConfigError("the daemon does not watch this tree")

    async def _serve_client(
        self, settings: Settings, hello: Mapping[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve a session until its client ends it, or the process ends."""
        task = asyncio.current_task()
        assert task is not None
        client = self._clients[task] = ServedClient(settings.project_name, time.time())
        tasks_of_client.set(client.tasks)
        self._stay_for_now()

        def opened(chosen: Settings) -> ClientSession:
            client.project = chosen.project_name
            return self._sessions.open(chosen)

        def heard(line: str) -> None:
            self._used_at = client.heard_at = time.monotonic()
            client.hear(line)

        try:
            await _serve(settings, hello, opened, ClientLines(reader, heard), ClientWriter(writer))
        except asyncio.CancelledError:
            if not self._ended.is_set():
                raise
            if self._kept < 0:
                writer.write(session_socket.CLOSING)
            elif client.heard_at < self._let_go_at:
                writer.write(session_socket.RESTING)
        except Exception as error:  # the boundary of a session: the others go on
            if not isinstance(error, OSError):
                logger.exception("a session has ended with an error")
        finally:
            del self._clients[task]
            self._leave_later()

    async def _settings_of(self, hello: Mapping[str, Any]) -> Settings:
        """Return the settings of a session. Raises ConfigError for one that this process would answer otherwise."""
        if any(hello.get(name) != value for name, value in session_socket.identity().items()):
            raise ConfigError("the daemon is of another version or installation")
        if hello.get("surroundings") != self._surroundings:
            raise ConfigError("the daemon has other variables")
        settings = await asyncio.to_thread(_load, hello)
        if settings.data_dir != self._first.data_dir or settings.shared:
            raise ConfigError("the daemon serves another index")
        if _asks_servers(settings) and hello.get("keys") != self._keys:
            raise ConfigError("the daemon has other keys or addresses of servers")
        if hello.get("here") != str(Path.cwd()) and _has_relative_paths(settings):
            raise ConfigError("relative paths in the settings mean other folders for the daemon")
        return settings

    def _state(self) -> dict[str, object]:
        return {
            "since": self._since,
            "stays": self._stays,
            "watched": [one.project_name for one in self._host.watched],
            "problem": self._host.problem,
            "sessions": [
                {"client": one.name, "project": one.project, "since": one.since} for one in self._clients.values()
            ],
        }

    def _stay(self) -> None:
        self._stays = True
        if self._leaving is not None:
            self._leaving.cancel()


async def _warm() -> None:
    """Import what answers questions while the first client reads the list of tools."""
    await asyncio.sleep(WARM_SECONDS)
    for module in ("atlas.app.main", "atlas.adapters.stores.sqlite.store"):
        await asyncio.to_thread(import_module, module)
    for tool in TOOLSETS["code"].tools:
        await asyncio.to_thread(getattr, tool, "function")
    await asyncio.to_thread(_read_typical_questions)


def _read_typical_questions() -> None:
    """Compile the patterns of frequent questions: 2 ms each, those about packages 30 ms."""
    from atlas.code.question.grammar import find_relation
    from atlas.code.question.package_questions import find_package_question

    for text in TYPICAL_QUESTIONS:
        find_relation(text)
        find_package_question(text)


async def _serve(
    settings: Settings,
    hello: Mapping[str, Any],
    opened: Callable[[Settings], ClientSession],
    lines: ClientLines,
    written: ClientWriter,
) -> None:
    """Serve MCP to one client, with the project that is given or that of its roots."""
    from atlas.server.mcp import keep_loop_free, make_server, serve_messages

    keep_loop_free()
    served = session = opened(settings)
    roots = None
    if not hello["project"] and not hello["environment"].get("ATLAS_PROJECT"):
        from atlas.server.roots import RootSessions

        served = roots = RootSessions(session, opened, partial(_load, hello))
    try:
        await serve_messages(make_server(session, **offer_of(settings), roots=roots), lines, written)
    finally:
        await served.aclose()


def _load(hello: Mapping[str, Any], root: Path | None = None) -> Settings:
    """Return the settings that a client's options, variables and current folder name, for a root if it has chosen one.

    Raises ConfigError.
    """
    own = {name: value for name, value in os.environ.items() if not name.startswith("ATLAS_")}
    variables = {str(name): str(value) for name, value in hello["environment"].items()}
    project = str(root) if root is not None else str(hello["project"])
    settings = load_settings(project, str(hello["data_dir"]), own | variables, Path(str(hello["here"])))
    return with_toolsets(settings, str(hello["toolsets"]))


def _offer_of(settings: Settings) -> dict[str, object]:
    """Return what the proxy must know of a session: ignored settings, and tools whose calls must not be repeated."""
    return {
        "ignored": [one.line for one in settings.ignored],
        "once": [tool.name for tool in BY_NAME.values() if not tool.read_only and tool.effort is not Effort.INDEX_PASS],
    }


def _asks_servers(settings: Settings) -> bool:
    return settings.asks_servers or bool(settings.quality.url or settings.language_model.model)


def _has_relative_paths(settings: Settings) -> bool:
    written = [*settings.languages.folders, settings.quality.model, os.environ.get("ATLAS_PACKS", "")]
    return any(path and not Path(path).expanduser().is_absolute() for path in written)


def _name_in(line: str) -> str:
    """Return name and version of the client in a message, "" without."""
    try:
        params: Any = json.loads(line)["params"]
        said = params.get("clientInfo") or params["_meta"]["io.modelcontextprotocol/clientInfo"]
        return client_name(str(said["name"]), str(said.get("version", "")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""
