"""Configuration files of clients: any text is read or refused, and an edit of a readable one changes nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence

from atlas.chat.server_spec import read_servers, variables_of
from atlas.cli.chat.servers import described
from atlas.cli.clients import jsonc, toml_text
from atlas.cli.clients.edits import apply
from atlas.core.errors import ConfigError
from tests.fuzz.target import Target

KEY = ("mcpServers", "code-atlas")
TABLE = ("mcp_servers", "code-atlas")
ENTRY = {"command": "/bin/atlas", "args": ["mcp"]}
SERVER = '{"command": "x", "args": ["-y", "${A:-b}"], "env": {"K": "${env:KEY}"}, "cwd": "."}'
JSON = [
    "{}",
    "",
    "// Zed\n/* more */\n",
    f'{{"mcpServers": {{"a": {SERVER}}}}}',
    f'{{\n\t// servers\n\t"mcpServers": {{ // here\n\t\t"a": {SERVER}, // one\n\t}},\n}}\n',
    f'{{"mcpServers": {{"a": {SERVER}, "code-atlas": {{"command": "old"}}}}, "z": [1, {{}},]}}',
    '{"servers": {"b": {"type": "http", "url": "https://h/${P}", "headers": {"A": "Bearer {env:T}"}}}}',
    '{"mcp": {"c": {"type": "local", "command": ["x", "y"], "environment": {"K": "v"}, "enabled": true}}}',
    '{"context_servers": {"d": {"command": {"path": "x", "args": []}}}}',
]
TOML = [
    "",
    '[mcp_servers.a]\ncommand = "x"\nargs = ["y"] # z\n\n[mcp_servers.a.env]\nK = "v"\n',
    'a = """\n[mcp_servers.code-atlas]\n"""\nb = [\n  "[x]", # ]\n]\n[t]\nc = {d = "}"}\n',
    '[mcp_servers]\ncode-atlas = { command = "old" }\nx.command = "x"\n',
]


class ClientFiles(Target):
    name = "client_files"
    words = (
        *(b'"', b"'", b"{", b"}", b"[", b"]", b",", b":", b"//", b"/*", b"*/", b"\\", b"\n", b"\r\n", b"#", b"=", b"."),
        *(b'"mcpServers"', b'"command"', b'"args"', b'"url"', b'"env"', b"${", b"${A:-", b"{env:", b'"""', b"'''"),
        *(b"9" * 5000, b"\\ud800", b"\xef\xbb\xbf", b"null", b"NaN", b"1e999"),
    )

    def seeds(self) -> Sequence[bytes]:
        return [text.encode() for text in (*JSON, *TOML)]

    def check(self, data: bytes) -> str:
        text = data.decode("utf-8", "replace")
        return f"{self._json(text)} {self._toml(text)}"

    def _json(self, text: str) -> str:
        try:
            document = jsonc.load(text)
            edits = jsonc.put(text, KEY, ENTRY)
        except ConfigError:
            return "refused"
        specs, problems = read_servers(document, "f", None)
        for spec in specs:
            assert "\n  " in described(spec) and variables_of(spec) is not None
        read_servers(document, "f", {"A": "b"})
        after = apply(text, edits)
        servers = document.get("mcpServers", {})
        # callers compare so as well, and write nothing where it does not hold
        if jsonc.load(after) != {**document, "mcpServers": {**servers, "code-atlas": ENTRY}}:
            return "not edited"
        json.dumps([spec.name for spec in specs])
        return f"{len(specs)} {len(problems)}"

    def _toml(self, text: str) -> str:
        try:
            document = toml_text.load(text)
        except ConfigError:
            return "refused"
        after = apply(text, toml_text.put(text, TABLE, ENTRY))
        try:
            found = toml_text.load(after)
        except ConfigError:
            return "not edited"
        return "edited" if found.keys() - document.keys() <= {"mcp_servers"} else "not edited"
