"""Which embedding servers settings may name: code goes where the user said, never where a repository's file says.

Settings come in; ConfigError goes out, or nothing. No secret is shown in it.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from atlas.errors import ConfigError
from atlas.settings import SERVERS, Settings, is_loopback, masked


def check_embedder(settings: Settings) -> None:
    """Raise ConfigError for a server that is not complete, or that only the user may choose."""
    chosen = settings.embedder
    if chosen.api_key and not settings.by_user("embedder.api_key"):
        raise ConfigError(
            f"{settings.origin('embedder.api_key')}: embedder.api_key must not be in a file",
            "Set the environment variable ATLAS_EMBEDDER_API_KEY instead, and make a new key: this one is known.",
        )
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
    if chosen.provider == "litellm":
        # the model's name says to whom the code is sent, with a key that LiteLLM finds in the environment
        for name in ("provider", "model"):
            if not settings.by_user(f"embedder.{name}"):
                raise ConfigError(
                    f"{settings.origin(f'embedder.{name}')}: embedder.{name} decides for LiteLLM where code is sent",
                    f"A repository cannot choose that; set the environment variable ATLAS_EMBEDDER_{name.upper()}.",
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
    if not settings.by_user("embedder.url") and not is_loopback(host):
        raise ConfigError(
            f"{origin}: embedder.url is not an address on this machine: {masked(url)}",
            "A repository cannot choose where code is sent; set the environment variable ATLAS_EMBEDDER_URL instead.",
        )
