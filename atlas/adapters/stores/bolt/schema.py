"""The schema on a Bolt server: created idempotently and verified, and the vector index of each model."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence

from atlas.adapters.stores.bolt.connection import BoltConnection, Transaction
from atlas.adapters.stores.bolt.dialect import Dialect, IndexIdentity
from atlas.core.errors import SchemaMismatch, StoreError
from atlas.core.model import CODE, ModelInfo

VERSION = 4
_READ_VERSION = "MATCH (m:AtlasMeta) RETURN m.version"
_PUT_VERSION = "MERGE (m:AtlasMeta {key: 'schema'}) SET m.version = $version"
_PUT_IDENTITY = "MATCH (m:AtlasMeta {key: 'schema'}) WHERE m.identity IS NULL SET m.identity = $identity"
_READ_IDENTITY = "MATCH (m:AtlasMeta {key: 'schema'}) RETURN m.identity"


async def create_schema(link: BoltConnection, dialect: Dialect) -> None:
    """Create missing indexes and constraints and verify all of them.

    A server may report success for an index that it could not create. Raises `SchemaMismatch` for a graph of another
    version and `StoreError` if an index cannot be created.
    """
    await check_version(link)
    wanted = dialect.schema()
    present = await indexes(link, dialect)
    await _make(link, dialect, [(index, command) for index, command in wanted if index not in present])

    async def put(transaction: Transaction) -> None:
        await transaction.rows(_PUT_VERSION, version=VERSION)
        # Under the lock of the first statement: if two processes open a new server, one of them sets the identity.
        await transaction.rows(_PUT_IDENTITY, identity=secrets.token_hex(6))

    await link.write(put)


async def identity(link: BoltConnection) -> str:
    """Return the name that this graph received at creation, independent of its address; "" for an empty server."""

    async def read(transaction: Transaction) -> list[tuple[str | None]]:
        return await transaction.rows(_READ_IDENTITY)

    rows = await link.read(read)
    return (rows[0][0] or "") if rows else ""


async def check_version(link: BoltConnection) -> None:
    """Raise `SchemaMismatch` for a graph of another version; an empty server has none."""

    async def read(transaction: Transaction) -> list[int]:
        return [row[0] for row in await transaction.rows(_READ_VERSION)]

    versions = await link.read(read)
    if versions and versions != [VERSION]:
        raise SchemaMismatch(
            f"the graph on {link.address.url} has schema {versions[0]}, this version writes {VERSION}",
            "empty the database and run: atlas index",
        )


async def indexes(link: BoltConnection, dialect: Dialect) -> set[IndexIdentity]:
    """Return all existing indexes and constraints."""
    found: set[IndexIdentity] = set()
    for command in dialect.lists:
        found.update(dialect.known(command, await link.command(command)))
    return found


async def create_vector_index(link: BoltConnection, dialect: Dialect, model: ModelInfo) -> str:
    """Create the vector index of a model unless it exists; return the name of index and property."""
    name = vector_name(model)
    wanted = IndexIdentity("vector", name)
    if wanted not in await indexes(link, dialect):
        await _make(link, dialect, [(wanted, dialect.vector_index(name, model.dimension))])
    return name


def vector_name(model: ModelInfo) -> str:
    """Return the name of a model's vectors: property, index and key of the model."""
    said = "\0".join((model.provider, model.model, str(model.dimension), model.fingerprint))
    if model.space != CODE:  # A model in two spaces has two indexes.
        said += f"\0{model.space}"
    return "v_" + hashlib.blake2b(said.encode("utf8"), digest_size=8).hexdigest()


async def _make(link: BoltConnection, dialect: Dialect, missing: Sequence[tuple[IndexIdentity, str]]) -> None:
    """Create indexes and verify them; creation may fail because another process created the index concurrently."""
    if not missing:
        return
    refused: StoreError | None = None
    for _, command in missing:
        try:
            await link.command(command)
        except StoreError as error:
            refused = error
    if dialect.wait:
        await link.command(dialect.wait)
    present = await indexes(link, dialect)
    absent = [f"{index.kind} {index.name}" for index, _ in missing if index not in present]
    if absent:
        said = f": {refused.message}" if refused is not None else ""
        raise StoreError(f"{link.address.url} did not create {', '.join(absent)}{said}", "see the server's log")
