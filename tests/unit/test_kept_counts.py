"""Counts of the index in a file beside it: used for the same state of the store only, and never needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atlas._parser import VectorIndex
from atlas.adapters.stores.sqlite.stats import FILE
from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.core.project_state import ProjectStats
from tests.surfaces.processes import Place, filled


async def stats(place: Place) -> ProjectStats:
    """The counts as a new process reads them."""
    store = EmbeddedStore.open(place.data, writing=False, vector_index=VectorIndex)
    (found,) = await store.stats()
    await store.aclose()
    return found


async def test_another_process_reads_the_counts_of_the_same_state(tmp_path: Path) -> None:
    place = await filled(tmp_path)
    kept = place.data / FILE
    counted = await stats(place)
    assert kept.stat().st_mode & 0o077 == 0 and await stats(place) == counted
    document = json.loads(kept.read_text())
    (project,) = document["counts"]
    document["counts"][project]["nodes"] = {"Class": 41}
    kept.write_text(json.dumps(document))
    assert (await stats(place)).nodes == {"Class": 41}, "they are read, not counted"


async def test_a_write_makes_them_old(tmp_path: Path) -> None:
    place = await filled(tmp_path)
    counted = await stats(place)
    store = EmbeddedStore.open(place.data, writing=True, vector_index=VectorIndex)
    (state,) = await store.projects()
    await store.drop_project(state.project)
    await store.open_project(state.project, state.root)
    await store.aclose()
    assert (await stats(place)).nodes == {} != counted.nodes


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"state": 1', '{"state": [], "counts": 3}'])
async def test_a_damaged_file_is_counted_again(tmp_path: Path, text: str) -> None:
    place = await filled(tmp_path)
    counted = await stats(place)
    (place.data / FILE).write_text(text)
    assert await stats(place) == counted
    state = json.loads((place.data / FILE).read_text())["state"]
    (place.data / FILE).write_text(json.dumps({"state": state, "counts": {"1": {"nodes": {}}}}))
    assert await stats(place) == counted


async def test_a_link_is_not_followed(tmp_path: Path) -> None:
    place = await filled(tmp_path)
    counted = await stats(place)
    (place.data / FILE).unlink()
    (tmp_path / "elsewhere").write_text("mine")
    (place.data / FILE).symlink_to(tmp_path / "elsewhere")
    assert await stats(place) == counted and (tmp_path / "elsewhere").read_text() == "mine"
