"""How a real Neo4j means to run our statements: by the index that each names, on an empty server and on a filled one.

A plan is made once and kept: one that is made for an empty graph must do for a full one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import neo4j
import pytest

from atlas.adapters.stores.bolt.dialect import Neo4jDialect
from atlas.adapters.stores.bolt.rows import CANDIDATE, ENTRY_PLACES, NOTE_EDGE_PLACES, RECORD
from atlas.adapters.stores.bolt.store import BoltStore
from atlas.adapters.stores.shared import statements
from atlas.adapters.stores.shared.statements import cypher_statements
from tests.conformance.rows import PROJECT, edge, node, unit
from tests.neo4j.empty import empty_neo4j
from tests.neo4j.server import open_uri

STATEMENTS = Path(statements.__file__).parents[1] / "bolt" / "statements"
FILLED = {
    "%record%": RECORD,
    "%candidate%": CANDIDATE,
    "%where%": " AND e.project = $project AND e.path STARTS WITH $path AND e.label IN $names AND NOT e.is_test",
    "%type%": "CALLS",
    "%types%": ":CALLS|IMPORTS",
    "%call%": Neo4jDialect().text_call(),
    "%cosine%": Neo4jDialect().exact.replace("%property%", "v_1"),
    "%properties%": ENTRY_PLACES,
    "%label%": "Function",
    "%old%": "Function",
    "%new%": "Method",
    "%further%": NOTE_EDGE_PLACES,
    "%property%": "v_1",
    "%model%": "quality_model",
    "%digest%": "quality_digest",
}
PARAMETERS: dict[str, object] = {
    **{name: [] for name in ("uids", "keys", "rows", "types", "names", "units", "parts", "vector")},
    **dict.fromkeys(
        ("name", "root", "host", "project", "key", "path", "uid", "text", "first", "unit", "end", "after"), "p"
    ),
    **dict.fromkeys(("indexed_at", "skipped", "provider", "model", "fingerprint"), "x"),
    **dict.fromkeys(("limit", "each", "shortest", "longest", "dimension"), 10),
    "nothing": {},
    "query": "q",
    "reach": 10,
}
FEW = re.compile(r"Atlas(Project|Model|Meta|Commit)\b")
"""Nodes of which there are a handful: looking at all of them is no fault."""
HINT = re.compile(r"^USING INDEX SEEK \w+:(\w+\(\w+\))$", re.MULTILINE)


def operators(plan: dict[str, Any]) -> Iterator[str]:
    """Each step of a plan with its details."""
    yield f"{plan['operatorType'].split('@')[0]} {plan['args'].get('Details', '')}"
    for child in plan.get("children", ()):
        yield from operators(child)


async def faults() -> dict[str, list[str]]:
    """What is wrong with the plan of each statement: scans, and indexes that it names and the plan does not use."""
    found: dict[str, list[str]] = {}
    driver = cast("Any", neo4j.AsyncGraphDatabase).driver(open_uri(), notifications_min_severity="OFF")
    async with driver, driver.session() as session:
        await (await session.run("CALL db.clearQueryCaches()")).consume()  # plans of other contents
        for file in sorted(path.stem for path in STATEMENTS.glob("*.cypher")):
            for name, text in cypher_statements(file).items():
                for mark, filling in FILLED.items():
                    text = text.replace(mark, filling)
                dialect = Neo4jDialect()
                result = await session.run(f"EXPLAIN {dialect.statement(text)}", dialect.parameters(PARAMETERS))
                steps = list(operators((await result.consume()).plan))
                wrong = [step for step in steps if re.match(r"\w*Scan\b", step) and not FEW.search(step)]
                wrong += [hint for hint in HINT.findall(text) if not any(f":{hint}" in step for step in steps)]
                if wrong:
                    found[f"{file}.{name}"] = wrong
    return found


async def filled() -> BoltStore:
    store = await empty_neo4j()
    await store.open_project(PROJECT, "/x")
    nodes = [node(f"a.n{number}") for number in range(500)]
    await store.apply([unit("a.py", nodes, [edge("a.n0", f"a.n{number}") for number in range(500)])])
    return store


@pytest.mark.parametrize("full", [False, True], ids=["empty", "filled"])
async def test_every_statement_finds_its_nodes_by_an_index(full: bool) -> None:
    store = await (filled() if full else empty_neo4j())
    found = await faults()
    await store.aclose()
    assert found == {}
