"""The connection to a Bolt server: transactions with deadlines, retries, and driver errors as Atlas errors.

Every statement runs in an explicit transaction, because servers enforce the mode READ only there. Schema commands are
the exception: servers allow them only outside of transactions.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, LiteralString, NamedTuple, TypeVar, cast

import neo4j
from neo4j import exceptions

from atlas.adapters.stores.bolt.errors import retryable, translated
from atlas.core.errors import ConfigError, StoreError
from atlas.core.wording import counted

FETCH_SIZE = 1000
"""Rows per fetch; the default of the driver."""
READ_SECONDS = 30.0
WRITE_SECONDS = 300.0
ROW_CAP = 2_000_000
"""Maximum number of rows of one statement; each item of a list counts as one."""

_SCHEMES = tuple(f"{name}{mode}" for name in ("bolt", "neo4j") for mode in ("", "+s", "+ssc"))
"""`+s` means TLS, `+ssc` TLS without certificate verification. Memgraph has no routing: `bolt` only."""
_GRACE = 5.0
"""Seconds beyond the server's transaction limit after which the client stops waiting."""
_ATTEMPTS = 6
_FIRST_WAIT = 0.05
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Address:
    """Address and credentials of the server. `auth` is (user, password); `ca_file` is a PEM file for TLS."""

    url: str
    database: str | None = None
    auth: tuple[str, str] | None = None
    ca_file: str = ""
    connect_seconds: float = 5.0
    read_seconds: float = READ_SECONDS
    write_seconds: float = WRITE_SECONDS


class _Quiet(list[Any]):
    """A list with a short `repr`: the driver renders all parameters for its log, enabled or not."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"[{counted(len(self), 'value')}]"


def _quiet(value: object) -> object:
    return _Quiet(cast("list[Any]", value)) if isinstance(value, list) else value


class StatementDialect(NamedTuple):
    """How a dialect renders statements and parameters; see `Dialect`."""

    statement: Callable[[str], str] = str
    parameters: Callable[[dict[str, object]], dict[str, object]] = dict


class Transaction:
    """An open transaction: statements with parameters in, rows as tuples out."""

    def __init__(self, transaction: neo4j.AsyncTransaction, dialect: StatementDialect) -> None:
        self._transaction, self._dialect = transaction, dialect

    async def rows(self, text: str, /, **parameters: object) -> list[tuple[Any, ...]]:
        """Run a statement and return all its rows. Raises `StoreError` for more than `ROW_CAP`."""
        sent = self._dialect.parameters({name: _quiet(value) for name, value in parameters.items()})
        result = await self._transaction.run(cast("LiteralString", self._dialect.statement(text)), sent)
        rows: list[tuple[Any, ...]] = []
        count = 0
        async for record in result:
            row = tuple(record.values())
            rows.append(row)
            count += max([1, *(len(cast("list[Any]", cell)) for cell in row if isinstance(cell, list))])
            if count > ROW_CAP:
                raise StoreError(f"a statement returned more than {ROW_CAP:,} rows")
        return rows

    async def some(
        self, text: str, parameters: dict[str, object], limit: int, take: Callable[[list[object]], None] | None = None
    ) -> tuple[list[str], list[list[object]], bool]:
        """Run a statement; return its columns, at most `limit` rows, and whether there are more.

        `take` is called with each row on arrival and may raise, which stops the reading.
        """
        result = await self._transaction.run(cast("LiteralString", text), parameters)
        columns, rows = list(result.keys()), list[list[object]]()
        async for record in result:
            if len(rows) == limit:
                return columns, rows, True
            rows.append(list(record.values()))
            if take is not None:
                take(rows[-1])
            # Buffered records arrive without a suspension point; other tasks wait for the event loop.
            await asyncio.sleep(0)
        return columns, rows, False


class BoltConnection:
    """A connection pool to one server, for one event loop."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.dialect = StatementDialect()
        if address.url.partition("://")[0] not in _SCHEMES:
            raise ConfigError(f"{address.url!r} is not an address of a Bolt server", "store.url is bolt://host:port")
        options: dict[str, Any] = {}
        url = address.url
        if address.ca_file:
            # The driver accepts a certificate only with addresses that do not specify encryption.
            url = url.replace("+s://", "://", 1)
            options = {"encrypted": True, "trusted_certificates": neo4j.TrustCustomCAs(address.ca_file)}
        try:
            # The options of the driver are not typed.
            self._driver: Any = cast("Any", neo4j.AsyncGraphDatabase).driver(
                url,
                auth=address.auth,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
                connection_timeout=address.connect_seconds,
                connection_acquisition_timeout=max(30.0, address.connect_seconds),
                max_connection_pool_size=16,
                **options,
            )
        except (exceptions.ConfigurationError, ValueError) as error:
            raise ConfigError(f"{address.url}: {error}", "store.url is bolt://host:port") from error

    async def agent(self) -> str:
        """Return the agent string of the server. Raises `Unavailable` if it cannot be reached."""
        try:
            # Connecting, TLS and the handshake each have the limit.
            async with asyncio.timeout(3 * self.address.connect_seconds):
                return (await self._driver.get_server_info()).agent
        except (exceptions.Neo4jError, exceptions.DriverError, OSError) as error:
            raise translated(error, self.address.url) from error

    async def read(
        self,
        work: Callable[[Transaction], Awaitable[_Result]],
        seconds: float | None = None,
        *,
        fetch_size: int = FETCH_SIZE,
    ) -> _Result:
        """Run `work` in a read-only transaction of at most `seconds`; `fetch_size` counts rows."""
        return await self._retried(work, neo4j.READ_ACCESS, seconds or self.address.read_seconds, fetch_size=fetch_size)

    async def write(
        self, work: Callable[[Transaction], Awaitable[_Result]], seconds: float | None = None, *, once: bool = False
    ) -> _Result:
        """Run `work` in a transaction and commit it. Transient errors repeat it, unless `once`."""
        attempts = 1 if once else _ATTEMPTS
        return await self._retried(work, neo4j.WRITE_ACCESS, seconds or self.address.write_seconds, attempts)

    async def command(self, text: str, /, **parameters: object) -> list[tuple[Any, ...]]:
        """Run a schema command outside of a transaction."""

        async def run() -> list[tuple[Any, ...]]:
            async with (
                asyncio.timeout(self.address.write_seconds + _GRACE),
                self._driver.session(database=self.address.database) as session,
            ):
                result = await session.run(cast("LiteralString", text), parameters)
                return [tuple(record.values()) async for record in result]

        return await self._attempts(run)

    async def aclose(self) -> None:
        """Close all connections; idempotent."""
        await self._driver.close()

    async def _retried(
        self,
        work: Callable[[Transaction], Awaitable[_Result]],
        mode: str,
        seconds: float,
        attempts: int = _ATTEMPTS,
        fetch_size: int = FETCH_SIZE,
    ) -> _Result:
        async def run() -> _Result:
            async with (
                asyncio.timeout(seconds + _GRACE),
                self._driver.session(
                    database=self.address.database, default_access_mode=mode, fetch_size=fetch_size
                ) as session,
                await session.begin_transaction(timeout=seconds) as transaction,
            ):
                result = await work(Transaction(transaction, self.dialect))
                await transaction.commit()
                return result

        return await self._attempts(run, attempts)

    async def _attempts(self, run: Callable[[], Awaitable[_Result]], most: int = _ATTEMPTS) -> _Result:
        wait = _FIRST_WAIT
        for attempt in range(1, most + 1):
            try:
                return await run()
            except (exceptions.Neo4jError, exceptions.DriverError, OSError) as error:
                if attempt == most or not retryable(error, attempt):
                    raise translated(error, self.address.url) from error
                await asyncio.sleep(wait * random.uniform(0.8, 1.2))
                wait *= 2
        raise AssertionError("the last attempt returns or raises")
