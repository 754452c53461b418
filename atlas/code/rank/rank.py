"""Code-aware ranking: fused scores to an order. Pure; every number is a named constant with its reason.

The fused score measures how well the text matches; the factors here measure how useful a node of that kind is as an
answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import log1p
from types import MappingProxyType

from atlas.code.question.languages import LanguageTerms
from atlas.code.question.parse_question import Query
from atlas.code.question.translations import is_translation
from atlas.core.model import Label, Node

LABEL_FACTOR: Mapping[str, float] = MappingProxyType(
    {
        Label.CLASS: 1.0,
        Label.FUNCTION: 1.0,
        Label.METHOD: 1.0,
        Label.DOC_SECTION: 0.9,
        Label.ADR: 0.9,
        Label.CLAIM: 0.9,
        Label.DECISION: 0.9,
        Label.ENTITY: 0.85,
        Label.OBSERVATION: 0.85,
        Label.MODULE: 0.85,
        Label.FILE: 0.85,
        Label.DOC_FILE: 0.85,
        Label.CHUNK: 0.85,
        Label.VALUE: 0.8,
        Label.PACKAGE: 0.85,
        Label.EXTERNAL_SYMBOL: 0.4,
        Label.EXTERNAL_PACKAGE: 0.4,
        Label.PROJECT: 0.3,
    }
)
"""Definitions with a body are more useful than the file around them, values less, names of other packages least."""
TEST_FACTOR = 0.2
"""Tests repeat the words of the code under test and would outrank it without this factor."""
TEST_NAMED_FACTOR = 0.5
"""The question names it: a library has helpers for tests as well (`override_settings`)."""
TEST_WANTED_FACTOR = 1.2
"""The question mentions tests."""
GENERATED_FACTOR = 0.5
PRIVATE_FACTOR = 0.95
"""Among equals, prefer exported symbols; the factor is close to 1, because helpers are often the target."""
DECLARATION_FACTOR = 0.95
"""Prototypes, overloads and stubs rank below the definition with the implementation."""
LANGUAGE_FACTOR = 1.15
"""The question names the node's language."""
PATH_BONUS = 0.1
"""If all query words occur in the path; a share of the words earns the same share of the bonus."""
CENTRAL_BONUS = 0.01
"""Per e-fold of callers, up to `CENTRAL_LIMIT`: breaks ties in favour of central code."""
CENTRAL_LIMIT = 3.0
WINDOW_FACTOR = 0.75
"""Configuration, markup and text repeat the words of the code that they belong to. A question that names their language
or their path asks for them."""
WINDOWED_FILE_FACTOR = 0.5
"""A file whose text is in windows of lines has no text of its own."""
TRANSLATION_FACTOR = 0.6
"""A translated document says what its original says."""
DOCUMENT_WANTED_FACTOR = 1.4
"""The question asks for a page, or how to do something. Windows of markup and text count as documents."""
STATED_FACTOR = 0.8
"""Documents, where the question is a sentence of documentation."""
REPORTED_FACTOR = 0.5
"""Documents, where the question is a long text, such as a report: manuals, release notes and change logs repeat its
words, but it is about code, unless its title asks for documents or reasons."""
REASON_WANTED_FACTOR = 1.4
"""The question asks why: documents give reasons, code does not."""
DECISION_WANTED_FACTOR = 1.25
"""The same for records of decisions and notes, on top of it: they are written to answer it."""
CONFIGURATION_WANTED_FACTOR = 3.0
"""The question asks for a setting of the project, and this is a file of settings."""
COPY_FACTOR = 0.8
"""Legacy and vendored code and examples say what their original says."""
FILE_BONUS = 0.12
"""For the file that matches the question's words best as a whole; a lower share for the others (`file_prior.py`)."""
COMPONENT_BONUS = 0.2
"""For the file that a title names in front of a colon (`components.py`)."""
STEM_BONUS = 0.03
"""If all parts of the file's name are words of the question."""
COHERENCE_BONUS = 0.05
"""If the file's other candidates match in full. A name has one place: the more of the question is a name, the less it
counts."""
FILE_MEANING_BONUS = 0.35
"""For the file whose own text is nearest to the question; a lower share for the next 59 (`file_evidence.py`). It does
most for questions in other words than the code. Documents have none: a section is found by its own vector."""
MENTIONS_BONUS = 0.55
"""For code of a file to which all mentions in matching documents lead."""
COVERAGE_BONUS = 0.35
"""For the file whose definitions have all words of the question together."""
DESCRIPTION_BONUS = 0.55
"""For the candidate whose path, name, signature and documentation are most like the question, by the model of prose."""
STATED_TOPIC_FACTOR = 0.6
"""Of these four bonuses, where the question is a sentence of documentation: it describes one definition, no topic."""
DEPTH_PENALTY = 0.004
"""Per segment of the qualified name: among equals, prefer the shorter name."""

_REDEFINITION = re.compile(r"#\d+$")
_DOCUMENTS = frozenset((Label.DOC_FILE, Label.DOC_SECTION, Label.ADR))
_PAGES = frozenset(("markup", "text"))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node with its relevance signals."""

    node: Node
    score: float
    channels: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    degree: int = 0
    """Number of incoming edges (calls, imports, subclasses)."""
    also: tuple[str, ...] = ()
    """Uids of the same symbol that were merged into this candidate."""
    features: Mapping[str, float] = field(default_factory=dict[str, float])
    """What is known about it for the question (`features.FEATURES`); empty where only one channel was asked."""


def rank(
    candidates: Iterable[Candidate],
    query: Query,
    split_words: Callable[[str], list[str]],
    languages: LanguageTerms,
    *,
    demote_tests: bool = True,
) -> list[Candidate]:
    """Return candidates best first, one per symbol, ties by name; `demote_tests` False ranks tests like other code."""

    @cache  # Several candidates belong to one file.
    def words_of(path: str) -> frozenset[str]:
        return frozenset(split_words(path))

    # The constructor takes a third of the time of `replace`.
    scored = [
        Candidate(
            each.node,
            _score(each, query, words_of, languages, demote_tests),
            each.channels,
            each.reasons,
            each.degree,
            each.also,
            each.features,
        )
        for each in candidates
    ]
    return collapse(scored, languages)


def collapse(ranked: Sequence[Candidate], languages: LanguageTerms) -> list[Candidate]:
    """Keep one candidate per symbol: class before constructor, definition before declaration and stub."""
    groups: dict[str, list[Candidate]] = {}
    classes = {each.node.row.qualified_name for each in ranked if each.node.row.label == Label.CLASS}
    for each in ranked:
        groups.setdefault(_symbol(each.node, classes, languages), []).append(each)
    kept = [group[0] if len(group) == 1 else _merged(group, languages) for group in groups.values()]
    kept.sort(key=_order)
    return kept


def _merged(group: Sequence[Candidate], languages: LanguageTerms) -> Candidate:
    best = min(group, key=lambda each: (_preference(each.node, languages), _order(each)))
    return replace(
        best,
        score=max(each.score for each in group),
        channels=tuple(dict.fromkeys(name for each in group for name in each.channels)),
        reasons=tuple(dict.fromkeys(reason for each in group for reason in each.reasons)),
        also=tuple(each.node.row.uid for each in group if each is not best),
    )


def is_declaration(node: Node, languages: LanguageTerms) -> bool:
    """Return whether a node only declares a symbol that is defined elsewhere."""
    return "declaration" in node.row.modifiers.split() or node.row.path.endswith(languages.declarations)


def _score(
    candidate: Candidate,
    query: Query,
    words_of: Callable[[str], frozenset[str]],
    languages: LanguageTerms,
    demote_tests: bool,
) -> float:
    row, known = candidate.node.row, candidate.features
    score = candidate.score + FILE_BONUS * known.get("file", 0.0) + STEM_BONUS * known.get("stem", 0.0)
    score += COHERENCE_BONUS * known.get("coherence", 0.0) * (1 - query.focus)
    topic = FILE_MEANING_BONUS * known.get("file_meaning", 0.0) + MENTIONS_BONUS * known.get("mentions", 0.0)
    topic += COVERAGE_BONUS * known.get("coverage", 0.0)
    topic += DESCRIPTION_BONUS * known.get("description", 0.0) * (1 - query.focus)
    score += topic * (STATED_TOPIC_FACTOR if query.states else 1.0)
    score += COMPONENT_BONUS * known.get("component", 0.0)
    score *= LABEL_FACTOR.get(row.label, 1.0)
    if row.is_test and query.wants_tests:
        score *= TEST_WANTED_FACTOR
    elif row.is_test and demote_tests:
        score *= TEST_NAMED_FACTOR if row.name in query.names else TEST_FACTOR
    if row.is_generated:
        score *= GENERATED_FACTOR
    if not row.exported:
        score *= PRIVATE_FACTOR
    if is_declaration(candidate.node, languages):
        score *= DECLARATION_FACTOR
    is_page = row.label in _DOCUMENTS or (row.label == Label.CHUNK and row.kind in _PAGES)
    if is_page and query.reports and not (query.wants_documents or query.wants_reasons):
        score *= REPORTED_FACTOR
    if query.wants_documents and is_page:
        score *= DOCUMENT_WANTED_FACTOR
    elif known.get("configuration_wanted"):
        score *= CONFIGURATION_WANTED_FACTOR
    elif row.language in query.languages:
        score *= LANGUAGE_FACTOR
    elif row.label == Label.CHUNK and row.kind != "code":
        score *= WINDOW_FACTOR
    if known.get("reason_wanted"):
        score *= REASON_WANTED_FACTOR * (DECISION_WANTED_FACTOR if known.get("decision_wanted") else 1.0)
    if query.states and row.label in _DOCUMENTS:
        score *= STATED_FACTOR
    if known.get("copy"):
        score *= COPY_FACTOR
    if row.label == Label.FILE and languages.is_windowed(row.language):
        score *= WINDOWED_FILE_FACTOR
    if row.label in _DOCUMENTS and is_translation(row.path):
        score *= TRANSLATION_FACTOR
    if query.words:
        in_path = words_of(row.path).intersection(query.words)
        score += PATH_BONUS * candidate.score * len(in_path) / len(query.words)
    score += CENTRAL_BONUS * min(log1p(candidate.degree), CENTRAL_LIMIT) * candidate.score
    return score - DEPTH_PENALTY * row.qualified_name.count(".")


def _order(candidate: Candidate) -> tuple[float, int, str, str]:
    row = candidate.node.row
    return (-round(candidate.score, 9), len(row.qualified_name), row.qualified_name, row.uid)


def _symbol(node: Node, classes: set[str], languages: LanguageTerms) -> str:
    """Return the name of the node's symbol: declarations share one, and so do a class and its constructor."""
    row = node.row
    owner, _, name = row.qualified_name.rpartition(".")
    if name in languages.constructors and owner in classes:
        return owner
    if _REDEFINITION.search(row.qualified_name) and is_declaration(node, languages):
        return _REDEFINITION.sub("", row.qualified_name)
    return row.qualified_name


def _preference(node: Node, languages: LanguageTerms) -> tuple[bool, bool]:
    return (is_declaration(node, languages), node.row.label != Label.CLASS)
