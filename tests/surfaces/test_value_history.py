"""Questions what a value was before: its changes, and what stood in the code before it had a name."""

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

_LOCK = "{}\n\n\ndef is_old(age):\n    return age > {}\n"


@pytest.fixture
async def atlas(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "shop")
    repository.commit(
        "Begin",
        {"shop/lock.py": _LOCK.format("import time", 600), "shop/old.py": "MOVED_LIMIT = 3\n", "shop/__init__.py": ""},
    )
    used = _LOCK.format("from shop.defaults import LOCK_PERIOD", "LOCK_PERIOD")
    first = "LOCK_PERIOD = 120\nCART_LIMIT = 5\n"
    repository.commit("Name the period\n\nLess waiting.", {"shop/lock.py": used, "shop/defaults.py": first})
    repository.commit("Allow larger carts\n\nCloses #12", {"shop/defaults.py": first.replace("5", "9")})
    moved = first.replace("5", "9") + "MOVED_LIMIT = 3\n"
    repository.commit("Move the limit", {"shop/defaults.py": moved, "shop/old.py": "\n"})
    error = "class CartError(Exception):\n    CART_LIMIT: int\n"
    repository.commit("Tell the limit", {"shop/errors.py": error})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        yield opened
    repository.close()


async def test_the_old_value_of_a_constant(atlas: Atlas) -> None:
    for asked in ("what was CART_LIMIT before?", "why is CART_LIMIT 9, was it different earlier?"):
        said = (await hybrid_search(atlas, asked)).render()
        assert "1 change of its value" in said and ": 5 -> 9" in said and "Allow larger carts" in said, asked


async def test_what_stood_in_the_code_before_it_had_a_name(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "has LOCK_PERIOD always been 120, or was it different before?")).render()
    assert "its value is the same since its line was added" in said and "replaced what stood in the code" in said
    assert "shop/lock.py: return age > 600 -> return age > LOCK_PERIOD" in said and "Less waiting." in said


async def test_a_moved_constant_is_not_said_to_be_new(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "what was MOVED_LIMIT before?")).render()
    assert "moved from another file, in which it is not followed" in said and "shop/old.py: MOVED_LIMIT: 3" in said


async def test_when_a_value_was_raised_and_for_which_issue(atlas: Atlas) -> None:
    for asked in (
        "CART_LIMIT used to be 5, I think. When was it raised, by whom and for which issues?",
        "who raised CART_LIMIT, and in which PR",
        "when was CART_LIMIT increased",
        "CART_LIMIT went from 5 to 9, which release and who?",
    ):
        said = (await hybrid_search(atlas, asked)).render()
        assert ": 5 -> 9" in said and "Closes #12" in said, asked
        assert "shop/errors.py" not in said, "a field without a value has no other name"


async def test_what_raises_an_error_is_no_question_for_old_values(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "where is CartError raised when CART_LIMIT is reached")).render()
    assert "5 -> 9" not in said
