"""The language model that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atlas.core.language_model import LanguageModel
    from atlas.runtime.config.load import Settings


def make_language_model(settings: Settings) -> LanguageModel | None:
    """Return the configured language model, None without one. Sends nothing before its use."""
    chosen = settings.language_model
    if not chosen.model:
        return None
    from atlas.adapters.language_models.litellm import LiteLlmModel

    return LiteLlmModel(chosen.model, chosen.url, chosen.api_key, float(chosen.timeout_seconds))
