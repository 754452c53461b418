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
from typing import NamedTuple

from atlas.code.question.languages import LanguageTerms
from atlas.code.question.parse_question import Query
from atlas.code.rank.paths import is_translation
from atlas.code.reader import SearchStep
from atlas.core.model import Label, Node, NodeRow

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
DESCRIBED_FACTOR: Mapping[str, float] = MappingProxyType(
    {
        Label.FUNCTION: 1.1,
        Label.METHOD: 1.1,
        Label.CLASS: 0.95,
        Label.VALUE: 0.95,
        **dict.fromkeys((Label.DOC_FILE, Label.DOC_SECTION, Label.ADR), STATED_FACTOR),
    }
)
"""Where it is written as a sentence: most describe one action."""
REPORTED_FACTOR = 0.5
"""Documents, where the question is a long text, such as a report: manuals, release notes and change logs repeat its
words, but it is about code, unless its title asks for documents or reasons."""
REASON_WANTED_FACTOR = 1.4
"""The question asks why: documents give reasons, code does not."""
DECISION_WANTED_FACTOR = 1.25
"""The same for records of decisions and notes, on top of it: they are written to answer it."""
CONFIGURATION_WANTED_FACTOR = 3.0
"""The question asks for a setting of the project, and this is a file of settings."""
NAMESAKE_FACTOR = 1.06
"""A class that is named like its file is what the file is about."""
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


def describes_one(query: Query) -> bool:
    """Return whether a question is written as a sentence of documentation: it describes one definition, as a rule."""
    return query.states and not query.reports and (query.text[:1].isupper() or query.text.endswith("."))


def rank(
    candidates: Iterable[Candidate],
    query: Query,
    split_words: Callable[[str], list[str]],
    languages: LanguageTerms,
    *,
    demote_tests: bool = True,
    off: frozenset[str] = frozenset(),
) -> list[Candidate]:
    """Return candidates best first, one per symbol, ties by name, by the steps of `SCORING` that are not `off`.

    `demote_tests` False ranks tests like other code.
    """

    @cache  # Several candidates belong to one file.
    def words_of(path: str) -> frozenset[str]:
        return frozenset(split_words(path))

    steps = [step.run for step in SCORING if step.switched_by not in off]
    topic = STATED_TOPIC_FACTOR if query.states else 1.0
    scored: list[Candidate] = []
    for each in candidates:
        row = each.node.row
        is_document = row.label in _DOCUMENTS
        is_page = is_document or (row.label == Label.CHUNK and row.kind in _PAGES)
        of = Scoring(
            each.score,
            row,
            each.features,
            each.degree,
            query,
            languages,
            words_of,
            demote_tests,
            topic,
            is_page,
            is_document,
        )
        score = each.score
        for step in steps:
            score = step(score, of)
        # The constructor takes a third of the time of `replace`.
        scored.append(Candidate(each.node, score, each.channels, each.reasons, each.degree, each.also, each.features))
    return collapse(scored, languages)


def collapse(ranked: Sequence[Candidate], languages: LanguageTerms) -> list[Candidate]:
    """Keep one candidate per symbol and file that defines it: class before constructor, declaration last."""
    groups: dict[tuple[str, str], list[Candidate]] = {}
    classes = {each.node.row.qualified_name for each in ranked if each.node.row.label == Label.CLASS}
    symbols = [_symbol(each.node, classes, languages) for each in ranked]
    declares = [is_declaration(each.node, languages) for each in ranked]
    # declarations belong to the first file that has a definition
    defined: dict[str, str] = {}
    for each, symbol, only_declares in zip(ranked, symbols, declares, strict=True):
        if not only_declares:
            defined.setdefault(symbol, each.node.row.path)
    for each, symbol, only_declares in zip(ranked, symbols, declares, strict=True):
        path = defined.get(symbol, "") if only_declares else each.node.row.path
        groups.setdefault((symbol, path), []).append(each)
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
    return _declares(node.row, languages)


def _declares(row: NodeRow, languages: LanguageTerms) -> bool:
    return "declaration" in row.modifiers.split() or row.path.endswith(languages.declarations)


class Scoring(NamedTuple):
    """What the steps of `SCORING` know besides the score so far. A tuple: one is made for each candidate."""

    text: float
    """The fused score."""
    row: NodeRow
    known: Mapping[str, float]
    """Features of the candidate."""
    degree: int
    query: Query
    languages: LanguageTerms
    path_words: Callable[[str], frozenset[str]]
    demote_tests: bool
    topic: float
    """How much evidence about the topic counts."""
    is_page: bool
    is_document: bool


def _files(score: float, of: Scoring) -> float:
    return score + FILE_BONUS * of.known.get("file", 0.0)


def _stems(score: float, of: Scoring) -> float:
    return score + STEM_BONUS * of.known.get("stem", 0.0)


def _coherence(score: float, of: Scoring) -> float:
    return score + COHERENCE_BONUS * of.known.get("coherence", 0.0) * (1 - of.query.focus)


def _file_meaning(score: float, of: Scoring) -> float:
    return score + FILE_MEANING_BONUS * of.known.get("file_meaning", 0.0) * of.topic


def _mentions(score: float, of: Scoring) -> float:
    return score + MENTIONS_BONUS * of.known.get("mentions", 0.0) * of.topic


def _coverage(score: float, of: Scoring) -> float:
    return score + COVERAGE_BONUS * of.known.get("coverage", 0.0) * of.topic


def _descriptions(score: float, of: Scoring) -> float:
    return score + DESCRIPTION_BONUS * of.known.get("description", 0.0) * (1 - of.query.focus) * of.topic


def _components(score: float, of: Scoring) -> float:
    return score + COMPONENT_BONUS * of.known.get("component", 0.0)


def _labels(score: float, of: Scoring) -> float:
    return score * LABEL_FACTOR.get(of.row.label, 1.0)


def _tests(score: float, of: Scoring) -> float:
    if of.row.is_test and of.query.wants_tests:
        return score * TEST_WANTED_FACTOR
    if of.row.is_test and of.demote_tests:
        return score * (TEST_NAMED_FACTOR if of.row.name in of.query.names else TEST_FACTOR)
    return score


def _generated(score: float, of: Scoring) -> float:
    return score * GENERATED_FACTOR if of.row.is_generated else score


def _private(score: float, of: Scoring) -> float:
    return score if of.row.exported else score * PRIVATE_FACTOR


def _declarations(score: float, of: Scoring) -> float:
    return score * DECLARATION_FACTOR if _declares(of.row, of.languages) else score


def _reports(score: float, of: Scoring) -> float:
    query = of.query
    is_about_code = query.reports and not (query.wants_documents or query.wants_reasons)
    return score * REPORTED_FACTOR if of.is_page and is_about_code else score


def _kinds(score: float, of: Scoring) -> float:
    row, query = of.row, of.query
    if query.wants_documents and of.is_page:
        return score * DOCUMENT_WANTED_FACTOR
    if of.known.get("configuration_wanted"):
        return score * CONFIGURATION_WANTED_FACTOR
    if row.language in query.languages:
        return score * LANGUAGE_FACTOR
    return score * WINDOW_FACTOR if row.label == Label.CHUNK and row.kind != "code" else score


def _intents(score: float, of: Scoring) -> float:
    if not of.known.get("reason_wanted"):
        return score
    return score * (REASON_WANTED_FACTOR * (DECISION_WANTED_FACTOR if of.known.get("decision_wanted") else 1.0))


def _stated(score: float, of: Scoring) -> float:
    if describes_one(of.query):
        return score * DESCRIBED_FACTOR.get(of.row.label, 1.0)
    return score * STATED_FACTOR if of.query.states and of.is_document else score


def _namesakes(score: float, of: Scoring) -> float:
    if of.row.label != Label.CLASS or of.query.reports or describes_one(of.query):
        return score
    stem = of.row.path.rpartition("/")[2].partition(".")[0]
    return score * NAMESAKE_FACTOR if _squeezed(stem) == _squeezed(of.row.name) else score


def _squeezed(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _copies(score: float, of: Scoring) -> float:
    return score * COPY_FACTOR if of.known.get("copy") else score


def _windowed(score: float, of: Scoring) -> float:
    is_windowed = of.row.label == Label.FILE and of.languages.is_windowed(of.row.language)
    return score * WINDOWED_FILE_FACTOR if is_windowed else score


def _translations(score: float, of: Scoring) -> float:
    return score * TRANSLATION_FACTOR if of.is_document and is_translation(of.row.path) else score


def _paths(score: float, of: Scoring) -> float:
    words = of.query.words
    if not words:
        return score
    return score + PATH_BONUS * of.text * len(of.path_words(of.row.path).intersection(words)) / len(words)


def _central(score: float, of: Scoring) -> float:
    return score + CENTRAL_BONUS * min(log1p(of.degree), CENTRAL_LIMIT) * of.text


def _depth(score: float, of: Scoring) -> float:
    return score - DEPTH_PENALTY * of.row.qualified_name.count(".")


SCORING: tuple[SearchStep[Callable[[float, Scoring], float]], ...] = (
    SearchStep("files", _files, "a file as a whole has words of the question that one definition lacks"),
    SearchStep("stems", _stems, "the file's name says what it is about", features=("stem",)),
    SearchStep("coherence", _coherence, "several hits of a file support each other", features=("coherence",)),
    SearchStep("file_meaning", _file_meaning, "the start of a file tells its topic", features=("file_meaning",)),
    SearchStep("mentions", _mentions, "documents that match mention the code", features=("mentions",)),
    SearchStep("coverage", _coverage, "the definitions of a file have the words together", features=("coverage",)),
    SearchStep("descriptions", _descriptions, "names and documentation say it in other words"),
    SearchStep("components", _components, "a title names a file before its colon", features=("component",)),
    SearchStep("labels", _labels, "definitions with a body are more useful than the file around them"),
    SearchStep("tests", _tests, "tests repeat the words of the code under test"),
    SearchStep("generated", _generated, "nobody edits generated code"),
    SearchStep("private", _private, "among equals, exported symbols are meant"),
    SearchStep("declarations", _declarations, "the definition has the implementation"),
    SearchStep("reports", _reports, "a report is about code, although manuals repeat its words"),
    SearchStep("kinds", _kinds, "pages, settings or a language are asked for; windows repeat the words of code"),
    SearchStep(
        "intents",
        _intents,
        "documents and decisions give reasons, code does not",
        features=("reason_wanted", "decision_wanted", "configuration_wanted"),
    ),
    SearchStep("stated", _stated, "a sentence of documentation describes code, most often a function"),
    SearchStep("namesakes", _namesakes, "a file is about the class that is named like it"),
    SearchStep("copies", _copies, "copies say what their original says", features=("copy", "text_copy")),
    SearchStep("windowed", _windowed, "the text of such a file is in its windows"),
    SearchStep("translations", _translations, "a translated document says what its original says"),
    SearchStep("paths", _paths, "the path has words of the question"),
    SearchStep("central", _central, "among equals, code with callers is meant"),
    SearchStep("depth", _depth, "among equals, the shorter name is meant"),
)
"""The steps from the fused score to that of the ranking, in this order: bonuses, factors, ties."""


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
