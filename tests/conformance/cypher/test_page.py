"""docs/cypher.md says what of Cypher is supported: its queries run or are refused, its functions are those there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from atlas.adapters.stores.sqlite.cypher import run
from atlas.adapters.stores.sqlite.cypher.expressions.functions import AGGREGATES, FUNCTIONS, GRAPH_FUNCTIONS
from atlas.core.errors import QueryError
from tests.conformance.cypher.shop import build_shop, open_reading

PAGE = (Path(__file__).parents[3] / "docs" / "cypher.md").read_text(encoding="utf-8")


def block(kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1].strip()


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[apsw.Connection]:
    build_shop(tmp_path / "shop.db", of_page=True)
    connection = open_reading(tmp_path / "shop.db")
    yield connection
    connection.close()


@pytest.mark.parametrize("query", block("cypher").split("\n\n"))
def test_what_works_has_rows(shop: apsw.Connection, query: str) -> None:
    assert run(shop, query, {}, 1000, 20.0).rows


@pytest.mark.parametrize("query", block("refused").splitlines())
def test_what_is_refused_is_located(shop: apsw.Connection, query: str) -> None:
    with pytest.raises(QueryError) as caught:
        run(shop, query, {"label": "Function", "properties": {}}, 1000, 20.0)
    assert caught.value.line == 1


def test_the_page_lists_every_function() -> None:
    section = PAGE.partition("## Functions")[2].partition("## ")[0]
    listed = [name.lower() for name in re.findall(r"`(\w+)`", section)]
    assert sorted(listed) == sorted({*FUNCTIONS, *AGGREGATES, *GRAPH_FUNCTIONS})
