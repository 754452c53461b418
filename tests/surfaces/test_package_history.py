"""Since when a manifest declares a package, until when it did, and what stood there instead."""

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

_MANIFEST = '[package]\nname = "post"\nversion = "0.1.0"\n\n[dependencies]\n{0}\n'


@pytest.fixture
async def atlas(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "post")
    code = "pub fn parse() {}\n"
    repository.commit("Begin", {"Cargo.toml": _MANIFEST.format('serde = "1"'), "src/lib.rs": code})
    repository.commit(
        "Read addresses", {"Cargo.toml": _MANIFEST.format('serde = "1"\nchumsky = "0.8"\npest-derive = "2"')}
    )
    repository.tag("v1.0.0")
    new: dict[str, str | None] = {"Cargo.toml": _MANIFEST.format('serde = "1"\nnom = "8"\npest-derive = "2"')}
    repository.commit("Use nom\n\nIt is quicker.", new)
    repository.commit("Speak of chumsky", {"src/lib.rs": f"{code}// chumsky\n"})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        yield opened
    repository.close()


async def test_a_package_that_a_manifest_no_longer_has(atlas: Atlas) -> None:
    for asked in (
        "when was the chumsky parser replaced by nom?",
        "when did we stop using chumsky",
        "since when had we been using chumsky?",
        "who removed the chumsky dependency",
    ):
        said = (await hybrid_search(atlas, asked)).render()
        came, _, gone = said.partition("removed:")
        assert "`chumsky` is no longer declared" in came and "Read addresses; first in v1.0.0" in came, asked
        assert "Use nom" in gone and "It is quicker." in gone and "Speak of chumsky" not in said, asked
        assert '- chumsky = "0.8"' in came and '+ nom = "8"' in came, asked


async def test_a_package_of_today_and_a_part_that_the_answer_says(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "since when do we use nom?")).render()
    assert "`nom` is declared since" in said and "Use nom" in said
    asked = "when was the chumsky parser replaced by nom? and since when had we been using chumsky?"
    said = (await hybrid_search(atlas, asked)).render()
    assert said.endswith("the answer above says it") or "the answer above says it\n" in said


async def test_other_words_of_a_manifest_are_no_packages(atlas: Atlas) -> None:
    for asked in ("who removed the version", "when was pest replaced", "when did we stop using parse"):
        said = (await hybrid_search(atlas, asked)).render()
        assert "declared" not in said.partition("\n1.")[0], asked


async def test_who_uses_a_package_asks_for_no_history(atlas: Atlas) -> None:
    for asked in ("who uses nom", "who imports the nom package", "when is nom used?"):
        said = (await hybrid_search(atlas, asked)).render()
        assert "is declared since" not in said, asked
