"""How servers are described: `mcpServers` JSON and the dialects of other clients -> `ServerSpec`. Pure.

A description that cannot be used is a problem with its reason; the others are used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from atlas.core.lazy_regex import lazy_regex

SERVER_TABLES = ("mcpServers", "servers", "mcp_servers", "context_servers", "mcp")
"""Keys under which clients keep their servers: most, VS Code, Codex, Zed, OpenCode."""

MAX_SERVERS = 100

MAX_NAME = 64
"""Characters of a server's name: it is shown, and stands before names of tools."""

_VARIABLE = lazy_regex(
    r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]{0,127}+)(?::-([^}]{0,500}+))?\}|\{env:([A-Za-z_][A-Za-z0-9_]{0,127}+)\}"
)
"""`${NAME}`, `${NAME:-default}`, `${env:NAME}` and OpenCode's `{env:NAME}`."""


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server: a command to start, or the address of a Streamable HTTP endpoint."""

    name: str
    command: str = ""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    folder: str = ""
    """Working folder of the command; "" = the user's home folder."""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    origin: str = ""
    """The file of the description, for messages."""
    is_foreign: bool = False
    """A project describes it: nobody but its author says what its tools do."""

    @property
    def place(self) -> str:
        """What is started or asked, for people and without secrets."""
        return self.url.split("?")[0] if self.url else self.command.rsplit("/", 1)[-1]


def read_servers(
    document: object, origin: str, variables: Mapping[str, str] | None
) -> tuple[tuple[ServerSpec, ...], tuple[str, ...]]:
    """Return the servers of a parsed configuration file, and the problems of those that cannot be used.

    `variables` replace `${NAME}` in commands, arguments, environments, addresses and headers; None leaves them.
    """
    table = _table(document)
    if table is None:
        return (), (f"{origin}: no servers (expected an object with the key mcpServers)",)
    specs: list[ServerSpec] = []
    problems: list[str] = []
    for name, body in list(table.items())[:MAX_SERVERS]:
        try:
            spec = _spec(name, body, origin)
            if spec is not None:
                specs.append(spec if variables is None else filled(spec, variables))
        except ValueError as error:
            problems.append(f"{origin}: {name[:MAX_NAME]}: {error}")
    if len(table) > MAX_SERVERS:
        problems.append(f"{origin}: only the first {MAX_SERVERS} servers are used")
    return tuple(specs), tuple(problems)


def filled(spec: ServerSpec, variables: Mapping[str, str]) -> ServerSpec:
    """Return a server with its variables replaced. Raises ValueError for one that is not set, and a wrong address."""

    def fill(text: str) -> str:
        return _fill(text, variables)

    url = fill(spec.url)
    if url and not url.startswith(("http://", "https://")):
        raise ValueError("url must begin with http:// or https://")
    return replace(
        spec,
        command=fill(spec.command),
        arguments=tuple(map(fill, spec.arguments)),
        environment={key: fill(value) for key, value in spec.environment.items()},
        folder=fill(spec.folder),
        url=url,
        headers={key: fill(value) for key, value in spec.headers.items()},
    )


def variables_of(spec: ServerSpec) -> tuple[str, ...]:
    """Return the names of the variables that an unfilled description refers to."""
    texts = (spec.command, *spec.arguments, *spec.environment.values(), spec.folder, spec.url, *spec.headers.values())
    names = (found[1] or found[3] for text in texts for found in _VARIABLE.finditer(text))
    return tuple(dict.fromkeys(names))


def _table(document: object) -> Mapping[str, object] | None:
    if not isinstance(document, dict):
        return None
    body = cast("dict[str, object]", document)
    for key in SERVER_TABLES:
        if isinstance(body.get(key), dict):
            return cast("dict[str, object]", body[key])
    return None


def _spec(name: str, body: object, origin: str) -> ServerSpec | None:
    """Return one server, None for one that is switched off. Raises ValueError."""
    if not isinstance(body, dict):
        raise ValueError("not an object")
    if not name.isprintable() or not 0 < len(name) <= MAX_NAME:
        raise ValueError(f"its name must have 1 to {MAX_NAME} printable characters")
    given = cast("dict[str, object]", body)
    if given.get("disabled") is True or given.get("enabled") is False:
        return None
    command, arguments = _command(given)
    url = given.get("url") or given.get("httpUrl") or given.get("serverUrl") or ""
    if not isinstance(url, str):
        raise ValueError("url is not a string")
    if bool(command) == bool(url):
        raise ValueError("it needs a command or a url, and not both")
    if given.get("type") == "sse":
        raise ValueError("the transport HTTP+SSE is not supported; Streamable HTTP and stdio are")
    folder = given.get("cwd", "")
    return ServerSpec(
        name=name,
        command=command,
        arguments=tuple(arguments),
        environment=_strings(given.get("env", given.get("environment", {})), "env"),
        folder=folder if isinstance(folder, str) else "",
        url=url,
        headers=_strings(given.get("headers", given.get("http_headers", {})), "headers"),
        origin=origin,
    )


def _command(given: Mapping[str, object]) -> tuple[str, list[str]]:
    """Return program and arguments, which OpenCode keeps in one list and Zed in an object."""
    command, arguments = given.get("command", ""), given.get("args", [])
    if isinstance(command, dict):
        inner = cast("dict[str, object]", command)
        command, arguments = inner.get("path", ""), inner.get("args", [])
    if isinstance(command, list):
        parts = _list(cast("list[object]", command), "command")
        return (parts[0], parts[1:]) if parts else ("", [])
    if not isinstance(command, str):
        raise ValueError("command is not a string")
    if not isinstance(arguments, list):
        raise ValueError("args is not a list")
    return command, _list(cast("list[object]", arguments), "args")


def _list(values: list[object], key: str) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        raise ValueError(f"{key} holds something that is not a string")
    return [str(value) for value in values]


def _strings(values: object, key: str) -> dict[str, str]:
    if not isinstance(values, dict):
        raise ValueError(f"{key} is not an object")
    return {str(name): str(value) for name, value in cast("dict[object, object]", values).items()}


def _fill(text: str, variables: Mapping[str, str]) -> str:
    """Replace variables. Raises ValueError for one that is not set and has no default."""

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[3]
        default: str | None = found[2]
        known = variables.get(name, default)
        if known is None:
            raise ValueError(f"the environment variable {name} is not set")
        return known

    return _VARIABLE.sub(value, text)


def unique(groups: Iterator[tuple[ServerSpec, ...]]) -> tuple[ServerSpec, ...]:
    """Return the servers of all groups; of equal names the first one counts."""
    found: dict[str, ServerSpec] = {}
    for group in groups:
        for spec in group:
            found.setdefault(spec.name, spec)
    return tuple(found.values())
