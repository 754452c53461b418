"""A client of a language server over stdio, bounded in time and size: where the name at a position is defined."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Self, cast
from urllib.parse import unquote, urlparse

from atlas.core.errors import AtlasError, ConfigError

Message = dict[str, Any]
Position = tuple[int, int]
"""Line and column in characters, both from zero."""

START_SECONDS = 180.0
ANSWER_SECONDS = 120.0
"""The first answer waits until the server has read the project."""
MAX_MESSAGE = 64 << 20
OPEN_FILES = 48
"""Files kept open: a server forgets the project when its last file is closed."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where something is defined: a path, and the first line and column of its name, from zero."""

    path: Path
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Oracle:
    """A language server: its command, the languages of the index that it knows, and how to install it."""

    command: Sequence[str]
    languages: frozenset[str]
    install: str
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


_SCRIPTS = frozenset({"javascript", "jsx", "typescript", "tsx"})
ORACLES: Mapping[str, Oracle] = MappingProxyType(
    {
        "ty": Oracle(("ty", "server"), frozenset({"python"}), "pip install ty"),
        "pyright": Oracle(("pyright-langserver", "--stdio"), frozenset({"python"}), "pip install pyright"),
        "tsc": Oracle(
            ("typescript-language-server", "--stdio"),
            _SCRIPTS,
            "npm install -g typescript@5 typescript-language-server",
        ),
        # A tree's go.mod must not choose the tool chain: it would be downloaded.
        "go": Oracle(
            ("gopls",),
            frozenset({"go"}),
            "go install golang.org/x/tools/gopls@latest",
            MappingProxyType({"GOTOOLCHAIN": "local"}),
        ),
    }
)
_LANGUAGE_IDS = {".jsx": "javascriptreact", ".tsx": "typescriptreact"}
_IDS = {"javascript": "javascript", "jsx": "javascriptreact", "tsx": "typescriptreact"}


class LanguageServer:
    """One server process with one folder open."""

    def __init__(self, oracle: Oracle, root: Path, settings: Mapping[str, Any] | None = None) -> None:
        """Start the server; `settings`: section -> value of its configuration.

        Raises ConfigError if its command is not installed, and AtlasError if it does not answer.
        """
        command = _found(oracle)
        self._name, self._settings = oracle.command[0], settings or {}
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [command, *oracle.command[1:]],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={**os.environ, **oracle.environment},
        )
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        self._input = self._process.stdin
        self._messages: queue.Queue[Message | None] = queue.Queue()
        self._reading = threading.Thread(target=_receive, args=(self._process.stdout, self._messages), daemon=True)
        self._reading.start()
        self._number = 0
        self.refused = ""
        """The last error that the server answered with."""
        self._open: OrderedDict[Path, list[str]] = OrderedDict()
        try:
            if self._request("initialize", _hello(root, Path(command)), START_SECONDS) is None:
                raise AtlasError(f"{self._name} does not start: {self.refused}", f"Install it: {oracle.install}")
        except BaseException:
            self.close()
            raise
        self._send({"method": "initialized", "params": {}})

    @classmethod
    @contextmanager
    def started(cls, oracle: Oracle, root: Path, settings: Mapping[str, Any] | None = None) -> Generator[Self]:
        """Start a server that is stopped at the end of the block."""
        server = cls(oracle, root, settings)
        try:
            yield server
        finally:
            server.close()

    def definitions(self, path: Path, positions: Iterable[Position], language: str = "") -> list[list[Location]]:
        """Return what each position of a file refers to: nothing where the server cannot tell or refuses.

        Raises AtlasError if the server ends or does not answer in time.
        """
        lines = self._opened(path, language)
        found = list[list[Location]]()
        for line, column in positions:
            before = lines[line][:column] if line < len(lines) else ""
            place = {"line": line, "character": len(before.encode("utf-16-le")) // 2}
            answer = self._request(
                "textDocument/definition", {"textDocument": {"uri": path.as_uri()}, "position": place}, ANSWER_SECONDS
            )
            found.append(_locations(answer))
        return found

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            self._input.close()
        # Ends with the output of the process; children that hold it must not hold this one.
        self._reading.join(5)
        self._said.close()

    def _opened(self, path: Path, language: str) -> list[str]:
        if path in self._open:
            self._open.move_to_end(path)
            return self._open[path]
        text = path.read_bytes().decode(errors="replace")
        document = {
            "uri": path.as_uri(),
            "languageId": _LANGUAGE_IDS.get(path.suffix) or _IDS.get(language, language or "python"),
            "version": 1,
            "text": text,
        }
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        self._open[path] = text.splitlines()
        if len(self._open) > OPEN_FILES:
            oldest, _ = self._open.popitem(last=False)
            self._send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": oldest.as_uri()}}})
        return self._open[path]

    def _request(self, method: str, params: Message, seconds: float) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        until = time.monotonic() + seconds
        while True:
            try:
                message = self._messages.get(timeout=max(until - time.monotonic(), 0.0))
            except queue.Empty:
                raise AtlasError(f"{self._name} did not answer {method} within {seconds:.0f} s") from None
            if message is None:
                raise self._ended()
            if "method" not in message and message.get("id") == self._number:
                self.refused = str(message.get("error", {}).get("message", "")) or self.refused
                return message.get("result")
            if "method" in message and "id" in message:
                self._send({"id": message["id"], "result": self._reply(message)})

    def _send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            self._input.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            self._input.flush()
        except OSError:
            raise self._ended() from None

    def _reply(self, request: Message) -> Any:
        """Return what a client answers to a request of the server."""
        if request["method"] != "workspace/configuration":
            return None
        return [self._settings.get(item.get("section", ""), {}) for item in request["params"]["items"]]

    def _ended(self) -> AtlasError:
        self._said.seek(0, os.SEEK_END)
        self._said.seek(max(self._said.tell() - 4096, 0))
        said = self._said.read().decode(errors="replace").strip().splitlines()
        return AtlasError(
            f"{self._name} has ended{f': {said[-1]}' if said else ''}", "Try it in an editor on the same folder."
        )


def _found(oracle: Oracle) -> str:
    """Return the path of a server's command, of this environment or of PATH."""
    name = oracle.command[0]
    beside = str(Path(sys.executable).parent)
    if found := shutil.which(name, path=os.pathsep.join([beside, os.environ.get("PATH", os.defpath)])):
        return str(Path(found).absolute())
    raise ConfigError(f"{name} is not installed", f"Install it: {oracle.install}")


def _hello(root: Path, command: Path) -> Message:
    """Return the parameters of `initialize`."""
    hello: Message = {
        "processId": os.getpid(),
        "rootUri": root.as_uri(),
        "workspaceFolders": [{"uri": root.as_uri(), "name": root.name}],
        "capabilities": {
            "workspace": {"configuration": True, "workspaceFolders": True},
            "textDocument": {"definition": {"linkSupport": True}},
        },
    }
    # The compiler beside the server, not one that the measured tree brings: it would be executed.
    for folder in command.resolve().parents:
        if (folder / "typescript/lib/tsserver.js").is_file():
            hello["initializationOptions"] = {"tsserver": {"path": str(folder / "typescript/lib/tsserver.js")}}
            break
    return hello


def _receive(output: IO[bytes], messages: queue.Queue[Message | None]) -> None:
    """Put the server's messages into the queue; None at the end, or where its output is no protocol."""
    with output, contextlib.suppress(OSError, ValueError):
        while (length := _length(output)) and length <= MAX_MESSAGE:
            message: Any = json.loads(output.read(length))
            if isinstance(message, dict):
                messages.put(cast("Message", message))
    messages.put(None)


def _length(output: IO[bytes]) -> int:
    length = 0
    while line := output.readline(4096).strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return length


def _locations(result: Any) -> list[Location]:
    rows = cast("list[Message]", result if isinstance(result, list) else [result] if result else [])
    found = list[Location]()
    for row in rows:
        start: dict[str, int] = (row["targetSelectionRange"] if "targetUri" in row else row["range"])["start"]
        uri: str = row["targetUri"] if "targetUri" in row else row["uri"]
        path = Path(unquote(urlparse(uri).path))
        found.append(Location(path, start["line"], start["character"]))
    return found
