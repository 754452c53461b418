"""A real server of published indexes, tokens for it, and servers that answer as no honest one does."""

from __future__ import annotations

import http.server
import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from atlas.app.published.manifest import Entry, read_entry, read_manifest
from atlas.app.published.tokens import add_holder
from tests.surfaces.daemons import until
from tests.surfaces.processes import COMMAND, environment


class Server:
    """`atlas published serve` as a process of its own, with a shelf and a file of tokens."""

    def __init__(self, folder: Path) -> None:
        self.shelf, self.tokens = folder / "shelf", folder / "tokens.toml"
        folder.mkdir(parents=True, exist_ok=True)
        self.url = ""

    def token(self, name: str, *projects: str, publish: bool = False) -> str:
        return add_holder(self.tokens, name, projects, publish=publish)

    @contextmanager
    def running(self) -> Iterator[None]:
        options = ["--dir", str(self.shelf), "--tokens", str(self.tokens), "--port", "0"]
        log = self.tokens.with_name("serve.log")
        with log.open("w") as file:
            process = subprocess.Popen([*COMMAND, "published", "serve", *options], env=environment(), stderr=file)
        try:
            until(lambda: " at http://" in log.read_text(), "the server is ready", 60)
            found = re.search(r" at (http://\S+);", log.read_text())
            assert found
            self.url = found.group(1)
            yield
        finally:
            process.terminate()
            process.wait(20)

    def entry(self, project: str) -> Path:
        """The file of the only entry of a project."""
        (found,) = (self.shelf / project / "entries").glob("*.json")
        return found

    def body(self, project: str) -> Path:
        """The file of its body."""
        published = read_manifest(read_entry(self.entry(project).read_bytes()).manifest)
        return self.shelf / project / "bodies" / published.body

    def forge(self, project: str, change: Callable[[dict[str, object]], None]) -> None:
        """Change the manifest of the only entry, and keep its signature."""
        path = self.entry(project)
        entry = read_entry(path.read_bytes())
        values = json.loads(entry.manifest)
        change(values)
        path.write_text(Entry(json.dumps(values, sort_keys=True), entry.signature).text())


@contextmanager
def answering(reply: Callable[[dict[str, str]], tuple[int, dict[str, str], bytes]]) -> Iterator[str]:
    """A server whose answers a function gives, by the headers of a request; yields its URL."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", "0")))
            status, headers, body = reply({name.lower(): value for name, value in self.headers.items()})
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if "content-length" not in {name.lower() for name in headers}:
                self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
