"""The labels and relationship types of the graph, and which nodes are prose. `atlas.model` exports all of it."""

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
    HAS_SECTION = "HAS_SECTION"
    HAS_CHUNK = "HAS_CHUNK"
    HAS_ENTITY = "HAS_ENTITY"
    HAS_FACT = "HAS_FACT"
    ENTITY_RELATION = "ENTITY_RELATION"
    IN_CATEGORY = "IN_CATEGORY"
    LINKS_TO = "LINKS_TO"
    SOURCE = "SOURCE"


CODE, PROSE = "code", "prose"
"""The vector spaces. Each has a model of its own; vectors of different spaces are never compared."""

PROSE_LABELS = frozenset({"Claim", "Observation", "Entity", "Decision"})
"""Labels of the nodes that the model of prose embeds, besides passages; the model of code embeds all others."""

PASSAGE = "passage"
"""Kind of the `Chunk` nodes of packs, which are prose; chunks of other kinds are windows of plain files."""


def is_prose(label: str, kind: str) -> bool:
    """Return whether the model of prose embeds the nodes of a label and kind."""
    return label in PROSE_LABELS or (kind == PASSAGE and label == Label.CHUNK)
