"""Sources of a pack that was not built here: which of them an update may read, and where it may connect.

A stranger chose them. So the user agrees to packages of registries and public addresses, and names again what is on
this machine or its network. Nothing is looked up before: neither a path nor the name of a host.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from atlas.core.errors import ConfigError, NotFound
from atlas.core.fetching import LOCAL_NAMES
from atlas.packs.describe import KEPT_OPTIONS, BuildRequest
from atlas.packs.documentation.pack.folder import load_manifest
from atlas.packs.documentation.pack.manifest import Manifest, shown
from atlas.packs.documentation.sources.values import CollectOptions
from atlas.packs.records import built_here

if TYPE_CHECKING:
    from atlas.core.fetching import Fetcher, FetchRequest, FetchResponse

REGISTRIES = ("pypi", "npm", "crate")
MAX_SHOWN = 50
"""Sources of a pack from elsewhere: more cannot be agreed to."""


@dataclass(frozen=True, slots=True)
class Consent:
    """What the user agrees to for a pack from elsewhere."""

    named: tuple[str, ...] = ()
    """Sources that the user has named again, as they stand in the manifest."""
    public: bool = False
    """Packages of registries and public addresses, too."""


NO_CONSENT = Consent()


@dataclass(frozen=True, slots=True)
class ForeignSource:
    """A source that somebody else has chosen."""

    text: str
    is_local: bool
    """On this machine or its network."""

    @property
    def line(self) -> str:
        """The source for people."""
        return shown(self.text)


def request_of(folder: Path, consent: Consent = NO_CONSENT) -> BuildRequest:
    """Return the request that a pack was built with, as far as the user wants it to be made again.

    Raises NotFound and StoreError; ConfigError for a pack from elsewhere with sources that the user has not agreed to.
    """
    manifest = load_manifest(folder)
    if not manifest.sources:
        raise NotFound(f"the pack {manifest.title} names no sources", "build it again: atlas pack build")
    record = built_here(folder, manifest)
    if record is None:
        _check_consent(folder, manifest, consent)
    hosts = tuple(host for text in consent.named if (host := _host(text)))
    return BuildRequest(
        *(manifest.name, tuple(source.text for source in manifest.sources), manifest.version, manifest.library),
        *(manifest.library_version, manifest.ecosystem, manifest.description),
        options=_options(manifest, is_own=record is not None),
        folder=record.folder if record is not None else "",
        private=record.private if record is not None else hosts,
    )


def foreign_sources(folder: Path, manifest: Manifest, named: Sequence[str] = ()) -> list[ForeignSource]:
    """Return the sources of a pack that the user has not named; none of a pack that was built here.

    Raises ConfigError for a name that is no source of the pack.
    """
    texts = list(dict.fromkeys(source.text for source in manifest.sources))
    for name in named:
        if name not in texts:
            raise ConfigError(f"{name} is no source of the pack {manifest.title}", "`atlas pack info` lists them")
    if built_here(folder, manifest) is not None:
        return []
    return [ForeignSource(text, _is_local(text)) for text in texts if text not in named]


def _check_consent(folder: Path, manifest: Manifest, consent: Consent) -> None:
    left = foreign_sources(folder, manifest, consent.named)
    local = [source.line for source in left if source.is_local]
    if local:
        raise ConfigError(
            f"{manifest.title} was not built here, and its maker chose what is on this machine or its network: "
            f"{_listed(local)}",
            "If that is what you want, name each one: atlas pack update PACK --from SOURCE. Nothing was read.",
        )
    if left and (not consent.public or len(left) > MAX_SHOWN):
        raise ConfigError(
            f"{manifest.title} was not built here; an update reads {_listed([one.line for one in left])}",
            "Build it yourself (atlas pack build), if these are too many."
            if len(left) > MAX_SHOWN
            else "Agree with --accept-sources, or name each one: atlas pack update PACK --from SOURCE.",
        )


def _listed(lines: Sequence[str]) -> str:
    more = f", and {len(lines) - MAX_SHOWN:,} more" if len(lines) > MAX_SHOWN else ""
    return ", ".join(lines[:MAX_SHOWN]) + more


def _options(manifest: Manifest, *, is_own: bool) -> CollectOptions:
    """Return the options of the build. Those of a stranger raise no limit, add no host and obey robots.txt."""
    options = CollectOptions()
    for name in KEPT_OPTIONS:
        default: object = getattr(options, name)
        value = manifest.settings.get(name)
        if isinstance(value, list):
            value = tuple(map(str, cast("list[object]", value)))
        if type(value) is int and type(default) is int and not is_own:
            value = max(0, min(value, default))
        if type(value) is type(default):
            options = replace(options, **{name: value})
    return options if is_own else replace(options, hosts=(), ignore_robots=False)


def _host(text: str) -> str:
    """Return the host of a source on the web, "" for any other source."""
    url = text.strip().removeprefix("sitemap:")
    try:
        return (urlsplit(url).hostname or "") if url.startswith(("http://", "https://")) else ""
    except ValueError:
        return ""


def _is_local(text: str) -> bool:
    """Return whether a source is on this machine or its network, as far as its text says. Asks no name server."""
    scheme, _, rest = text.strip().partition(":")
    if scheme in REGISTRIES:
        return not rest
    host = _host(text).rstrip(".")
    numeric = _numeric(host) if host else None
    if numeric is not None:
        return not numeric.is_global or numeric.is_multicast or bool(getattr(numeric, "ipv4_mapped", None))
    return "." not in host or host.rpartition(".")[2].casefold() in LOCAL_NAMES


def _numeric(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address that a number stands for, in all forms that the system knows: 127.1, 0x7f.1, 2130706433."""
    try:
        found = socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
        return ipaddress.ip_address(str(found[0][4][0]).partition("%")[0])
    except (OSError, ValueError, UnicodeError):
        return None


class NamedHosts:
    """A fetcher that connects to this machine and its network only for hosts that the user has named."""

    def __init__(self, fetcher: Fetcher, hosts: Sequence[str]) -> None:
        self._fetcher, self._hosts = fetcher, frozenset(hosts)

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        """See `Fetcher.fetch`."""
        allowed = request.allow_private and _host(request.url) in self._hosts
        return await self._fetcher.fetch(replace(request, allow_private=allowed))

    async def is_private(self, url: str) -> bool:
        """See `Fetcher.is_private`; of a host that was not named False, so that its private addresses are refused."""
        return _host(url) in self._hosts and await self._fetcher.is_private(url)

    async def aclose(self) -> None:
        """See `Fetcher.aclose`."""
        await self._fetcher.aclose()
