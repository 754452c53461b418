"""What a file or the project had once: the commits that took a name out, and those that brought it in."""

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

_CART = "from threading import {0}\n\n\nclass Cart:\n    def __init__(self):\n        self.lock = {0}()\n"


@pytest.fixture
async def atlas(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin", {"shop/cart.py": _CART.format("Lock"), "shop/__init__.py": ""})
    repository.commit("Let carts lock twice", {"shop/cart.py": _CART.format("ReentrantLock")})
    kit = "class LockKit:\n    pass\n"
    repository.commit("Share the locks", {"shop/LockKit.py": kit, "shop/other.py": "A = 1\n"})
    repository.tag("v1.0")
    repository.commit("Replace ReentrantLock with Event\n\nIt leaks memory.", {"shop/cart.py": _CART.format("Event")})
    repository.commit("Drop LockKit", {"shop/LockKit.py": None, "shop/other.py": "A = 2\n"})
    repository.commit("Tell more", {"README.md": "# Shop\n"})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        yield opened
    repository.close()


async def test_what_a_class_used_once(atlas: Atlas) -> None:
    for asked in (
        "Cart used a ReentrantLock in older versions. why was this changed, who did it, when?",
        "why does Cart no longer use ReentrantLock, and since when?",
        "when did Cart stop using `ReentrantLock`",
        "who removed ReentrantLock from shop/cart.py?",
    ):
        said = (await hybrid_search(atlas, asked)).render()
        assert "`ReentrantLock` is no longer in" in said and "Replace ReentrantLock with Event" in said, asked
        assert "It leaks memory." in said and "Drop LockKit" not in said, asked


async def test_what_the_project_had_once(atlas: Atlas) -> None:
    for asked in (
        "There was a helper class LockKit once. Who introduced it and when was it thrown out again?",
        "who removed LockKit and when",
        "what happened to the LockKit class, when was it deleted?",
    ):
        said = (await hybrid_search(atlas, asked)).render()
        gone, _, came = said.partition("added:")
        assert "Drop LockKit" in gone and "Share the locks" in came and "first in v1.0" in came, asked


async def test_what_is_still_there_is_not_said_to_be_gone(atlas: Atlas) -> None:
    for asked in (
        "Cart used an Event once, who changed that?",
        "who introduced Cart and when",
        "who removed NoSuchKit",
    ):
        said = (await hybrid_search(atlas, asked)).render()
        assert "no longer" not in said and "any more:" not in said, asked
