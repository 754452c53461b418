"""Who runs what when several processes share the tests (`pytest -n 2 --dist loadgroup`): the same servers, the same process."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep a file's tests together, and all that need the database server or the large package, which are had once."""
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        place = item.path.relative_to(TESTS)
        is_large = place.parts[0] in ("neo4j", "e2e") or "neo4j" in item.nodeid or "Bolt" in item.nodeid
        item.add_marker(pytest.mark.xdist_group("servers" if is_large else place.as_posix()))
