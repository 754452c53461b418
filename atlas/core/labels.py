"""The labels and relationship types of the graph, and which vector space embeds which nodes.

`atlas.core.model` exports all of it.
"""

from __future__ import annotations

from enum import StrEnum


class Label(StrEnum):
    """Node labels of the graph."""

    PROJECT = "Project"
    PACKAGE = "Package"
    FILE = "File"
    MODULE = "Module"
    CLASS = "Class"
    FUNCTION = "Function"
    METHOD = "Method"
    VALUE = "Value"
    DOC_FILE = "DocFile"
    DOC_SECTION = "DocSection"
    ADR = "ADR"
    CHUNK = "Chunk"
    EXTERNAL_PACKAGE = "ExternalPackage"
    EXTERNAL_SYMBOL = "ExternalSymbol"
    CLAIM = "Claim"
    DECISION = "Decision"
    ENTITY = "Entity"
    OBSERVATION = "Observation"
    ROUTE = "Route"
    EVENT = "Event"
    ENV_VAR = "EnvVar"
    ARTICLE = "Article"
    SECTION = "Section"
    FACT = "Fact"
    CATEGORY = "Category"
    PAPER = "Paper"


class EdgeType(StrEnum):
    """Relationship types of the graph."""

    CONTAINS = "CONTAINS"
    DEFINES = "DEFINES"
    DEFINES_METHOD = "DEFINES_METHOD"
    INHERITS = "INHERITS"
    CALLS = "CALLS"
    REFERENCES = "REFERENCES"
    IMPORTS = "IMPORTS"
    DEPENDS_ON = "DEPENDS_ON"
    USES_TYPE = "USES_TYPE"
    DOCUMENTS = "DOCUMENTS"
    AFFECTS = "AFFECTS"
    TESTS = "TESTS"
    OVERRIDES = "OVERRIDES"
    SUPPORTS = "SUPPORTS"
    REFUTES = "REFUTES"
    EXTENDS = "EXTENDS"
    IMPLIES = "IMPLIES"
    CONTRADICTS = "CONTRADICTS"
    SUPERSEDES = "SUPERSEDES"
    RELATES = "RELATES"
    HAS_OBSERVATION = "HAS_OBSERVATION"
    ABOUT = "ABOUT"
    HANDLES_ROUTE = "HANDLES_ROUTE"
    HANDLES_EVENT = "HANDLES_EVENT"
    EMITS_EVENT = "EMITS_EVENT"
    CALLS_ROUTE = "CALLS_ROUTE"
    READS_ENV = "READS_ENV"
    SETS_ENV = "SETS_ENV"
    HAS_SECTION = "HAS_SECTION"
    HAS_CHUNK = "HAS_CHUNK"
    HAS_ENTITY = "HAS_ENTITY"
    HAS_FACT = "HAS_FACT"
    ENTITY_RELATION = "ENTITY_RELATION"
    IN_CATEGORY = "IN_CATEGORY"
    LINKS_TO = "LINKS_TO"
    SOURCE = "SOURCE"


CODE, DOCUMENTS, PROSE, QUALITY = "code", "documents", "prose", "quality"
"""The vector spaces: code and configuration, documents of the repository, notes and passages of packs; and the space of
the optional sentence transformer, which embeds the nodes of the first two a second time (ADR 0043).

Vectors of different spaces are never compared, even if one model makes both: notes stay in this process where a server
embeds documents (ADR 0041).
"""

EXTERNAL_LABELS = (Label.EXTERNAL_PACKAGE, Label.EXTERNAL_SYMBOL)
"""What other packages define."""
DOCUMENT_LABELS = frozenset({"DocFile", "DocSection", "ADR"})
"""Labels of the nodes of documents."""

PROSE_LABELS = frozenset({"Claim", "Observation", "Entity", "Decision"})
"""Labels of notes, which are in the space of prose with the passages of packs."""

PASSAGE = "passage"
"""Kind of the `Chunk` nodes of packs, which are prose; chunks of other kinds are windows of plain files."""

TEXT = "text"
"""Kind of the `Chunk` nodes of plain text, which are documents."""


def is_prose(label: str, kind: str) -> bool:
    """Return whether the nodes of a label and kind are notes or passages: searched by stems, in the space of prose."""
    return label in PROSE_LABELS or (kind == PASSAGE and label == Label.CHUNK)


def space_of(label: str, kind: str) -> str:
    """Return the vector space of the nodes of a label and kind; it is never `QUALITY`, which comes in addition."""
    if is_prose(label, kind):
        return PROSE
    return DOCUMENTS if label in DOCUMENT_LABELS or (kind == TEXT and label == Label.CHUNK) else CODE


def is_in_space(space: str, label: str, kind: str) -> bool:
    """Return whether nodes of a label and kind get a vector in a space; `QUALITY` has those of code and documents."""
    own = space_of(label, kind)
    return own != PROSE if space == QUALITY else own == space
