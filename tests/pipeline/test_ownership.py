"""One name, two trees: an index is not replaced by that of another tree unless the user says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from atlas.app.main import index_project, open_atlas
from atlas.code.index.events import no_progress
from atlas.core.errors import ConfigError
from atlas.runtime.config.load import load_settings
from atlas.runtime.config.settings import Settings
from tests.surfaces.processes import atlas


def tree(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in names:
        (folder / f"{name}.py").write_text(f"def {name}():\n    return 1\n")
    return folder


def settings_of(root: Path, data: Path) -> Settings:
    return load_settings(str(root), str(data), environment={"ATLAS_EMBEDDER_PROVIDER": "none"})


async def files_in(settings: Settings) -> set[str]:
    async with open_atlas(settings) as opened:
        return {path for path in await opened.reader.store.manifest(settings.project_name) if path}


async def test_another_tree_of_the_same_name_is_refused(tmp_path: Path) -> None:
    first, second = tree(tmp_path / "one" / "app", "a", "b", "c"), tree(tmp_path / "two" / "app", "x", "y", "c")
    ours, theirs = (settings_of(root, tmp_path / "data") for root in (first, second))
    await index_project(ours, no_progress)
    with pytest.raises(ConfigError, match="only 1 of 3 sampled files exist in") as caught:
        await index_project(theirs, no_progress)
    assert "--take-over" in caught.value.hint and "ATLAS_PROJECT_NAME" in caught.value.hint
    assert await files_in(ours) == {"a.py", "b.py", "c.py"}
    await index_project(theirs, no_progress, take_over=True)
    assert await files_in(theirs) == {"x.py", "y.py", "c.py"}
    with pytest.raises(ConfigError, match="another project named app"):
        await index_project(ours, no_progress)


async def test_a_tree_that_moved_or_changed_at_its_place_is_the_same(tmp_path: Path) -> None:
    first = tree(tmp_path / "one" / "app", "a", "b", "c")
    await index_project(settings_of(first, tmp_path / "data"), no_progress)
    second = tree(tmp_path / "app", "b", "c", "d")
    settings = settings_of(second, tmp_path / "data")
    await index_project(settings, no_progress)
    shutil.rmtree(second)
    tree(second, "new")
    await index_project(settings, no_progress)
    assert await files_in(settings) == {"new.py"}


async def test_a_renamed_project_leaves_nothing_under_its_former_name(tmp_path: Path) -> None:
    root, data = tree(tmp_path / "app", "a", "b"), tmp_path / "data"
    other = settings_of(tree(tmp_path / "other", "x"), data)
    await index_project(other, no_progress)
    await index_project(settings_of(root, data), no_progress)
    (root / "atlas.toml").write_text('[project]\nname = "renamed"\n')
    renamed = settings_of(root, data)
    assert renamed.project_name == "renamed"
    await index_project(renamed, no_progress)
    async with open_atlas(renamed) as opened:
        assert [state.project for state in await opened.reader.store.projects()] == ["other", "renamed"]
    assert {"a.py", "b.py"} <= await files_in(renamed)
    assert await files_in(other) == {"x.py"}
    assert sorted(path.name for path in data.glob("facts-*.bin")) == ["facts-other.bin", "facts-renamed.bin"]


def test_the_command_says_what_to_do(tmp_path: Path) -> None:
    roots = [tree(tmp_path / "one" / "app", "a", "b"), tree(tmp_path / "two" / "app", "x", "y")]
    for root, more, code in ((roots[0], [], 0), (roots[1], [], 2), (roots[1], ["--take-over"], 0)):
        done = atlas("index", str(root), *more, "--data-dir", str(tmp_path / "data"))
        assert done.returncode == code, done.stderr
        assert ("atlas index --take-over" in done.stderr) == (code == 2)
