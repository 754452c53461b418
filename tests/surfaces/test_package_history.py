"""Since when a manifest declares a package, until when it did, and what stood there instead."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
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


async def _asked(tmp_path: Path, manifest: str, before: str, after: str, questions: Mapping[str, str]) -> None:
    """Ask each question of a repository whose manifest takes up a package and expect the package that it means."""
    repository = GitRepository(tmp_path / "own")
    repository.commit("Begin", {manifest: before})
    repository.commit("Take it up", {manifest: after})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        for asked, package in questions.items():
            said = (await hybrid_search(opened, asked)).render()
            assert f"`{package}` is declared since" in said and "Take it up" in said and "Begin" not in said, said
    repository.close()


_GO = "module example.com/own\n\ngo 1.22\n\nrequire (\n\tgithub.com/stretchr/testify v1.9.0\n{0})\n"
_NPM = '{{"name": "own", "version": "1.0.0", "dependencies": {{"left-pad": "^1.0.0"{0}}}}}\n'
_POM = (
    "<project>\n<modelVersion>4.0.0</modelVersion>\n<groupId>com.example</groupId>\n<artifactId>own</artifactId>\n"
    "<version>1</version>\n<dependencies>\n{0}</dependencies>\n</project>\n"
)
_SLF4J = (
    "<dependency>\n<groupId>org.slf4j</groupId>\n<artifactId>slf4j-api</artifactId>\n<version>2.0.9</version>\n"
    "</dependency>\n"
)
_GRADLE = "dependencies {{\n    implementation 'com.example:old:1.0'\n{0}}}\n"
_PHP = '{{"name": "own/own", "require": {{"php": ">=8.1"{0}}}}}\n'
_MIX = (
    'defmodule Own.MixProject do\n  use Mix.Project\n\n  def project, do: [app: :own, version: "0.1.0", deps: deps()]\n\n'
    '  defp deps do\n    [\n      {{:jason, "~> 1.4"}}{0}\n    ]\n  end\nend\n'
)


@pytest.mark.parametrize(
    ("manifest", "template", "line", "questions"),
    [
        (
            "go.mod",
            _GO,
            "\tgithub.com/spf13/cobra v1.8.0\n",
            {
                "when was cobra added": "github.com/spf13/cobra",
                "since when do we use spf13/cobra?": "github.com/spf13/cobra",
                "since when do we use github.com/spf13/cobra?": "github.com/spf13/cobra",
            },
        ),
        (
            "go.mod",
            _GO,
            "\tgithub.com/go-chi/chi/v5 v5.0.12\n",
            {"when was chi added": "github.com/go-chi/chi", "who added go-chi/chi?": "github.com/go-chi/chi"},
        ),
        (
            "package.json",
            _NPM,
            ', "@tanstack/react-query": "^5.0.0"',
            {
                "when was react-query added": "@tanstack/react-query",
                "since when do we use @tanstack/react-query": "@tanstack/react-query",
            },
        ),
        (
            "pom.xml",
            _POM,
            _SLF4J,
            {
                "when was slf4j-api added": "org.slf4j:slf4j-api",
                "since when do we use org.slf4j:slf4j-api?": "org.slf4j:slf4j-api",
            },
        ),
        (
            "build.gradle",
            _GRADLE,
            "    implementation 'com.squareup.okhttp3:okhttp:4.12.0'\n",
            {"when was okhttp added": "com.squareup.okhttp3:okhttp"},
        ),
        (
            "composer.json",
            _PHP,
            ', "guzzlehttp/guzzle": "^7.8"',
            {"when was guzzle added": "guzzlehttp/guzzle", "who added guzzlehttp/guzzle": "guzzlehttp/guzzle"},
        ),
        ("mix.exs", _MIX, ',\n      {:telemetry, "~> 1.2"}', {"when was telemetry added": "telemetry"}),
        (
            "Cargo.toml",
            _MANIFEST,
            'json5 = { package = "serde_json5", version = "0.1" }',
            {"when was serde_json5 added": "serde_json5", "since when do we use json5?": "serde_json5"},
        ),
    ],
)
async def test_a_package_is_known_by_the_end_of_its_name(
    tmp_path: Path, manifest: str, template: str, line: str, questions: Mapping[str, str]
) -> None:
    await _asked(tmp_path, manifest, template.format(""), template.format(line), questions)


async def test_a_former_module_is_known_by_the_end_of_its_name(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "own")
    repository.commit("Begin", {"go.mod": _GO.format("\tgithub.com/urfave/cli/v2 v2.27.1\n")})
    repository.commit("Use cobra", {"go.mod": _GO.format("\tgithub.com/spf13/cobra v1.8.0\n")})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        for asked in ("when was urfave/cli replaced by cobra?", "when did we stop using urfave/cli?"):
            said = (await hybrid_search(opened, asked)).render()
            assert "`urfave/cli` is no longer declared" in said and "Use cobra" in said, said
            assert "- github.com/urfave/cli/v2 v2.27.1" in said
        for asked in ("when was testify dropped", "when did we stop using example"):
            assert "no longer declared" not in (await hybrid_search(opened, asked)).render()
    repository.close()


async def test_an_end_that_several_packages_have_names_the_others(tmp_path: Path) -> None:
    both = ', "@one/core": "^1.0.0", "@two/core": "^2.0.0"'
    questions = {"when was core added": "@one/core", "when was @two/core added": "@two/core"}
    await _asked(tmp_path, "package.json", _NPM.format(""), _NPM.format(both), questions)


async def test_the_commit_by_which_a_package_left_one_group_for_another(tmp_path: Path) -> None:
    def manifest(runtime: str, tests: str) -> str:
        return f'{{"name": "shop", "dependencies": {{{runtime}}}, "devDependencies": {{{tests}}}}}\n'

    repository = GitRepository(tmp_path / "shop")
    code = {"index.js": "module.exports = 1;\n"}
    repository.commit("Begin", {"package.json": manifest('"verror": "^1.10"', ""), **code})
    repository.commit("Test", {"package.json": manifest('"verror": "^1.10"', '"jest": "^27"')})
    moved = manifest('"pony-cause": "^1.1"', '"jest": "^27", "verror": "^1.10"')
    repository.commit("Wrap errors in another way (#7)", {"package.json": moved})
    repository.commit("Update", {"package.json": moved.replace("^27", "^28")})
    await indexed(repository.root, tmp_path / "data")
    settings = load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)
    async with open_atlas(settings) as opened:
        for asked in (
            "commit that got rid of verror as a runtime dependency, date, and replacement",
            "when did pony-cause replace verror?",
        ):
            said = (await hybrid_search(opened, asked)).render()
            assert "`verror` left `dependencies` of package.json on " in said, said
            assert "Wrap errors in another way (#7)" in said and "Update" not in said
            for row in ("- verror ^1.10 [dependencies]", "+ pony-cause ^1.1 [dependencies]"):
                assert row in said, said
            assert "+ verror ^1.10 [devDependencies]" in said and "jest" not in said
        said = (await hybrid_search(opened, "since when do we use verror?")).render()
        assert "`verror` is declared since" in said and "left" not in said
    repository.close()


async def test_a_package_that_came_went_and_came_is_told_with_each_commit(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "shop")
    code = "pub fn uuid() -> u32 {\n    7\n}\n"
    repository.commit("Begin with uuid", {"Cargo.toml": _MANIFEST.format('uuid = "1"'), "src/lib.rs": code})
    repository.commit("Go without uuid", {"Cargo.toml": _MANIFEST.format('serde = "1"')})
    repository.commit("Take uuid back", {"Cargo.toml": _MANIFEST.format('serde = "1"\nuuid = "2"')})
    repository.commit("Remove uuid for good", {"Cargo.toml": _MANIFEST.format('serde = "1"')})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        asked = "uuid used to be a dependency: which commits put it in and took it out again?"
        said = (await hybrid_search(opened, asked)).render()
        assert "Take uuid back" in said.partition("added_again:")[2], said
        assert "Remove uuid for good" in said.partition("removed:")[2], said
        asked = "uuid used to be a function; who calls it?"
        assert "no longer declared" not in (await hybrid_search(opened, asked)).render()
    repository.close()
