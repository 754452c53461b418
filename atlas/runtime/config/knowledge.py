"""The settings of notes, of memory, of the language model, and of chats with it."""

from __future__ import annotations

from dataclasses import dataclass

from atlas.runtime.config.declare import setting


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


@dataclass(frozen=True, slots=True)
class PacksSettings:
    """`[packs]`: questions to knowledge packs."""

    reranker_url: str = setting(
        "", 'Address of a text-embeddings-inference server with a cross-encoder; "" = no reranking.', secret=True
    )
    reranker_model: str = setting(
        "", 'Folder of a cross-encoder or sentence transformer in ONNX format, run in this process; "" = none.'
    )
    reranker_api_key: str = setting("", "Key; from the environment only: ATLAS_PACKS_RERANKER_API_KEY.", key=True)
    reranker_timeout_seconds: int = setting(10, "Time limit for an answer of it.", 1, 600)


@dataclass(frozen=True, slots=True)
class PapersSettings:
    """`[papers]`: `atlas papers`."""

    folder: str = setting("", 'Folder of the stored papers; "" = `papers` in the user\'s data directory.')
    url: str = setting(
        "https://export.arxiv.org/api/query", "Address that speaks arXiv's query interface.", secret=True
    )
    days: int = setting(7, "Days for which a search is answered from the store without asking again.", 0, 3650)
    pause_ms: int = setting(3000, "Pause between two requests; arXiv's terms of use ask for 3 seconds.", 0, 600_000)
    retries: int = setting(3, "Repetitions of a request that fails.", 0, 10)
    timeout_seconds: int = setting(20, "Time limit for an answer of the service.", 1, 600)
    citations_url: str = setting(
        "",
        'Address of a citation service; "" = none.',
        secret=True,
    )
    citations_format: str = setting(
        "semantic_scholar",
        "Interface of it: Semantic Scholar's Academic Graph API, or OpenAlex's.",
        choices=("semantic_scholar", "openalex"),
    )
    citations_api_key: str = setting("", "Key; from the environment only: ATLAS_PAPERS_CITATIONS_API_KEY.", key=True)
    citations_pause_ms: int = setting(1000, "Pause between two requests to it.", 0, 600_000)


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """`[chat]`: `atlas chat`."""

    servers: str = setting("", 'File with `mcpServers` (JSON, or TOML) that are connected; "" = only Code Atlas.')
    rounds: int = setting(20, "Requests to the model per question.", 1, 1000)
    result_tokens: int = setting(8000, "Limit of one tool result, in cl100k_base tokens.", 100, 1_000_000)
    context_tokens: int = setting(
        100_000, "Limit of a conversation; beyond it the oldest tool results are removed.", 1000, 10_000_000
    )
    connect_seconds: int = setting(30, "Time limit for starting or reaching a server.", 1, 600)
    call_seconds: int = setting(120, "Time limit for a tool call.", 1, 86_400)
