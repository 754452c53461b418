"""What is known about a candidate for a question, as numbers about 0..1: the input of every ranking. Pure.

Lexical, semantic, structural, path and graph features. `FEATURES` names them, and
`tests/bench/train_ranker.py` fits a weight to each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p

from atlas.code.question.languages import LanguageTerms
from atlas.code.question.parse_question import Query
from atlas.code.rank.paths import (
    component_share,
    is_copy,
    is_old_version,
    is_translation,
    newest_versions,
    read_components,
)
from atlas.code.rank.rank import Candidate, is_declaration
from atlas.code.retrieve.file_evidence import Coverage
from atlas.code.retrieve.file_prior import FileMatches
from atlas.core.english.stems import Split, part_roots, roots_of
from atlas.core.model import Label, NodeRow

FOCUS_POWER = 2
"""A name among other words counts by the square of its share of the words (adr/0008)."""
COHERENT = 3
"""Other candidates of the file that are evidence for a candidate."""
_CALLERS = 3.0
"""Logarithm of the number of callers that counts in full."""
_DEEP = 5.0
_LONG = 6.0
"""Logarithm of the number of lines that counts in full."""
_DOCUMENTS = frozenset((Label.DOC_FILE, Label.DOC_SECTION, Label.ADR))
_WHOLE_FILES = frozenset((Label.MODULE, Label.FILE, Label.PACKAGE, Label.DOC_FILE))
_EXTERNAL = frozenset((Label.EXTERNAL_PACKAGE, Label.EXTERNAL_SYMBOL, Label.PROJECT))
_REASONS = frozenset((Label.ADR, Label.DECISION, Label.CLAIM, Label.OBSERVATION))
_PAGES = frozenset(("markup", "text"))
_STEMLESS = frozenset(("__init__", "index", "mod", "main", "lib"))
"""Names of files that stand for their folder."""


@dataclass(frozen=True, slots=True)
class QuestionEvidence:
    """What the channels and the store say about a question."""

    query: Query
    hits: Mapping[str, Mapping[str, float]]
    """Score by channel and uid: `words`, `meaning`, `quality`, `prose`, `description` 0..1, and `name`, `phrase`,
    `written`, `graph`. By path: `file_meaning`, `mentions`, 0..1."""
    cosines: Mapping[str, float]
    """Cosine by uid, as the embedding model gives it."""
    files: FileMatches
    asked: frozenset[str]
    """Roots of the question's words."""
    split_words: Split
    languages: LanguageTerms
    coverage: Coverage | None = None
    """Which words files have together; None if evidence about files does not count."""
    file_weight: float = 0.0
    """How much files by meaning, mentions and coverage count, 0..1."""


def features(candidates: Sequence[Candidate], evidence: QuestionEvidence) -> list[dict[str, float]]:
    """Return all features of each candidate, in the same order."""
    found: list[dict[str, float]] = []
    of_words: dict[str, dict[str, float]] = {}
    for each, own in zip(candidates, main_features(candidates, evidence), strict=True):
        row = each.node.row
        if row.path not in of_words:
            of_words[row.path] = _of_path_words(row.path, evidence)
        own |= _of_channels(row, each.score, evidence) | of_words[row.path] | _of_name(row, evidence)
        own |= _of_kind(row, evidence) | _of_structure(each, evidence)
        found.append(own | _products(own))
    return found


def main_features(candidates: Sequence[Candidate], evidence: QuestionEvidence) -> list[dict[str, float]]:
    """Return the features that the constants of `rank.py` read, those that are 0 left out where that is cheaper."""
    by_file: dict[str, list[float]] = {}
    for each in candidates:
        by_file.setdefault(each.node.row.path, []).append(each.score)
    for scores in by_file.values():
        scores.sort(reverse=True)
    query, descriptions = evidence.query, evidence.hits.get("description", {})
    components = read_components(query.text)
    paths = {path: _of_path(path, evidence, components) for path in by_file}
    newest = newest_versions(() if query.reports else by_file)
    for path in by_file if newest else ():
        if is_old_version(path, newest) and not asks_version(query, path):
            paths[path]["copy"] = 1.0
    has_intent = query.wants_reasons or query.wants_configuration
    found: list[dict[str, float]] = []
    for each in candidates:
        path = each.node.row.path
        own = {**paths[path], "coherence": _coherence(each.score, by_file[path])}
        own["description"] = descriptions.get(each.node.row.uid, 0.0)
        found.append(own | _of_intents(each.node.row, query) if has_intent else own)
    return found


def asks_version(query: Query, path: str) -> bool:
    """Return whether a question names the version of a path: "in v3"."""
    return any(f"/{word}/" in f"/{path}" for word in query.text.lower().split())


def _of_channels(row: NodeRow, text: float, evidence: QuestionEvidence) -> dict[str, float]:
    """Return how well the channels match."""
    hits, uid = evidence.hits, row.uid
    return {
        "text": text,
        "words": hits["words"].get(uid, 0.0),
        "meaning": max(hits["meaning"].get(uid, 0.0), hits["prose"].get(uid, 0.0)),
        "quality": hits["quality"].get(uid, 0.0),
        "cosine": evidence.cosines.get(uid, 0.0),
        "name": hits["name"].get(uid, 0.0) * evidence.query.focus**FOCUS_POWER,
        "phrase": hits["phrase"].get(uid, 0.0),
        "written": hits["written"].get(uid, 0.0),
        "graph": hits["graph"].get(uid, 0.0),
    }


def _stem_roots(path: str, split_words: Split) -> tuple[str, ...]:
    """Return the roots of the parts of a file's name, or of its folder's name if the file has none of its own."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    if stem in _STEMLESS and folder:
        stem = folder.rpartition("/")[2]
    return part_roots(stem, split_words)


def _of_path(path: str, evidence: QuestionEvidence, components: tuple[str, ...]) -> dict[str, float]:
    """Return what the file says as a whole, and its name."""
    parts = _stem_roots(path, evidence.split_words)
    named = {"component": component_share(path, components)} if components else {}
    return (
        named
        | _of_whole_file(path, evidence)
        | {
            "file": evidence.files.scores.get(path, 0.0),
            "stem": sum(part in evidence.asked for part in parts) / len(parts) if parts else 0.0,
            "copy": float(is_copy(path, evidence.asked)),
        }
    )


def _of_whole_file(path: str, evidence: QuestionEvidence) -> dict[str, float]:
    """Return the evidence for a file besides its words, by the weight that it has for this question."""
    if evidence.coverage is None:
        return {}
    weight, hits = evidence.file_weight, evidence.hits
    return {
        "file_meaning": weight * hits["file_meaning"].get(path, 0.0),
        "mentions": weight * hits["mentions"].get(path, 0.0),
        "coverage": weight * evidence.coverage.share(path),
    }


def _of_path_words(path: str, evidence: QuestionEvidence) -> dict[str, float]:
    """Return what the words of a path say."""
    parts = frozenset(_stem_roots(path, evidence.split_words))
    return {
        "stem_rarity": evidence.files.share(parts & evidence.asked),
        "path_rarity": evidence.files.share(roots_of(evidence.split_words(path)) & evidence.asked),
        "translation": float(is_translation(path)),
        "package_file": float(path.rpartition("/")[2].partition(".")[0] in _STEMLESS),
    }


def _of_name(row: NodeRow, evidence: QuestionEvidence) -> dict[str, float]:
    """Return how the names of the node cover the question, and the question the name."""
    split, asked = evidence.split_words, evidence.asked
    parts = part_roots(row.name, split)
    qualified = roots_of(split(row.qualified_name))
    said = qualified | roots_of(split(f"{row.signature} {row.path}"))
    return {
        "name_cover": sum(part in asked for part in parts) / len(parts) if parts else 0.0,
        "name_rarity": evidence.files.share(frozenset(parts) & asked),
        "qualified_rarity": evidence.files.share(qualified & asked),
        "said_rarity": evidence.files.share(said & asked),
    }


def _coherence(text: float, scores: Sequence[float]) -> float:
    """Return the mean of the best other candidates of the file (`scores`, descending), those missing as 0."""
    others = sum(scores[: COHERENT + 1]) - text if text in scores[: COHERENT + 1] else sum(scores[:COHERENT])
    return max(0.0, others) / COHERENT


def _of_intents(row: NodeRow, query: Query) -> dict[str, float]:
    """Return whether the question asks for reasons or configuration and the node has such."""
    is_config = row.label == Label.CHUNK and row.kind == "config"
    return {
        "reason_wanted": float(query.wants_reasons and (row.label in _DOCUMENTS or row.label in _REASONS)),
        "decision_wanted": float(query.wants_reasons and row.label in _REASONS),
        "configuration_wanted": float(is_config and query.wants_configuration),
    }


def _of_kind(row: NodeRow, evidence: QuestionEvidence) -> dict[str, float]:
    """Return the kind of the node, and whether the question asks for that kind."""
    query = evidence.query
    is_document = row.label in _DOCUMENTS
    is_window = row.label == Label.CHUNK and row.kind != "code"
    is_page = is_document or (is_window and row.kind in _PAGES)
    is_config = is_window and row.kind == "config"
    kinds = {
        "class": row.label == Label.CLASS,
        "method": row.label == Label.METHOD,
        "whole_file": row.label in _WHOLE_FILES,
        "value": row.label == Label.VALUE,
        "external": row.label in _EXTERNAL,
        "document": is_document and not query.wants_documents,
        "document_wanted": is_page and query.wants_documents,
        "window": is_window and not (query.wants_configuration and is_config),
        "windowed_file": row.label == Label.FILE and evidence.languages.is_windowed(row.language),
        "test": row.is_test and not query.wants_tests,
        "test_wanted": row.is_test and query.wants_tests,
        "language_wanted": row.language in query.languages,
    }
    return {name: float(value) for name, value in kinds.items()} | _of_intents(row, query)


def _of_structure(candidate: Candidate, evidence: QuestionEvidence) -> dict[str, float]:
    row = candidate.node.row
    return {
        "generated": float(row.is_generated),
        "private": float(not row.exported),
        "underscore": float(row.name.startswith("_") and not row.name.startswith("__")),
        "declaration": float(is_declaration(candidate.node, evidence.languages)),
        "callers": min(log1p(candidate.degree), _CALLERS) / _CALLERS,
        "depth": row.qualified_name.count(".") / _DEEP,
        "length": min(log1p(max(row.end_line - row.start_line, 0)), _LONG) / _LONG,
    }


def _products(own: Mapping[str, float]) -> dict[str, float]:
    """Return products of features: how much the text counts depends on what it is the text of."""
    text = own["text"]
    return {
        "text_test": text * own["test"],
        "text_document": text * own["document"],
        "text_window": text * own["window"],
        "text_value": text * own["value"],
        "text_copy": text * own["copy"],
        "text_file": text * own["file"],
        "document_name": own["document"] * own["name_cover"],
        "document_rarity": own["document"] * own["name_rarity"],
        "title": own["document"] * own["name_cover"] * own["name_rarity"],
    }


_NAMES = """
words meaning cosine name phrase graph file stem component stem_rarity path_rarity copy translation package_file
name_cover name_rarity qualified_rarity said_rarity coherence class method whole_file value external document
document_wanted reason_wanted decision_wanted window configuration_wanted windowed_file test test_wanted
language_wanted generated private underscore declaration callers depth length text_test text_document
text_window text_value text_copy text_file document_name document_rarity title file_meaning mentions coverage
"""
FEATURES = tuple(_NAMES.split())
"""The features that have a weight, in the order of the file of weights."""

Features = Callable[[Sequence[Candidate], QuestionEvidence], list[dict[str, float]]]
