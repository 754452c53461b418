"""The settings of search. Values only."""

from __future__ import annotations

from dataclasses import dataclass

from atlas.config.declare import setting

RANKING_STAGES = (
    "files",
    "stems",
    "coherence",
    "titles",
    "intents",
    "copies",
    "symbols",
    "near_names",
    "long_texts",
    "relevance",
    "grouping",
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
    learned: bool = setting(False, "Rank by learned weights of features instead of constants.", shared=True)
