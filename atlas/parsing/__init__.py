"""The Rust extension as the rest of Code Atlas sees it; no other package imports `atlas._parser`.

Bytes and paths come in; facts, units, words, tokens and vectors go out. `parse` adds the languages that ship with Code
Atlas, `link` turns units into rows of the model.
"""

from atlas import _parser
from atlas._parser import (
    FactsCache,
    Languages,
    Linker,
    ParsedFile,
    ScannedFile,
    ScanResult,
    StaticEncoder,
    SubProject,
    Unit,
    VectorIndex,
    check_content,
    content_digest,
    cosines,
    count_tokens,
    digest_paths,
    find_secrets,
    mask_secrets,
    papers_named_in,
    parse_bytes,
    parse_paths,
    paths_that_differ,
    personal_rules,
    positions_that_differ,
    read_path,
    read_small,
    scan,
    split_words,
    stamps,
    stem_words,
    truncate_tokens,
)
from atlas.parsing.parse import (
    NOTE_FOLDER,
    fingerprint,
    language_files_state,
    load_languages,
    search_terms,
    secrets_of,
    with_link_problems,
)
from atlas.parsing.texts import name_words
from atlas.parsing.tokens import Cl100kCounter

__all__ = [
    "BM25_LIBRARY",
    "NOTE_FOLDER",
    "Cl100kCounter",
    "FactsCache",
    "Languages",
    "Linker",
    "ParsedFile",
    "ScanResult",
    "ScannedFile",
    "StaticEncoder",
    "SubProject",
    "Unit",
    "VectorIndex",
    "check_content",
    "content_digest",
    "cosines",
    "count_tokens",
    "digest_paths",
    "find_secrets",
    "fingerprint",
    "language_files_state",
    "load_languages",
    "mask_secrets",
    "name_words",
    "papers_named_in",
    "parse_bytes",
    "parse_paths",
    "paths_that_differ",
    "personal_rules",
    "positions_that_differ",
    "read_path",
    "read_small",
    "scan",
    "search_terms",
    "secrets_of",
    "split_words",
    "stamps",
    "stem_words",
    "truncate_tokens",
    "with_link_problems",
]

BM25_LIBRARY = str(_parser.__file__)
"""The library that SQLite loads for `bm25_best`: the Rust extension is also an extension of SQLite."""
