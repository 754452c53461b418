"""A language of the user, from the setting to the answer: indexed, found, kept true by the daemon, read again on a change."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from atlas.app.main import make_source, open_atlas
from atlas.core.errors import ConfigError
from atlas.core.model import Filter
from atlas.runtime.config.load import load_settings
from tests.pipeline.test_daemon_run import found, running, until_found
from tests.pipeline.trees import index, write_tree

SETTINGS = """\
name = "mylang"
grammar = "python"
include = ["common"]
extensions = ["myext"]

[scope]
rule = "file"

[modules]
rule = "packages"
endings = [".myext"]

[search]
words = ["mylang"]
"""
TAGS = """\
(class_definition name: (identifier) @name body: (_) @body) @definition.class
(function_definition name: (identifier) @name parameters: (_) @parameters body: (_) @body) @definition.function
(import_from_statement module_name: (dotted_name) @module name: (dotted_name) @member) @import.member
(call function: (_) @callee arguments: (_) @arguments) @reference.call
(identifier) @expr.name
"""
FILES = {
    "app/a.myext": "from app.b import helper\n\ndef entry():\n    return helper()\n",
    "app/b.myext": "def helper():\n    return 1\n",
}


@pytest.fixture
def languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one language, set as a user sets it."""
    folder = tmp_path / "languages" / "mylang"
    folder.mkdir(parents=True)
    (folder / "language.toml").write_text(SETTINGS)
    (folder / "tags.scm").write_text(TAGS)
    monkeypatch.setenv("ATLAS_LANGUAGES_FOLDERS", str(folder.parent))
    return folder


async def test_files_are_indexed_and_linked(tmp_path: Path, languages: Path) -> None:
    root = tmp_path / "p"
    write_tree(root, FILES)
    assert (await index(root, tmp_path / "d")).files == 2
    async with open_atlas(load_settings(project=str(root), data_dir=str(tmp_path / "d"))) as atlas:
        result = await atlas.search("helper of b.myext in mylang", Filter())
        assert (result.query.paths, result.query.languages) == (("b.myext",), ("mylang",))
        assert result.ranked[0].node.row.qualified_name == "app.b.helper"
        assert result.ranked[0].degree > 0, "the import and the call of another file"


async def test_a_changed_language_is_read_and_linked_again(tmp_path: Path, languages: Path) -> None:
    root = tmp_path / "p"
    write_tree(root, FILES)
    await index(root, tmp_path / "d")
    assert (await index(root, tmp_path / "d")).written == 0
    (languages / "language.toml").write_text(SETTINGS.replace('[".myext"]', '[".other"]'))
    assert (await index(root, tmp_path / "d")).written > 0
    async with open_atlas(load_settings(project=str(root), data_dir=str(tmp_path / "d"))) as atlas:
        result = await atlas.search("app.b.helper", Filter())
        assert result.ranked[0].degree == 0, "the import leads nowhere now"


async def test_the_daemon_keeps_files_true(tmp_path: Path, languages: Path) -> None:
    root = tmp_path / "p"
    write_tree(root, FILES)
    async with running(root, tmp_path / "d") as (_, store, _):
        await until_found(store, "app.b.helper")
        (root / "app/b.myext").write_text("def renamed():\n    return 1\n")
        await until_found(store, "app.b.renamed")
        assert not await found(store, "app.b.helper")


def test_a_process_of_its_own_reads_the_setting(tmp_path: Path, languages: Path) -> None:
    """As the daemon and the workers are started: from the user's file, without a variable."""
    root, config = tmp_path / "p", tmp_path / "config"
    write_tree(root, FILES)
    (config / "code-atlas").mkdir(parents=True)
    (config / "code-atlas/atlas.toml").write_text(f'[languages]\nfolders = ["{languages.parent}"]\n')
    environment = {**os.environ, "XDG_CONFIG_HOME": str(config), "ATLAS_EMBEDDER_PROVIDER": "none"}
    del environment["ATLAS_LANGUAGES_FOLDERS"]
    command = [sys.executable, "-m", "atlas", "--project", str(root), "--data-dir", str(tmp_path / "d")]
    for arguments in (["index"], ["search", "helper"]):
        done = subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
    assert "app/b.myext:1" in done.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "mylang"\n', "scope.rule is missing (file, directory, declared or document)"),
        (SETTINGS + "[link]\nfamly = 'x'\n", "unknown field `famly`, expected one of `family`"),
        (SETTINGS.replace('"packages"', '"package"'), "unknown variant `package`, expected one of `packages`"),
        (SETTINGS + 'manifest = "npm"\n', "unknown field `manifest`"),
        (SETTINGS.replace("endings", 'manifest = "go"\nendings'), 'modules.manifest says nothing for the rule "packages"'),
        (SETTINGS.replace('"common"', '"commom"'), 'include: no folder "commom"'),
        (SETTINGS.replace('"common"', '"../common"'), 'include: no folder "../common"'),
    ],
)  # fmt: skip
def test_a_mistake_names_file_key_and_what_is_allowed(tmp_path: Path, languages: Path, text: str, said: str) -> None:
    (languages / "language.toml").write_text(text)
    (tmp_path / "p").mkdir()
    with pytest.raises(ConfigError) as raised:
        make_source(load_settings(project=str(tmp_path / "p"), data_dir=str(tmp_path / "d")))
    assert said in str(raised.value)
    assert str(languages / "language.toml") in str(raised.value)


@pytest.mark.parametrize(
    ("folder", "said"),
    [("languages", "must hold absolute paths, not 'languages'"), ("/nowhere/languages", "no such folder")],
)
def test_a_folder_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, said: str) -> None:
    monkeypatch.setenv("ATLAS_LANGUAGES_FOLDERS", folder)
    with pytest.raises(ConfigError, match=r"env ATLAS_LANGUAGES_FOLDERS: languages\.folders") as raised:
        load_settings(project=str(tmp_path))
    assert said in str(raised.value)


def test_a_repository_cannot_bring_languages(tmp_path: Path) -> None:
    (tmp_path / "atlas.toml").write_text(f'[languages]\nfolders = ["{tmp_path}"]\n')
    settings = load_settings(project=str(tmp_path))
    assert settings.languages.folders == ()
    assert "languages.folders cannot be set by a project's file" in settings.ignored[0].why
