"""Who may talk to the server: the Host and Origin of a request and its bearer token, against what was agreed at start.

Host and Origin keep web pages out (DNS rebinding), the token keeps out all others. Values in, a rejection or None out;
neither a token nor a header's value is ever logged or sent back.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from atlas.errors import ConfigError
from atlas.process.files import read_file

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

SHORTEST_TOKEN = 16
"""Characters; a shorter token can be guessed over a network."""
MAX_TOKEN_BYTES = 4096

TOKEN_HINT = 'Make one: python -c "import secrets; print(secrets.token_urlsafe(32))" > FILE; chmod 600 FILE'

_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")
"""What RFC 6750 lets a bearer token be made of."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a request is not served."""

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Access:
    """What a request must show.

    `names` are the hosts it may be addressed to, lower case and without ports. `addresses` also allows every IP address
    as host: names can be made to point here by somebody else's DNS, an address cannot. `token` "" = none is asked for.
    """

    names: frozenset[str]
    addresses: bool = False
    token: str = field(default="", repr=False)

    def rejection(self, headers: Mapping[str, str]) -> Rejection | None:
        """Return why a request with these headers (names in lower case) is refused, or None. Host comes first."""
        return self.check_host_origin(headers) or self._unknown(headers)

    def check_host_origin(self, headers: Mapping[str, str]) -> Rejection | None:
        """Return why the request was not meant for this server or comes from a web page; None when neither is so."""
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
    """Return what requests must show to a server that listens on `host`; `is_open` = others can reach it.

    Raises ConfigError when such a server has no token, or one that can be guessed.
    """
    if is_open and not token:
        raise ConfigError(
            f"listening on {host} lets other machines in, which needs a token",
            f"Give --token-file FILE or ATLAS_MCP_TOKEN, or listen on 127.0.0.1. {TOKEN_HINT}",
        )
    if is_open and len(token) < SHORTEST_TOKEN:
        raise ConfigError(f"the token has fewer than {SHORTEST_TOKEN} characters", TOKEN_HINT)
    own = {name.strip("[]").lower() for name in (host, *names)}
    return Access(frozenset(own | LOOPBACK_NAMES), addresses=is_open, token=token)


def read_token(file: Path | None, from_environment: str) -> tuple[str, str]:
    """Return the token, "" when there is none, and a warning about its file, "" when that is private.

    The file wins over the environment. Raises ConfigError for a file without a usable token.
    """
    if file is None:
        return _usable(from_environment.strip(), "ATLAS_MCP_TOKEN") if from_environment.strip() else "", ""
    try:
        # a secret that a container mounts is often a link; what it leads to must be a file
        file = file.resolve()
        mode = file.stat().st_mode
        content = read_file(file, 1 << 20, own=False)
    except OSError as error:
        raise ConfigError(f"cannot read the token file {file}: {error.strerror}", TOKEN_HINT) from error
    if len(content) > MAX_TOKEN_BYTES:
        raise ConfigError(f"the token file {file} is larger than {MAX_TOKEN_BYTES} bytes", TOKEN_HINT)
    token = _usable(content.decode("utf-8", "replace").strip(), str(file))
    readable = stat.S_ISREG(mode) and mode & (stat.S_IRGRP | stat.S_IROTH)
    return token, f"{file} can be read by other users; run: chmod 600 {file}" if readable else ""


def _usable(token: str, place: str) -> str:
    if not token:
        raise ConfigError(f"{place} holds no token", TOKEN_HINT)
    if not _TOKEN.fullmatch(token):
        raise ConfigError(f"the token in {place} holds characters that a bearer token cannot have", TOKEN_HINT)
    return token


def _equal(given: str, wanted: str) -> bool:
    """Compare in a time that says nothing about how much was right, nor about the length."""
    digests = [hashlib.sha256(one.encode("utf-8", "replace")).digest() for one in (given, wanted)]
    return hmac.compare_digest(*digests)


def _host_of(url: str) -> str:
    """Return the host in lower case, without port and brackets; "" for what is none."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for a port that is none
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
