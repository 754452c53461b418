"""Changes that were reverted and came back, and topics whose question stands behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository
from tests.surfaces.test_tools_impact import QUICK, indexed


@pytest.fixture
async def atlas(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin", {"shop/cart.py": "A = 1\n", "shop/__init__.py": ""})
    first = repository.commit("Fix rounding in nested discounts (#12)", {"shop/cart.py": "A = 2\n"})
    repository.commit('Revert "Fix rounding in nested discounts" (#13)', {"shop/cart.py": "A = 1\n"})
    repository.commit("Speed up the catalogue", {"shop/catalogue.py": "B = 1\n"})
    repository.tag("v1.0")
    repository.commit("Improve rounding of nested discounts with checks (#20)", {"shop/cart.py": "A = 3\n"})
    repository.commit("Add use_vatrules to leave out countries from taxes/duties (#21)", {"shop/tax.py": "C = 1\n"})
    repository.tag("v1.1")
    repository.commit("Sort the shelves", {"shop/shelves.py": "D = 1\n"})
    repository.commit(f"Take the shelves back\n\nThis reverts commit {first}", {"shop/shelves.py": "D = 2\n"})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        yield opened
    repository.close()


async def test_what_was_reverted_and_came_back(atlas: Atlas) -> None:
    for asked in (
        "There was a fix for rounding in nested discounts that was backed out. Who reverted it, and did it come back?",
        "why was the rounding of nested discounts reverted, and by whom",
        "who reverted the rounding in discounts",
    ):
        said = (await hybrid_search(atlas, asked)).render()
        before, _, rest = said.partition("reverted_by:")
        by, _, later = rest.partition("later_about_it:")
        assert "Fix rounding in nested discounts (#12)" in before.partition("reverted:")[2], asked
        assert 'Revert "Fix rounding' in by and "Improve rounding of nested discounts" in later, asked


async def test_what_no_commit_reverted_is_no_list_of_reverts(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "who reverted the catalogue")).render()
    assert "reverted_by" not in said


async def test_a_topic_before_the_question_for_who_added_it(atlas: Atlas) -> None:
    asked = "support for .vatrules in taxes/duties: who added this and what was the first release having it?"
    said = (await hybrid_search(atlas, asked)).render()
    assert "Add use_vatrules" in said and "first in v1.1" in said and "Speed up" not in said
    said = (await hybrid_search(atlas, "faster catalogue, who did it and when?")).render()
    assert "Add use_vatrules" not in said
