"""Regular expressions for `=~`, compiled by the Rust extension.

A match spans the whole string, as in Cypher, and takes time linear in its length. The syntax is Java's, without
backreferences and look-around, which prevent linear time, and without Unicode properties, class operations and named
groups.
"""

from __future__ import annotations

from atlas._parser import CypherRegex
from atlas.core.errors import QueryError

__all__ = ["CypherRegex", "compile_regex"]


def compile_regex(pattern: str) -> CypherRegex:
    """Compile a pattern. Raises QueryError for syntax errors and unsupported constructs."""
    try:
        return CypherRegex(pattern)
    except ValueError as error:
        raise QueryError(
            f"regular expression {pattern[:80]!r}: {error}",
            "use literals, classes, groups, |, *, +, ?, {m,n}, ^, $, \\b and (?i); CONTAINS and STARTS WITH are faster",
        ) from error
