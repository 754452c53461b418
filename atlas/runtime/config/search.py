"""The settings of search, and of the sentence transformer behind its third signal. Values only."""

from __future__ import annotations

from dataclasses import dataclass

from atlas.runtime.config.declare import setting

RANKING_STAGES = (
    "files",
    "stems",
    "coherence",
    "file_meaning",
    "mentions",
    "coverage",
    "components",
    "titles",
    "descriptions",
    "intents",
    "copies",
    "symbols",
    "near_names",
    "places",
    "long_texts",
    "told",
    "bodies",
    "relevance",
    "grouping",
    "quality",
)
"""Stages of the ranking that can be switched off (`search.ranking.STAGES`)."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`[search]`: defaults of the query tools."""

    token_budget: int = setting(
        900,
        "Limit of a search answer, in cl100k_base tokens; if set, also of the other query tools.",
        1,
        200_000,
        shared=True,
        shared_high=2000,
    )
    limit: int = setting(
        15, "Hits per answer; unless it is set, hits that are not worth their tokens are left out.", 1, 50, shared=True
    )
    off: tuple[str, ...] = setting(
        (), f"Stages of the ranking to leave out: {', '.join(RANKING_STAGES)}.", choices=RANKING_STAGES, shared=True
    )
    fusion: str = setting(
        "weighted",
        "How words and meaning become one score: weighted, or rrf (reciprocal rank fusion).",
        choices=("weighted", "rrf"),
        shared=True,
    )
    learned: bool = setting(False, "Rank by learned weights of features instead of constants.", shared=True)


@dataclass(frozen=True, slots=True)
class QualitySettings:
    """`[quality]`: a sentence transformer as a third signal of search, besides words and the static models."""

    model: str = setting("", 'Folder of a sentence transformer in ONNX format with its tokenizer; "" = none.')
    url: str = setting("", 'Address of a text-embeddings-inference server instead; "" = none.', secret=True)
    api_key: str = setting("", "Key; from the environment only: ATLAS_QUALITY_API_KEY.", key=True)
    pooling: str = setting(
        "auto",
        'How a vector is made of those of tokens: "mean", "cls"; "auto" = as the model\'s files say.',
        choices=("auto", "mean", "cls"),
    )
    max_tokens: int = setting(0, "Longer texts are cut; 0 = as the model's files say, at most 512.", 0, 8192)
    batch: int = setting(16, "Texts of one run of the model, or of one request.", 1, 2048)
    threads: int = setting(1, "Threads of the daemon for the model, of low priority.", 1, 64)
    query_prefix: str = setting("auto", 'Prefix of a query; "auto" = the one the model was trained with.')
    document_prefix: str = setting("auto", 'Prefix of a text; "auto" = the one the model was trained with.')
    query_seconds: int = setting(2, "A question is answered without the model after this.", 1, 60)

    @property
    def is_on(self) -> bool:
        """Whether a model is named."""
        return bool(self.model or self.url)
