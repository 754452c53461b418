"""The query corpus: what coding agents ask, with the rows that Neo4j 5.26 gives for the same graph."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest
import yaml

from atlas.adapters.stores.sqlite.cypher import run

HERE = Path(__file__).parent
FILES = sorted(path for path in HERE.glob("*.yaml") if path.name not in ("graph.yaml", "refused.yaml"))
CASES = [
    pytest.param(case, id=f"{path.stem}: {case['ask']}")
    for path in FILES
    for case in yaml.safe_load(path.read_text(encoding="utf-8"))
]


def test_corpus_is_complete() -> None:
    assert len(CASES) >= 180


@pytest.mark.parametrize("case", CASES)
def test_rows_equal_those_of_neo4j(shop: apsw.Connection, case: dict[str, object]) -> None:
    table = run(shop, str(case["query"]), case.get("params", {}), 1000, 20.0)
    assert list(table.columns) == case["columns"]
    found = [key(row) for row in table.rows]
    expected = [key(row) for row in case["rows"]]
    if not case.get("ordered"):
        found, expected = sorted(found), sorted(expected)
    assert found == expected
    assert not table.truncated


def key(row: object) -> str:
    """Text that tells 1, 1.0 and true apart."""
    return json.dumps(row, sort_keys=True, ensure_ascii=False)
