"""What settings must say of an embedding server; that a repository's file names none is checked in `config.py`.

Settings come in; ConfigError goes out, or nothing. No secret is shown in it.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from atlas.config.settings import SERVERS, TEI_URL, Settings, masked
from atlas.errors import ConfigError


def check_embedder(settings: Settings) -> None:
    """Raise ConfigError for a server whose description is not complete."""
    chosen = settings.embedder
    if chosen.provider not in SERVERS:
        return
    if settings.embedder_url:
        _check_url(settings)
    if chosen.provider == "openai" and not chosen.url:
        raise ConfigError(
            "embedder.url is missing: which server is it?",
            "Set ATLAS_EMBEDDER_URL, for example to http://127.0.0.1:11434/v1 or https://api.openai.com/v1.",
        )
    if chosen.provider != "tei" and not chosen.model:
        hint = "Set ATLAS_EMBEDDER_MODEL to a name that the server knows."
        raise ConfigError(f'embedder.model is missing: provider "{chosen.provider}" needs one', hint)
    if chosen.provider == "tei" and chosen.api_key and not chosen.url:
        raise ConfigError(
            "embedder.url is missing: which server is the key for?",
            f"Set ATLAS_EMBEDDER_URL, for example to {TEI_URL}: a key is sent only to a server that was named.",
        )


def _check_url(settings: Settings) -> None:
    url = settings.embedder_url
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    origin = settings.origin("embedder.url")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or "\\" in url:
        hint = 'It must look like "http://host:port" or "https://host/v1".'
        raise ConfigError(f"{origin}: embedder.url is no address of a server: {masked(url)}", hint)
    if parts.username is not None or parts.password is not None:
        hint = "Put the key into the environment variable ATLAS_EMBEDDER_API_KEY."
        raise ConfigError(f"{origin}: embedder.url must not hold a user or password: {masked(url)}", hint)
