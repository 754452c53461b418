"""An index from one store to another and back: nothing is lost on the way, and what differs is noticed."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest
from atlas_bench.compose import compare_indexes
from reference_store.store import MemoryStore

from atlas.app.main import index_project
from atlas.app.migrate import migrate
from atlas.app.store import open_store
from atlas.cli.migrate import check_equal
from atlas.code.index.copying import compare_project, copy_project
from atlas.code.index.events import no_progress
from atlas.code.index.project.reconcile import PENDING
from atlas.core.errors import ConfigError, NotFound, StoreError
from atlas.core.model import STRUCTURE_PATH, GraphDelta
from atlas.runtime.config.checks import with_index_at
from atlas.runtime.config.load import load_settings
from atlas.runtime.config.settings import Settings
from tests.neo4j.empty import empty_neo4j
from tests.neo4j.server import open_uri
from tests.pipeline.polyglot import tree
from tests.surfaces.processes import atlas
from tests.surfaces.shop import write_files


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A project in several languages, indexed into a folder."""
    root = tmp_path / "shop"
    write_files(root)
    for path, text in tree(12, random.Random(7)).items():
        file = root / "polyglot" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf8")
    return load_settings(str(tmp_path / "shop"), str(tmp_path / "first"), environment={})


def at(settings: Settings, place: str) -> Settings:
    return with_index_at(settings, place, settings.root.parent)


async def test_to_a_server_and_back(settings: Settings) -> None:
    """What comes back is what went, to the last word and vector."""
    await (await empty_neo4j()).aclose()
    await index_project(settings, no_progress)
    (there,) = await migrate(settings, at(settings, open_uri()), [], no_progress, replacing=False)
    assert there.differences == () and there.source_digest == there.target_digest
    assert there.units > 18 and there.vectors > 50
    (back,) = await migrate(at(settings, open_uri()), at(settings, "second"), [], no_progress, replacing=False)
    assert back.source_digest == back.target_digest == there.source_digest
    compared = compare_indexes(settings.data_dir, at(settings, "second").data_dir)
    assert compared.equal, compared.lines()
    summary = await index_project(at(settings, "second"), no_progress)
    assert (summary.written, summary.vectors) == (0, 0)


async def test_a_copy_replaces_what_is_there_only_when_asked(settings: Settings) -> None:
    await index_project(settings, no_progress)
    await migrate(settings, at(settings, "second"), [], no_progress, replacing=False)
    (settings.root / "shop" / "store.py").unlink()
    (settings.root / "shop" / "new.py").write_text("def fresh():\n    return 1\n")
    await index_project(settings, no_progress)
    with pytest.raises(ConfigError, match="already holds shop") as caught:
        await migrate(settings, at(settings, "second"), [], no_progress, replacing=False)
    assert "--replace" in caught.value.hint
    (copied,) = await migrate(settings, at(settings, "second"), [], no_progress, replacing=True)
    assert copied.differences == ()
    compared = compare_indexes(settings.data_dir, at(settings, "second").data_dir)
    assert compared.equal, compared.lines()


async def test_places_that_are_refused(settings: Settings) -> None:
    await index_project(settings, no_progress)
    with pytest.raises(ConfigError, match="already at"):
        await migrate(settings, at(settings, "first"), [], no_progress, replacing=True)
    with pytest.raises(ConfigError, match="is not the address"):
        at(settings, "http://127.0.0.1")
    with pytest.raises(NotFound):
        await migrate(at(settings, "nowhere"), at(settings, "second"), [], no_progress, replacing=True)
    with pytest.raises(NotFound, match="is not in the source index"):
        await migrate(settings, at(settings, "second"), ["other"], no_progress, replacing=True)


async def test_what_differs_is_named(settings: Settings) -> None:
    await index_project(settings, no_progress)
    source, target = await open_store(settings), MemoryStore()
    await copy_project(source, target, "shop", no_progress)
    assert (await compare_project(source, target, "shop", no_progress)).differences == ()
    (delta,) = await target.units("shop", ["shop/cart.py"])
    await target.apply([GraphDelta("shop", "shop/cart.py", delta.record, delta.nodes, delta.edges[1:])])
    found = await compare_project(source, target, "shop", no_progress)
    assert found.differences[0] == "unit shop/cart.py differs"
    assert any(line.startswith("edges: ") for line in found.differences)
    assert found.source_digest != found.target_digest
    with pytest.raises(StoreError, match=r"unit shop/cart\.py differs"):
        check_equal([found])
    await source.aclose()


async def test_a_copy_that_was_interrupted_says_so(settings: Settings) -> None:
    """The next process that indexes there compares every file, as after a pass that was killed."""

    class Full(MemoryStore):
        async def put_vectors(self, *arguments: object) -> None:
            raise StoreError("the disk is full")

    await index_project(settings, no_progress)
    source, target = await open_store(settings), Full()
    with pytest.raises(StoreError, match="full"):
        await copy_project(source, target, "shop", no_progress)
    assert (await target.manifest("shop"))[STRUCTURE_PATH].unit_digest.startswith(PENDING)
    await source.aclose()


def run(settings: Settings, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    options = ["--project", str(settings.root), "--data-dir", str(settings.data_dir)]
    return atlas("migrate", *words, *options, cwd=settings.root.parent, env=env)


async def test_the_command(settings: Settings) -> None:
    await (await empty_neo4j()).aclose()
    await index_project(settings, no_progress)
    done = run(settings, "--to", open_uri(), "--json")
    assert done.returncode == 0, done.stderr
    (copied,) = json.loads(done.stdout)
    assert copied["units"] > 18 and copied["differences"] == []
    again = run(settings, "--to", open_uri())
    assert (again.returncode, "already holds shop" in again.stderr) == (2, True)
    back = run(settings, "--from", open_uri(), "--to", "third", "--all")
    assert (back.returncode, "the same on both sides" in back.stdout) == (0, True), back.stderr
    assert (settings.root.parent / "third" / "atlas.db").exists()
