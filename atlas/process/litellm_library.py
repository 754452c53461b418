"""The import of LiteLLM, an optional library, at its first use.

The import must not use the network (price list) or change the environment (LiteLLM overwrites TIKTOKEN_CACHE_DIR).
"""

from __future__ import annotations

import importlib
import os
import threading
from typing import Any, cast

from atlas.errors import ConfigError

_LOADING = threading.Lock()


def load_litellm() -> Any:
    """Return the library. Raises ConfigError if it is not installed. The first call takes some seconds."""
    with _LOADING:
        before = os.environ.get("TIKTOKEN_CACHE_DIR")
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        try:
            library = cast("Any", importlib.import_module("litellm"))
        except ImportError as error:
            raise ConfigError(
                f"LiteLLM cannot be loaded: {error}", "Install it: pip install 'code-atlas[litellm]'"
            ) from error
        finally:
            if before is None:
                os.environ.pop("TIKTOKEN_CACHE_DIR", None)
            else:
                os.environ["TIKTOKEN_CACHE_DIR"] = before
        library.telemetry = False
        library.suppress_debug_info = True
        return library
