"""A client of pyright's language server: which definitions it finds for positions in the files of a folder."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlparse

Message = dict[str, Any]
Position = tuple[int, int]
"""Line and column, from zero."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where something is defined: a path, and the first line and column of its name, from zero."""

    path: Path
    line: int
    column: int


class LanguageServer:
    """One server process with one folder open."""

    def __init__(self, root: Path, search_paths: tuple[Path, ...] = ()) -> None:
        command = [str(Path(sys.executable).parent / "pyright-langserver"), "--stdio"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._number = 0
        self._answers: dict[int, Message] = {}
        self._settings = {
            "analysis": {"extraPaths": [str(path) for path in search_paths], "diagnosticMode": "openFilesOnly"},
        }
        folder = {"uri": root.as_uri(), "name": root.name}
        capabilities = {"workspace": {"configuration": True}}
        start = {"processId": None, "rootUri": root.as_uri(), "workspaceFolders": [folder]}
        self._answer(self._ask("initialize", {**start, "capabilities": capabilities}))
        self._send({"method": "initialized", "params": {}})

    @classmethod
    @contextmanager
    def started(cls, root: Path, search_paths: tuple[Path, ...] = ()) -> Iterator[Self]:
        """A server that is stopped at the end of the block."""
        server = cls(root, search_paths)
        try:
            yield server
        finally:
            server._process.kill()
            server._process.wait()

    def definitions(self, path: Path, positions: Iterable[Position]) -> list[list[Location]]:
        """What each position of a file refers to; nothing where the server cannot tell."""
        uri = path.as_uri()
        text = path.read_text(encoding="utf-8", errors="replace")
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        found = []
        for line, column in positions:
            place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}}
            found.append(_locations(self._answer(self._ask("textDocument/definition", place))))
        self._send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}})
        return found

    def _ask(self, method: str, params: Message) -> int:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        return self._number

    def _send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _answer(self, number: int) -> Any:
        while number not in self._answers:
            message = self._receive()
            if "method" not in message:
                self._answers[message["id"]] = message
            elif "id" in message:
                self._send({"id": message["id"], "result": self._reply(message)})
        return self._answers.pop(number).get("result")

    def _reply(self, request: Message) -> Any:
        """What a client answers to a request of the server."""
        if request["method"] != "workspace/configuration":
            return None
        named = {"python": {"analysis": self._settings["analysis"]}, "python.analysis": self._settings["analysis"]}
        return [named.get(item.get("section", ""), {}) for item in request["params"]["items"]]

    def _receive(self) -> Message:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise RuntimeError("the language server has ended")
        return json.loads(self._process.stdout.read(length))


def _locations(result: Any) -> list[Location]:
    rows = result if isinstance(result, list) else [result] if result else []
    found = []
    for row in rows:
        start = row.get("targetSelectionRange", row.get("range"))["start"]
        path = Path(unquote(urlparse(row.get("targetUri", row.get("uri"))).path))
        found.append(Location(path, start["line"], start["character"]))
    return found
