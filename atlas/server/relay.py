"""Joins stdin and stdout of a client to a server behind a socket, and keeps what another server needs to go on.

Bytes pass unchanged, whole lines at a time. Of each message only the id and the method are looked at: requests without
an answer are kept, so that none is lost when the server goes away and none is answered twice. See `proxy`.
"""

from __future__ import annotations

import json
import os
import select

from atlas.runtime.process.session_socket import CLOSING, RESTING

TYPE_CHECKING = False  # `typing` is not imported for a session's proxy
if TYPE_CHECKING:
    import socket
    from typing import Any

CHUNK = 1 << 16
HIGH_WATER = 1 << 20
"""Bytes that wait in one direction; beyond it the other end is not read."""
LONGEST_MESSAGE = 16 << 20
"""Bytes of a line that is passed on: the server refuses longer lines, so one stands for them that it refuses, too."""
TOO_LONG = b"too long\n"
_ID = b'{"jsonrpc":"2.0","id":'
"""How this program's server begins its answers and requests."""

DONE, LOST, IDLE = "done", "lost", "idle"


class SentRequest:
    """A request without an answer."""

    __slots__ = ("is_sent", "line", "losses", "tool", "writes")

    def __init__(self, line: bytes, tool: str, *, writes: bool) -> None:
        self.line, self.tool, self.writes = line, tool, writes
        self.is_sent, self.losses = False, 0
        """Whether a server may have begun with it, and how many servers went away meanwhile."""


class Relay:
    """One client's session. Use from one thread; blocks."""

    def __init__(self, stdin: int, stdout: int) -> None:
        self.stdin, self.stdout = stdin, stdout
        self.once: frozenset[str] = frozenset()
        """Tools whose call must not be repeated, unless it has an idempotency key."""
        self.waiting: dict[object, SentRequest] = {}
        self.is_closing = self.has_ended = False
        """Whether the server has ended in order, and whether the client has."""
        self._greeting: tuple[object, bytes] | None = None
        self._greeted = b""
        self._is_greeted = False
        self._asked: set[object] = set()
        self._outdated: set[object] = set()
        """Ids of the server's requests without an answer: of this server, and of those that went away."""
        self._greets: object = None
        """Id of the repeated greeting until it is answered."""
        self._held = bytearray()
        self._others = bytearray()
        """What is sent after that answer, and messages without an id that no server got."""
        self._typed, self._to_server = bytearray(), bytearray()
        self._said, self._to_client = bytearray(), bytearray()
        self._is_skipping = self._is_linked = False

    def run(self, link: socket.socket, *, while_waiting: bool = False) -> str:
        """Pass messages until the client has ended and the server after it (DONE), or the server alone (LOST).

        With `while_waiting` also until all requests are answered (IDLE).

        Raises BrokenPipeError when the client no longer reads.
        """
        link.setblocking(False)
        self._is_linked, self.is_closing, is_shut = True, False, False
        while True:
            if while_waiting and not (self.waiting or self._to_client or self.has_ended):
                self._is_linked = False
                return IDLE
            writes: list[Any] = [self.stdout] if self._to_client else []
            readable, writable, _ = select.select(
                self._read_from(link), [*writes, link] if self._to_server else writes, ()
            )
            if self.stdin in readable:
                self._hear_client()
            try:
                self._send(link)
                if self.has_ended and not is_shut and not self._to_server and not self._held:
                    link.shutdown(1)
                    is_shut = True
                ended = link in readable and not self._hear_server(link)
            except OSError:
                ended = not self._hear_rest(link)
            if self.stdout in writable:
                self._say()
            if ended:
                self._is_linked = False
                while self._to_client:
                    self._say()
                return DONE if is_shut else LOST

    def hear(self) -> bool:
        """Wait for a message of the client while there is no server; return False when the client has ended."""
        while not self.waiting and not self._others and not self.has_ended:
            self._hear_client()
        return bool(self.waiting or self._others)

    def lose(self) -> None:
        """Note that the server went away: calls that it may have begun and that must not be repeated are answered."""
        self._outdated |= self._asked
        self._asked.clear()
        self._to_server.clear()
        self._held.clear()
        self._said.clear()
        self._greets = None
        for number, request in list(self.waiting.items()):
            if request.is_sent:
                request.losses += 1
                if request.writes:
                    del self.waiting[number]
                    self._to_client += _unknown_result(number, request.tool)
            request.is_sent = False
        while self._to_client:
            self._say()

    def give_up(self, losses: int) -> None:
        """Answer the requests that were at work when so many servers went away: they may be why."""
        for number, request in list(self.waiting.items()):
            if request.losses >= losses:
                del self.waiting[number]
                self._to_client += _result(number, f"error: the server ended during each call of {request.tool}")
        while self._to_client:
            self._say()

    def greet(self) -> None:
        """Send another server what it needs to go on: the greeting of the client, and all requests without answer."""
        rest = bytearray()
        for number, request in self.waiting.items():
            request.is_sent = True
            if self._greeting is None or number != self._greeting[0]:
                rest += request.line
        rest += self._others
        self._others.clear()
        if self._greeting is None:
            self._to_server += rest
            return
        self._greets = self._greeting[0]
        self._to_server += self._greeting[1]
        self._held += self._greeted + rest

    def _read_from(self, link: socket.socket) -> list[Any]:
        reads: list[Any] = [link] if len(self._to_client) < HIGH_WATER else []
        if not self.has_ended and len(self._to_server) + len(self._held) < HIGH_WATER:
            reads.append(self.stdin)
        return reads

    def _hear_client(self) -> None:
        try:
            part = os.read(self.stdin, CHUNK)
        except OSError:
            part = b""
        self._typed += part
        if not part:
            self.has_ended = True
            line, self._typed = bytes(self._typed), bytearray()
            if line and not self._is_skipping:
                self._take(line)
            return
        if b"\n" not in part:
            if len(self._typed) > LONGEST_MESSAGE:
                self._is_skipping = True
                self._typed.clear()
            return
        whole, _, rest = bytes(self._typed).rpartition(b"\n")
        self._typed = bytearray(rest)
        lines = (whole + b"\n").splitlines(keepends=True)
        if self._is_skipping:
            lines[0], self._is_skipping = TOO_LONG, False
        for line in lines:
            self._take(line)

    def _take(self, line: bytes) -> None:
        """Note a client's message and pass it on, or keep it while there is no server."""
        message = _parsed(line)
        method, number = message.get("method"), _number(message)
        if method == "initialize" and number is not None:
            self._greeting = number, line
        elif method == "notifications/initialized":
            self._greeted = line
        elif method == "notifications/cancelled":
            self.waiting.pop(_number(message.get("params"), "requestId"), None)
        if method is None and number is not None and not self._is_asked(number):
            return
        if method is not None and number is not None:
            tool, arguments = _called(message)
            writes = tool in self.once and not arguments.get("idempotency_key")
            request = self.waiting[number] = SentRequest(line, tool, writes=writes)
            request.is_sent = self._is_linked
        elif not self._is_linked and method != "notifications/initialized":
            self._others += line
        if self._is_linked:
            out = self._to_server if self._greets is None else self._held
            out += line

    def _is_asked(self, number: object) -> bool:
        """Return whether a client's answer is for this server, not for one that went away."""
        if number in self._outdated:
            self._outdated.discard(number)
            return False
        self._asked.discard(number)
        return True

    def _hear_server(self, link: socket.socket) -> bool:
        """Take what the server says; return False when it has ended."""
        part = link.recv(CHUNK)
        if not part:
            return False
        self._said += part
        if b"\n" in part:
            whole, _, rest = bytes(self._said).rpartition(b"\n")
            self._said = bytearray(rest)
            for line in (whole + b"\n").splitlines(keepends=True):
                self._pass(line)
        return True

    def _hear_rest(self, link: socket.socket) -> bool:
        """Take what a server said before it went away; return whether it is there still."""
        try:
            while self._hear_server(link):
                pass
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def _pass(self, line: bytes) -> None:
        """Note a server's message and pass it on."""
        if line == CLOSING:
            self.is_closing = True
            return
        if line == RESTING:
            for request in self.waiting.values():
                request.is_sent = False
            return
        number, is_answer = _numbered(line)
        if number is not None and is_answer:
            if number == self._greets:
                self._greets = None
                self._to_server += self._held
                self._held.clear()
                if self._is_greeted:
                    return
            self.waiting.pop(number, None)
            if self._greeting is not None and number == self._greeting[0]:
                self._is_greeted = True
        elif number is not None:
            self._asked.add(number)
        self._to_client += line

    def _send(self, link: socket.socket) -> None:
        if self._to_server:
            try:
                sent = link.send(self._to_server)
            except BlockingIOError:
                return
            del self._to_server[:sent]

    def _say(self) -> None:
        # a pipe that is writable takes this much without blocking
        written = os.write(self.stdout, self._to_client[: select.PIPE_BUF])
        del self._to_client[:written]


def _numbered(line: bytes) -> tuple[object, bool]:
    """Return the id of a server's message, None without one, and whether it is an answer."""
    if line.startswith(_ID):
        digits, comma, rest = line[len(_ID) : len(_ID) + 40].partition(b",")
        if digits.isdigit() and comma:
            if rest.startswith((b'"result":', b'"error":')):
                return int(digits), True
            if rest.startswith(b'"method":'):
                return int(digits), False
    message = _parsed(line)
    return _number(message), "method" not in message


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        message: Any = json.loads(line.decode("utf8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return _object(message)


def _object(value: Any) -> dict[str, Any]:
    """Return a JSON object, an empty one for another value."""
    if not isinstance(value, dict):
        return {}
    found: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType] `cast` needs the import of typing
    return found  # pyright: ignore[reportUnknownVariableType]


def _number(message: Any, name: str = "id") -> object:
    """Return the id in a message, None for none that JSON-RPC allows."""
    number = _object(message).get(name)
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None


def _called(message: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the tool that a message calls, "" if it calls none, and the arguments."""
    if message.get("method") != "tools/call":
        return "", {}
    called = _object(message.get("params"))
    return str(called.get("name")), _object(called.get("arguments"))


def _unknown_result(number: object, tool: str) -> bytes:
    text = (
        f"error: the daemon ended during this call of {tool}: it may or may not have written\n"
        "Look for what it writes before you call it again, or pass an idempotency_key."
    )
    return _result(number, text)


def _result(number: object, text: str) -> bytes:
    result = {"content": [{"type": "text", "text": text}], "isError": True}
    answer = {"jsonrpc": "2.0", "id": number, "result": result}
    return json.dumps(answer, separators=(",", ":")).encode() + b"\n"
