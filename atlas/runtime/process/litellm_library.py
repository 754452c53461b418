"""LiteLLM, an optional library: its import at the first use, arguments of requests, and what its errors say.

The import must not use the network (price list) or change the environment: LiteLLM overwrites TIKTOKEN_CACHE_DIR and
reads the `.env` of the folders above its own, which may be a stranger's clone.
"""

from __future__ import annotations

import importlib
import json
import os
import threading
import warnings
from typing import Any, cast

from atlas.core.errors import ConfigError

_LOADING = threading.Lock()

_HARMLESS_WARNING = r"Items? '.* on TypedDict class '\w+' (is|are) using the `ReadOnly` qualifier"
"""Pydantic's remark about LiteLLM's own types, said whenever it builds one of them; a user cannot act on it."""


def load_litellm() -> Any:
    """Return the library. Raises ConfigError if it is not installed. The first call takes some seconds."""
    with _LOADING:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        before = dict(os.environ)
        os.environ["LITELLM_MODE"] = "PRODUCTION"  # anything but DEV reads no `.env`
        warnings.filterwarnings("ignore", message=_HARMLESS_WARNING, category=UserWarning)
        try:
            library = cast("Any", importlib.import_module("litellm"))
        except ImportError as error:
            from atlas.runtime.process.extras import how_to_install

            raise ConfigError(f"LiteLLM cannot be loaded: {error}", how_to_install("litellm")) from error
        finally:
            for name in os.environ.keys() - before.keys():
                del os.environ[name]
            os.environ.update(before)
        library.telemetry = False
        library.suppress_debug_info = True
        return library


def request_options(url: str, key: str, seconds: float) -> dict[str, object]:
    """Return the arguments that all requests share; empty `url` and `key` mean the provider's defaults."""
    options: dict[str, object] = {"timeout": seconds, "num_retries": 0, "max_retries": 0}
    return options | ({"api_base": url} if url else {}) | ({"api_key": key} if key else {})


def describe_error(error: Exception, key: str, most_characters: int) -> str:
    """Return the message of a LiteLLM error on one line, without the key.

    OpenAI's client leaves the body of a response out of the message unless it has OpenAI's shape; it is added here.
    """
    said = " ".join(str(error).split())
    try:
        body = " ".join(str(getattr(getattr(error, "response", None), "text", "") or "").split())
    except Exception:  # noqa: BLE001 isolation: the body of a streamed response cannot be read here
        body = ""
    if body and body not in said and not any(text in said for text in _texts(body)):
        said = f"{said}: {body}"
    return (said.replace(key, "***") if key else said)[:most_characters]


def _texts(body: str) -> list[str]:
    """Return the message of an error in OpenAI's shape, if the body has one."""
    try:
        parsed = cast("dict[str, Any]", json.loads(body))
        return [str(parsed["error"]["message"])]
    except (ValueError, KeyError, TypeError):
        return []
