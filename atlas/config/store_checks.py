"""What settings must say of a store server; that a repository's file names none is checked in `config.py`.

Settings come in; ConfigError goes out, or nothing. No secret is shown in it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from atlas.config.settings import BOLT_SCHEMES, Settings, masked
from atlas.errors import ConfigError

_LOOKS_LIKE = 'It must look like "bolt://host:7687"; beginnings: ' + ", ".join(BOLT_SCHEMES)


def check_store(settings: Settings) -> None:
    """Raise ConfigError for a server whose description is not complete."""
    store = settings.store
    if not store.url:
        return
    _check_url(settings)
    if store.password and not store.user:
        raise ConfigError("store.user is missing: whose password is it?", "Set ATLAS_STORE_USER, for example to neo4j.")
    if store.ca_file:
        _check_certificate(settings)


def with_index_at(settings: Settings, place: str, here: Path) -> Settings:
    """Return the settings with the index at a server's address, or in a folder relative to `here`; as the user says.

    User, password and limits stay those of `settings`. Raises ConfigError for an address that is none.
    """
    origins = {**settings.origins, "store.url": "command line", "data_dir": "--data-dir"}
    if "://" in place:
        ca_file = settings.store.ca_file if "+s://" in place else ""
        changed = replace(settings, store=replace(settings.store, url=place, ca_file=ca_file), origins=origins)
        check_store(changed)
        return changed
    folder = (here / Path(place).expanduser()).resolve()
    return replace(settings, store=replace(settings.store, url=""), data_dir=folder, origins=origins)


def _check_url(settings: Settings) -> None:
    url, origin = settings.store.url, settings.origin("store.url")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    if not url.startswith(BOLT_SCHEMES) or not host or parts.path or parts.query or parts.fragment or "\\" in url:
        raise ConfigError(f"{origin}: store.url is no address of a Bolt server: {masked(url)}", _LOOKS_LIKE)
    if parts.username is not None or parts.password is not None:
        hint = "Set ATLAS_STORE_USER and ATLAS_STORE_PASSWORD instead."
        raise ConfigError(f"{origin}: store.url must not hold a user or password: {masked(url)}", hint)


def _check_certificate(settings: Settings) -> None:
    """Raise ConfigError unless it can be used."""
    store, origin = settings.store, settings.origin("store.ca_file")
    if "+s://" not in store.url:
        raise ConfigError(
            f"{origin}: store.ca_file is of use for bolt+s:// and neo4j+s:// only, not for {masked(store.url)}",
            "Write the address with +s, or leave the file out.",
        )
    path = settings.root / store.ca_file
    if not path.is_file():
        raise ConfigError(f"{origin}: store.ca_file is no file: {path}", "Name a PEM file.")
