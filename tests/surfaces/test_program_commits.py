"""What a program commits is searched in its code, whatever git says of the same words."""

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

_STORE = '''"""Stores of carts."""


class CartStore:
    """Keeps carts."""

    def begin(self):
        """Begin a transaction that others see after commit."""
        self.open = True

    def single(self, call):
        """Make a single call without begin: commit on success, rollback and close otherwise."""
        try:
            call()
            self.commit()
        except OSError:
            self.rollback()

    def commit(self):
        self.open = False

    def rollback(self):
        self.open = False
'''


@pytest.fixture
async def atlas(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin the store", {"shop/store.py": _STORE, "shop/__init__.py": ""})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        yield opened
    repository.close()


async def test_a_question_for_what_a_program_commits_is_no_list_of_commits(atlas: Atlas) -> None:
    for asked in (
        "CartStore used without begin - how does it deal with commit, rollback and close for a single call",
        "how does CartStore commit a transaction",
        "who commits the transaction",
        "what happens to a transaction after commit",
        "when is the cart committed",
    ):
        said = (await hybrid_search(atlas, asked)).render()
        assert "Begin the store" not in said and "commits " not in said.partition("shop/store.py")[0], asked
        assert "shop/store.py" in said and "git history" not in said, asked
        assert "usages of" not in said, "how it does something is asked, not where it is used"


async def test_commits_are_listed_where_they_are_asked_for(atlas: Atlas) -> None:
    for asked in ("which commits changed CartStore.commit", "when was CartStore.rollback added and by whom"):
        assert "Begin the store" in (await hybrid_search(atlas, asked)).render(), asked
