"""Errors of Bolt servers: which are transient, and each as an Atlas error with a next step.

Memgraph uses one code for all causes, so its messages distinguish them.
"""

from __future__ import annotations

import ssl
from collections.abc import Generator

from neo4j import exceptions

from atlas.core.errors import AtlasError, ConfigError, StoreError, Unavailable

_ONCE_MORE = ("unique constraint violation", "serialization error")
_ONCE_MORE_CODES = ("ConstraintValidationFailed", "EntityNotFound")
"""Rejected because of a concurrent write to the same key or node; a second attempt sees the other write."""
_CONFLICTS = ("Cannot resolve conflicting transactions",)
_BUSY = ("Cannot get shared access", "Cannot get unique access", "Cannot get read-only access")
_OUT_OF_MEMORY = ("OutOfMemory", "MemoryPoolOutOfMemory", "Memory limit exceeded")
_TIMED_OUT = ("because of transaction timeout", "TransactionTimedOut", "has been terminated")
_DISK_FULL = ("No space left on device", "Disk quota exceeded", "not enough space on the disk")
_REPLICA = (
    *("NotALeader", "ForbiddenOnReadOnlyDatabase", "read-only mode", "forbidden on the replica"),
    "No write service available",  # The driver's codes for the first two.
)
_UNENCRYPTED = ("Failed to establish encrypted connection",)
_LOST = (exceptions.ServiceUnavailable, exceptions.SessionExpired, OSError)


def translated(error: Exception, url: str) -> AtlasError:
    """Return the Atlas error for an error of the driver and the server at `url`, with its message on one line."""
    said = " ".join(str(getattr(error, "message", "") or error).split())
    code = str(getattr(error, "code", "") or "")
    if isinstance(error, exceptions.AuthError) or ".Security." in code:
        return ConfigError(
            f"{url} rejected the user or password: {said}",
            "set ATLAS_STORE_USER and ATLAS_STORE_PASSWORD to the credentials of the server",
        )
    if isinstance(error, TimeoutError):
        return Unavailable(f"{url} did not respond in time", "check whether the server is overloaded: atlas health")
    if timed_out(error):
        return Unavailable(
            f"{url} exceeded the time limit: {said}", "try again, narrow the request, or raise store.read_seconds"
        )
    if disk_full(error):
        return StoreError(f"the disk of {url} is full: {said}", "free space on the server, then run: atlas index")
    if on_replica(error):
        return Unavailable(f"{url} is a read-only replica: {said}", "set store.url to the main server")
    if out_of_memory(error):
        return Unavailable(f"{url} ran out of memory: {said}", "give the server more memory, then try again")
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return ConfigError(
                f"the certificate of {url} is not trusted: {cause.verify_message}",
                "set ATLAS_STORE_CA_FILE to a PEM file with the signing CA; `+ssc` instead of `+s` skips verification",
            )
    if _says(error, _UNENCRYPTED):
        *_, cause = _causes(error)
        return Unavailable(
            f"cannot reach {url} over TLS: {str(cause) or type(cause).__name__}",
            "remove `+s` from store.url if the server has no TLS; otherwise see the server's log",
        )
    if isinstance(error, _LOST):
        return Unavailable(
            f"cannot reach {url}: {said}", "start the server or correct store.url, then try again: atlas health"
        )
    if isinstance(error, (exceptions.Neo4jError, exceptions.DriverError)) and error.is_retryable():
        return Unavailable(f"{url}: {said}", "try again")
    return StoreError(f"{url}: {said}", "see the server's log")


def retryable(error: Exception, attempt: int) -> bool:
    """Return whether a retry may help."""
    said = _said(error)
    if isinstance(error, TimeoutError) or timed_out(error) or out_of_memory(error) or disk_full(error):
        return False
    if isinstance(error, _LOST):
        # After a restart of the server the pool holds connections to the old process; writes may then run twice.
        return attempt == 1
    if any(part in said for part in (*_ONCE_MORE, *_ONCE_MORE_CODES, *_REPLICA)):
        return attempt == 1
    if str(getattr(error, "code", "")).startswith("Memgraph."):
        return any(part in said for part in _CONFLICTS + _BUSY)
    return isinstance(error, (exceptions.Neo4jError, exceptions.DriverError)) and error.is_retryable()


def timed_out(error: Exception) -> bool:
    """Return whether the server ended a transaction at its time limit."""
    return _says(error, _TIMED_OUT)


def out_of_memory(error: Exception) -> bool:
    """Return whether a transaction needed more memory than the server allows; a retry would fail, too."""
    return _says(error, _OUT_OF_MEMORY)


def disk_full(error: Exception) -> bool:
    """Return whether the server could not write its files."""
    return _says(error, _DISK_FULL)


def on_replica(error: Exception) -> bool:
    """Return whether a read-only replica was asked to write."""
    return _says(error, _REPLICA)


def _causes(error: BaseException) -> Generator[BaseException]:
    """Yield the error and its causes, the root cause last."""
    each: BaseException | None = error
    while each is not None:
        yield each
        each = each.__cause__ or each.__context__


def _says(error: Exception, parts: tuple[str, ...]) -> bool:
    said = _said(error)
    return any(part in said for part in parts)


def _said(error: Exception) -> str:
    return f"{getattr(error, 'code', '')} {getattr(error, 'message', '') or error}"
