"""What is known about a candidate for a question, as numbers about 0..1: the input of every ranking.

Lexical, semantic, structural, path and graph features, computed in Rust (`rust-parser/retrieval/src/rank/features.rs`)
from what the channels and the store say. `FEATURES` names those that have a weight, and `tests/bench/train_ranker.py`
fits it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from atlas.core.model import WordCounts


@dataclass(frozen=True, slots=True)
class QuestionEvidence:
    """What the channels and the store say about a question."""

    counts: WordCounts | None = None
    """None if words by file do not count."""
    file_weight: float = 0.0
    """How much files by meaning, mentions and coverage count, 0..1 (`file_evidence.file_weight`)."""
    file_meaning: Mapping[str, float] = field(default_factory=dict[str, float])
    """0..1 by path, as `mentions`."""
    mentions: Mapping[str, float] = field(default_factory=dict[str, float])
    descriptions: Mapping[str, float] = field(default_factory=dict[str, float])
    """0..1 by uid, as `namings`."""
    namings: Mapping[str, float] = field(default_factory=dict[str, float])
    channels: Mapping[str, Mapping[str, float]] | None = None
    """Scores by channel and uid: `words`, `meaning`, `prose`, `quality` 0..1, `cosine` as the model gives it, `name`,
    `phrase`, `written`, `graph`. If given, all features are computed."""


_NAMES = """
words meaning cosine name phrase graph file stem component stem_rarity path_rarity copy translation package_file
name_cover name_rarity qualified_rarity said_rarity coherence class method whole_file value external document
document_wanted reason_wanted decision_wanted window configuration_wanted windowed_file test test_wanted
language_wanted generated private underscore declaration callers depth length text_test text_document
text_window text_value text_copy text_file document_name document_rarity title file_meaning mentions coverage
"""
FEATURES = tuple(_NAMES.split())
"""The features that have a weight, in the order of the file of weights."""
