"""The settings of notes, of memory, and of a language model that helps with both."""

from __future__ import annotations

from dataclasses import dataclass

from atlas.config.declare import setting


@dataclass(frozen=True, slots=True)
class KnowledgeSettings:
    """`[knowledge]`: the notes of the project."""

    folder: str = setting(".knowledge", "Folder of the notes below the project root; indexed although hidden.")
    allow_write: bool = setting(True, "Offer agents the tools that write notes.")
    writes_per_minute: int = setting(6000, "Notes that one session may write within a minute.", 1, 1_000_000)
    personal: bool = setting(True, "Include the user's own notes, which belong to no project.")
    personal_over_http: bool = setting(False, "Include them over HTTP, too, where a token is required.")


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """`[memory]`: what agents remember."""

    identity: str = setting("", "Name or id of the entity that describes the user; `refresh` shows it first.")
    ttl_hours: int = setting(72, "Hours for which short-term memory is kept.", 1, 8784)


@dataclass(frozen=True, slots=True)
class LanguageModelSettings:
    """`[language_model]`: asked only if a model is named."""

    model: str = setting("", 'Name of a model as LiteLLM knows it, such as "ollama/llama3"; "" = none is asked.')
    url: str = setting("", 'Address of its server; "" = the provider\'s.', secret=True)
    api_key: str = setting("", "Key; from the environment only: ATLAS_LANGUAGE_MODEL_API_KEY.", key=True)
    timeout_seconds: int = setting(60, "Time limit for an answer.", 1, 3600)
