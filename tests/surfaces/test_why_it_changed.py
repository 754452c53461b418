"""Questions why something was changed: the commit, and the reason that its message, merge or changelog tells."""

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

_CHANGES = """# Changelog

## Unreleased

- **breaking:** the output of `shop::serve` has been adjusted to remove `io::Result`
  (it never failed) ([#31])
- Carts are faster ([#30])
"""


@pytest.fixture
async def atlas(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin", {"shop/filters.py": "def spaceless(text):\n    return text.strip()\n"})
    repository.commit("Explain the deprecated spaceless filter", {"README.md": "spaceless\n"})
    repository.branch("old")
    done = repository.commit("Deprecate the spaceless filter", {"shop/filters.py": "def spaceless(a):\n    return a\n"})
    repository.merge(done, "main", "Merge #12\n\nIt is slow, and compression does more.")
    repository.commit("Faster carts (#30)", {"shop/cart.py": "def cart():\n    return 1\n"})
    repository.commit("Fix return types of futures (#31)", {"CHANGELOG.md": _CHANGES})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        yield opened
    repository.close()


async def test_the_commit_that_did_it_comes_first_with_what_its_merge_says(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "why was the spaceless filter deprecated?")).render()
    assert "Deprecate the spaceless filter" in said and "It is slow, and compression does more." in said
    assert said.index("Deprecate the spaceless") < said.index("Explain the deprecated")


async def test_a_changelog_leads_to_the_pull_request_of_a_change(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "why did the output of shop::serve change from io::Result to ()?")).render()
    assert "Fix return types of futures (#31)" in said and "(it never failed)" in said and "Faster" not in said


async def test_what_no_commit_did_has_no_commit(atlas: Atlas) -> None:
    for asked in (
        "why was the spaceless filter renamed?",
        "why was strict_output removed from the carts?",
        "why was my cart removed from the shop",
    ):
        said = (await hybrid_search(atlas, asked)).render()
        assert "commits:" not in said, asked
