"""What Memgraph 3.12 is known to reject, or to accept and get wrong: found by hand in its grammar and its source.

Statements are looked at without strings and comments, so nothing can hide in them. No Memgraph is needed.
"""

from __future__ import annotations

import re

REJECTED = {
    "shortestPath": r"\b(all)?shortestPaths?\s*\(|\bSHORTEST\s+\d",
    "quantified path": r"->\s*[+{]|\)\s*\{\d*,\d*\}",
    "label conjunction": r"\(\w*:\w+\s*&|\(\w*:\s*!",
    "label disjunction as a predicate": r"\bWHERE\b[^(]*\b\w+:\w+\|",
    "WHERE inside a pattern": r"\(\w*(:\w+)*\s+WHERE|\[\w*(:\w+)*\s+WHERE",
    "COUNT or COLLECT subquery": r"\b(COUNT|COLLECT)\s*\{",
    "OPTIONAL CALL": r"\bOPTIONAL\s+CALL\b",
    "concurrent batches": r"\bIN\s+\d*\s*CONCURRENT\b",
    "index hint after MATCH": r"\bMATCH\b.*\bUSING\s+INDEX\b",
    "time()": r"\btime\s*\(",
    "timestamp(), whose unit differs": r"\btimestamp\s*\(",
    "type predicate": r"\bIS\s*::",
    "clauses it does not know": r"\b(OFFSET|FINISH|LET)\b|^\s*CYPHER\b",
    "exponent with a sign": r"\d[eE]\+\d",
    "dynamic label": r"\$\(",
    "Neo4j's listings": r"\bSHOW\s+(FUNCTIONS|PROCEDURES|INDEXES\s+YIELD)\b",
    "Neo4j's text index": r"\bFULLTEXT\b|\bdb\.",
    "constraint dropped by name": r"\bDROP\s+CONSTRAINT\s+\w+\s*$",
    "IF NOT EXISTS outside of the FOR form": r"\bCREATE\s+(TEXT|VECTOR)\b.*\bIF\s+NOT\s+EXISTS\b",
    "RANGE INDEX": r"\bRANGE\s+INDEX\b",
    "node key": r"\bNODE\s+KEY\b",
    "functions it does not have": r"\b(nullIf|percentile\w+|stDevP?|isNaN|haversin|radians|normalize|exists)\s*\(",
    "EXISTS outside of MATCH's WHERE": r"\b(RETURN|WITH|CASE|BY)\b[^;]*\bEXISTS\s*\{",
    "pattern comprehension": r"\[\s*\([^\]]*\)\s*-[^|]*\|",
    "size of a pattern": r"\bsize\s*\(\s*\(",
    "WHEN with several values": r"\bWHEN\s+[^\s]+\s*,",
    "properties as a parameter in MATCH or MERGE": r"\b(MATCH|MERGE)\s*\(\w*(:\w+)*\s*\$",
    "kshortest as a name": r"\bkshortest\b",
    "EXPLAIN, which can end the server": r"\bEXPLAIN\b|\bPROFILE\b",
    "vectors ranked by similarity": r"\bsimilarity\b",
    "reading of files and addresses": r"\bLOAD\b",
    "several statements in one": r";",
}
"""What is wrong, by a regular expression that finds it in a statement as `bare` gives it."""


def bare(text: str) -> str:
    """The statement without comments, the contents of strings and a last semicolon, in one line."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", re.sub(r"'[^']*'|\"[^\"]*\"", "''", text), flags=re.DOTALL)
    return " ".join(text.split()).removesuffix(";")


def broken(text: str) -> list[str]:
    """The rules that the statement breaks."""
    return [rule for rule, pattern in REJECTED.items() if re.search(pattern, bare(text), re.IGNORECASE | re.DOTALL)]
