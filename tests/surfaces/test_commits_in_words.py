"""Commits that a question describes: by words of which messages lack some, or within the history of a file or symbol."""

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

_BASE = (
    "class Base:\n    pool = 1\n\n    def strip(self, url):\n        return {}\n\n\nclass Session(Base):\n    pass\n"
)


@pytest.fixture
async def atlas(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin", {"shop/session.py": _BASE.format("url"), "CHANGES.md": ""})
    repository.commit("Strip the port of redirects", {"shop/session.py": _BASE.format("url[:-1]")})
    repository.commit("Keep the credentials", {"shop/session.py": _BASE.format("url[:-2]")})
    repository.commit("Fix a race in closing", {"shop/close.py": "def close():\n    return 1\n"})
    repository.commit("Make the pool larger", {"shop/session.py": _BASE.format("url[:-2]").replace("= 1", "= 2")})
    repository.commit("Drop Python 3.7", {"shop/new.py": "A = 1\n"})
    repository.commit("Require Node 16", {"package.json": "{}\n"})
    changes = "# Changes\n\n## 2.1.0\n\n- Removed support for Python 3.7.\n\n## 1.0\n\n- Added tests for Python 3.7.\n"
    old = '"""Make the index again."""\n\nimport warnings\n\n# @deprecated use Indexes\nclass Reindexer:\n    pass\n'
    repository.commit("Introduce the reindexer plugin", {"shop/reindexer.py": old})
    repository.commit(
        "Add a cart", {"shop/cart.py": "class Cart:\n    def pay(self, coupon):\n        return coupon\n"}
    )
    checked = "class Cart:\n    def pay(self, coupon):\n        # old ones\n        if coupon_expired(coupon):\n            return 0\n"
    repository.commit("Refuse old coupons", {"shop/cart.py": f"{checked}        return coupon\n"})
    repository.commit("Write the changes", {"CHANGES.md": changes})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        yield opened
    repository.close()


async def test_most_words_of_a_topic_find_commits(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "which commit fixed the race in the pool")).render()
    assert 'no message has all words; commits whose message has "race": 1, without "pool"' in said
    assert "Fix a race in closing" in said
    assert "Make the pool larger" not in said, "the rarer word tells the topic"
    said = (await hybrid_search(atlas, "when did we stop supporting node 14")).render()
    assert "Require Node 16" in said and 'without "14"' in said


async def test_whether_there_was_a_fix_asks_for_commits(atlas: Atlas) -> None:
    for asked in (
        "was there ever a fix for a race in closing? commit + files",
        "has there been any fix for the closing race, and which files did it touch",
        "were there commits about the closing race",
    ):
        said = (await hybrid_search(atlas, asked)).render()
        assert 'commits whose message has "' in said and "Fix a race in closing [shop/close.py]" in said, asked
    said = (await hybrid_search(atlas, "is there a fix for closing twice")).render()
    assert "whose message has" not in said, "nothing of the past is asked for"


async def test_a_topic_in_plain_words_is_no_symbol(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "which commit made the pool larger")).render()
    assert 'commits whose message has "pool" and "larger": 1' in said
    said = (await hybrid_search(atlas, "who changed the `pool` last")).render()
    assert "shop.session.Base.pool" in said


async def test_why_is_a_filter_within_the_history_of_its_subject(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "why does Session.strip cut the port, which commit did that?")).render()
    assert 'Base.strip shop/session.py:4 whose message has "port", of 3: 1' in said
    assert "Strip the port of redirects" in said and "Keep the credentials" not in said
    said = (await hybrid_search(atlas, "why does shop/session.py keep credentials, which commit")).render()
    assert "Keep the credentials" in said and "Make the pool larger" not in said


async def test_a_name_that_a_file_lacks_is_said(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "why does shop/session.py use `_no_name`, which commit introduced it")).render()
    assert "`_no_name` does not occur in shop/session.py: this is about the file" in said


async def test_support_that_was_dropped_was_not_added(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "when was support for python 3.7 dropped")).render()
    assert 'first line that names `3.7` with "removed": 2.1.0' in said


async def test_what_is_deprecated_was_not_added_then(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "when was the reindexer plugin added")).render()
    assert "Introduce the reindexer plugin" in said, said


async def test_a_commit_is_told_by_many_words_beside_names(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "which change made Session keep its credentials, who did it and when")).render()
    assert "Keep the credentials" in said and "Strip the port" not in said
    said = (await hybrid_search(atlas, "commit that introduced the reindexer as a plugin + date")).render()
    assert "Introduce the reindexer plugin" in said


async def test_versions_of_a_changelog_stand_beside_their_commits(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "when did the reindexer appear")).render()
    assert "Introduce the reindexer plugin" in said
    said = (await hybrid_search(atlas, "when was support for Python 3.7 dropped")).render()
    assert "2.1.0" in said and "Drop Python 3.7" in said


async def test_a_day_is_that_of_the_author(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin early in the morning", {"a.py": "def late():\n    return 1\n"}, zone=12 * 3600)
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        said = (await hybrid_search(opened, "when was a.py added")).render()
    repository.close()
    assert "2023-11-15" in said, "it is the 14th in UTC"


async def test_parts_that_ask_what_a_commit_says_are_one_question(atlas: Atlas) -> None:
    question = "When did the reindexer become a plugin, in which pull request, and which release has it first?"
    said = (await hybrid_search(atlas, question)).render()
    assert "Introduce the reindexer plugin" in said and "2)" not in said
    said = (await hybrid_search(atlas, "How did the larger pool come about? Give me the first commits.")).render()
    assert "Make the pool larger" in said


async def test_a_sentence_before_a_question_for_commits_is_no_message(atlas: Atlas) -> None:
    asked = "Stripping of ports was reworked for 2.1 and mended right after. Which commits were that"
    said = (await hybrid_search(atlas, asked)).render()
    assert "occurs in no indexed file" not in said


async def test_the_line_that_a_question_tells_has_its_own_commits(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "why does Cart check whether a coupon expired? when did that get in")).render()
    assert "`coupon_expired` in shop/cart.py:4 was added:" in said and "Refuse old coupons" in said
    assert "Add a cart" not in said.partition("commits:")[0], "the symbol around the line is older"
    said = (await hybrid_search(atlas, "when was Cart added and by whom")).render()
    assert "Add a cart" in said
