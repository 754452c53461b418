from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.conformance.cypher.shop import build_shop, open_reading


@pytest.fixture(scope="session")
def shop_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cypher") / "shop.db"
    build_shop(path)
    return path


@pytest.fixture
def shop(shop_path: Path) -> Iterator[apsw.Connection]:
    connection = open_reading(shop_path)
    yield connection
    connection.close()
