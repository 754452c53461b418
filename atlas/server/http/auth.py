"""Access control: checks the Host, Origin and bearer token of a request.

Host and Origin checks keep web pages out (DNS rebinding), the token keeps out everybody else, such as other users
of the machine. Input is header values, output a rejection or None. Tokens and header values are never logged or sent
back.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex
from atlas.runtime.process.files import create_once, make_private_folder, read_file
from atlas.runtime.process.installation_key import token_file

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

SHORTEST_TOKEN = 16
"""Characters. A shorter token can be guessed over a network."""
MAX_TOKEN_BYTES = 4096

OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""Permissions of everybody but the owner."""

TOKEN_HINT = 'Make one: python -c "import secrets; print(secrets.token_urlsafe(32))" > FILE; chmod 600 FILE'

_TOKEN = lazy_regex(r"[A-Za-z0-9._~+/=-]+")
"""Characters of a bearer token (RFC 6750)."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a request is rejected."""

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Access:
    """Requirements that a request must meet.

    `names` are the allowed hosts, in lower case and without ports. `addresses` also allows every IP address as host: an
    attacker's DNS can point a name at this machine, but not an address. `token` "" means that none is required.
    """

    names: frozenset[str]
    addresses: bool = False
    token: str = field(default="", repr=False)

    def rejection(self, headers: Mapping[str, str]) -> Rejection | None:
        """Return why a request with these headers (lower-case names) is rejected, or None. Host is checked first."""
        return self.check_host_origin(headers) or self._unknown(headers)

    def check_host_origin(self, headers: Mapping[str, str]) -> Rejection | None:
        """Return a rejection if the request is addressed to another host or comes from a foreign web page."""
        host = _host_of(f"//{headers.get('host', '')}")
        if not host or not (host in self.names or (self.addresses and _is_address(host))):
            return Rejection(421, "this server does not answer to that Host; see --allow-host")
        origin = headers.get("origin")
        if origin is not None and not self._is_own(origin, headers.get("host", "")):
            return Rejection(403, "requests of this Origin are not allowed")
        return None

    def _is_own(self, origin: str, host: str) -> bool:
        if not origin.startswith(("http://", "https://")):
            return False
        return _host_of(origin) in self.names or origin.partition("://")[2].lower() == host.lower()

    def _unknown(self, headers: Mapping[str, str]) -> Rejection | None:
        if not self.token:
            return None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _equal(given.strip(), self.token):
            return None
        problem = ', error="invalid_token"' if scheme else ""
        challenge = {"www-authenticate": f'Bearer realm="code-atlas"{problem}'}
        return Rejection(401, "a valid bearer token is required", challenge)


def make_access(host: str, *, is_open: bool, names: tuple[str, ...] = (), token: str = "") -> Access:
    """Return the requirements of a server that listens on `host`; `is_open` = other machines can reach it.

    Raises ConfigError when an open server has no token or one that is too short.
    """
    if is_open and not token:
        raise ConfigError(
            f"listening on {host} lets other machines connect, which requires a token",
            f"Give --token-file FILE or ATLAS_MCP_TOKEN, or listen on 127.0.0.1. {TOKEN_HINT}",
        )
    if is_open and len(token) < SHORTEST_TOKEN:
        raise ConfigError(f"the token has fewer than {SHORTEST_TOKEN} characters", TOKEN_HINT)
    own = {name.strip("[]").lower() for name in (host, *names)}
    return Access(frozenset(own | LOOPBACK_NAMES), addresses=is_open, token=token)


def read_token(file: Path | None, from_environment: str) -> tuple[str, str]:
    """Return the token, "" without one, and a warning about the permissions of its file, "" if they are safe.

    The file takes precedence over the environment. Raises ConfigError for a file without a usable token.
    """
    if file is None:
        return _usable(from_environment.strip(), "ATLAS_MCP_TOKEN") if from_environment.strip() else "", ""
    try:
        # a secret mounted into a container is often a link; its target must be a regular file
        file = file.resolve()
        mode = file.stat().st_mode
        content = read_file(file, 1 << 20, own=False)
    except OSError as error:
        raise ConfigError(f"cannot read the token file {file}: {error.strerror}", TOKEN_HINT) from error
    if len(content) > MAX_TOKEN_BYTES:
        raise ConfigError(f"the token file {file} is larger than {MAX_TOKEN_BYTES} bytes", TOKEN_HINT)
    token = _usable(content.decode("utf-8", "replace").strip(), str(file))
    return token, f"{file} can be read by other users; run: chmod 600 {file}" if mode & OTHERS else ""


def own_token() -> tuple[str, Path]:
    """Return this user's token for servers on this machine and its file: made once, because clients keep it.

    Raises ConfigError when it cannot be made, and for a file that another user could have written or read.
    """
    path = token_file()
    try:
        make_private_folder(path.parent)
        if path.parent.stat().st_mode & OTHERS:
            path.parent.chmod(0o700)
        if not path.exists():
            create_once(path, f"{secrets.token_urlsafe(32)}\n".encode())
        content = read_file(path, MAX_TOKEN_BYTES)
        is_shared = path.lstat().st_mode & OTHERS
    except OSError as error:
        hint = "Remove what is there, or give --token-file FILE or ATLAS_MCP_TOKEN."
        raise ConfigError(f"the token file {path} cannot be used: {error.strerror or error}", hint) from error
    token = _usable(content.decode("utf-8", "replace").strip(), str(path))
    if is_shared or len(token) < SHORTEST_TOKEN:
        what = "open to other users" if is_shared else "too short"
        raise ConfigError(f"the token file {path} is {what}", "Delete it: the next start makes another token.")
    return token, path


def _usable(token: str, place: str) -> str:
    if not token:
        raise ConfigError(f"{place} contains no token", TOKEN_HINT)
    if not _TOKEN.fullmatch(token):
        raise ConfigError(f"the token in {place} contains characters that a bearer token cannot have", TOKEN_HINT)
    return token


def _equal(given: str, wanted: str) -> bool:
    """Compare in a time that says nothing about how much was right, nor about the length."""
    digests = [hashlib.sha256(one.encode("utf-8", "replace")).digest() for one in (given, wanted)]
    return hmac.compare_digest(*digests)


def _host_of(url: str) -> str:
    """Return the host in lower case, without port and brackets; "" if invalid."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for an invalid port
        host = parts.hostname or ""
    except ValueError:
        return ""
    is_plain = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc or "\\" in parts.netloc)
    return host if is_plain else ""


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
