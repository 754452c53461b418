"""Commands and scripts for a Valkey server: the only module that imports the driver and translates its errors.

Addresses come in, plain replies go out. Opens connections on demand and again after a failure; never repeats a command.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import ssl
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Protocol, Self, cast
from urllib.parse import parse_qs, unquote, urlsplit

from valkey import exceptions as driver
from valkey.asyncio import Connection as TcpConnection
from valkey.asyncio import ConnectionPool, SSLConnection, UnixDomainSocketConnection, Valkey

from atlas.core.errors import AtlasError, ConfigError, StoreError, Unavailable

ANSWER_SECONDS = 10.0
"""A server that is silent for longer counts as dead; a blocking command must end well before."""
FORMS = "use valkey://[user:password@]host:port/db, valkeys://... for TLS, or the path of a unix socket"


class MissingGroup(Exception):
    """The stream or the consumer group does not exist."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The address of a server; `shown` contains no secret."""

    shown: str
    options: Mapping[str, object] = field(repr=False)
    """The driver's connection options."""


@dataclass(frozen=True, slots=True)
class Script:
    """A Lua script and the digest under which the server caches it."""

    text: str
    digest: str


class _Client(Protocol):
    """The part of the driver's client that is used."""

    response_callbacks: dict[str, object]

    async def execute_command(self, *command: object) -> object: ...
    async def aclose(self) -> None: ...


class Connection:
    """A pool of connections to one server (or to the one node of a cluster that owns the keys)."""

    def __init__(self, address: ServerAddress) -> None:
        """Create a connection; sends nothing before the first command."""
        options: Mapping[str, Any] = address.options
        self._pool = ConnectionPool(
            # not the driver's time limit: under Python 3.11 it loses a cancellation that comes while a command is sent
            socket_timeout=None,
            socket_connect_timeout=ANSWER_SECONDS,
            decode_responses=True,
            encoding_errors="surrogateescape",  # paths need not be valid UTF-8
            lib_name=None,
            lib_version=None,
            **options,
        )
        self._client = cast(_Client, Valkey(connection_pool=self._pool))
        self._client.response_callbacks = {}  # replies without conversions by the driver
        self._shown = address.shown

    @classmethod
    def open(cls, url: str) -> Self:
        """Return a connection to a URL or the path of a unix socket. Raises `ConfigError` if it is neither."""
        return cls(parse_address(url))

    async def call(self, *command: str | int) -> object:
        """Send a command and return the plain reply; raise `MissingGroup` or errors of `atlas.core.errors`."""
        with translated(self._shown):
            return await self._send(*command)

    async def run(self, script: Script, keys: Sequence[str], given: Mapping[str, object]) -> Any:
        """Run a script with one JSON argument and return its JSON reply; loads the script on demand."""
        argument = json.dumps(given, ensure_ascii=False)
        with translated(self._shown):
            try:
                reply = await self._send("EVALSHA", script.digest, len(keys), *keys, argument)
            except driver.NoScriptError:
                reply = await self._send("EVAL", script.text, len(keys), *keys, argument)
        return json.loads(cast(str, reply))

    async def _send(self, *command: object) -> object:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._client.execute_command(*command)
        except TimeoutError as error:
            raise driver.TimeoutError(f"no answer within {ANSWER_SECONDS:g} seconds") from error

    async def aclose(self) -> None:
        """Close all connections; idempotent."""
        with translated(self._shown):
            await self._pool.aclose()


@cache
def load_script(name: str) -> Script:
    """Return `lua/<name>.lua`, preceded by the functions that all scripts share."""
    folder = resources.files("atlas.adapters.buses") / "lua"
    text = "".join((folder / f"{part}.lua").read_text("utf8") for part in ("common", name))
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


def parse_address(url: str) -> ServerAddress:
    """Parse a URL or a socket's path. Raises `ConfigError` for anything else."""
    if url.startswith("/"):
        return ServerAddress(url, {"connection_class": UnixDomainSocketConnection, "path": url})
    shown = _without_password(url)
    try:
        parts = urlsplit(url)
        port = parts.port or 6379
        db = int(parts.path.strip("/") or "0")
    except ValueError as error:
        raise ConfigError(f"the bus address {shown} cannot be understood: {error}", FORMS) from error
    query = parse_qs(parts.query)
    if parts.scheme not in ("valkey", "valkeys") or not parts.hostname or set(query) - {"ca"}:
        raise ConfigError(f"the bus address {shown} cannot be understood", FORMS)
    options: dict[str, object] = {
        "connection_class": TcpConnection,
        "host": parts.hostname,
        "port": port,
        "db": db,
        "username": unquote(parts.username) if parts.username else None,
        "password": unquote(parts.password) if parts.password else None,
        "socket_keepalive": True,
    }
    if parts.scheme == "valkeys":
        options |= {"connection_class": SSLConnection, "ssl_cert_reqs": "required", "ssl_check_hostname": True}
        if "ca" in query:
            options["ssl_ca_certs"] = query["ca"][0]
    return ServerAddress(shown, options)


@contextmanager
def translated(server: str) -> Generator[None]:
    """Raise `Unavailable`, `ConfigError`, `StoreError` or `MissingGroup` instead of the driver's exceptions."""
    try:
        yield
    except (driver.ValkeyError, OSError) as error:
        raise _translation(error, server) from error


def _translation(error: BaseException, server: str) -> AtlasError | MissingGroup:
    """Translate an error. On a unix socket the driver hides the server's reply behind a connection error."""
    while isinstance(error.__cause__, driver.ValkeyError):
        error = error.__cause__
    said = str(error)
    if said.startswith("NOGROUP"):
        return MissingGroup(said)
    if isinstance(error, driver.AuthenticationError | driver.AuthorizationError | driver.NoPermissionError):
        return ConfigError(
            f"the bus at {server} refuses this user: {said}", "check user and password in bus.url and what they may do"
        )
    if isinstance(error.__context__, ssl.SSLCertVerificationError):
        return ConfigError(
            f"the certificate of the bus at {server} is not trusted: {said}", "add ?ca=<file> to bus.url"
        )
    if isinstance(error, driver.OutOfMemoryError):
        return Unavailable(
            f"the bus at {server} is out of memory", "wait until events are processed, or raise maxmemory"
        )
    if isinstance(error, driver.BusyLoadingError):
        return Unavailable(f"the bus at {server} is still loading its data", "try again in a moment")
    if isinstance(error, driver.ReadOnlyError):
        return Unavailable(f"the bus at {server} is a replica", "name the primary in bus.url, or wait for the failover")
    if isinstance(error, driver.ResponseError):
        return _response_error(said, server)
    return Unavailable(f"the bus at {server} cannot be reached: {said}", "is the server running? see bus.url")


def _response_error(said: str, server: str) -> AtlasError:
    if said.startswith(("MOVED", "ASK", "CROSSSLOT")):
        return ConfigError(
            f"the bus at {server} belongs to a cluster and does not hold these keys: {said}",
            "set bus.prefix to a hash tag such as {atlas}: and name the node that owns it",
        )
    if said.startswith(("MISCONF", "NOREPLICAS", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN")):
        return Unavailable(f"the bus at {server} cannot take this now: {said}", "see the server's log")
    if "DB index" in said:
        return ConfigError(f"the bus at {server} has no such database: {said}", FORMS)
    return StoreError(
        f"the bus at {server} refused a command: {said}", "is it a Valkey server of version 7.2 or later?"
    )


def _without_password(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}" if rest else url.rpartition("@")[2]
