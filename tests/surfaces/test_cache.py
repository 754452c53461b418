"""`atlas cache` and `--trust-data-dir` as a person uses them."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from atlas.runtime.process.data_folder import MARKER, default_folder
from tests.pipeline.moves import git

from .processes import atlas


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """Cache and settings of a user of their own."""
    return {"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_CONFIG_HOME": str(tmp_path / "config")}


def make_project(folder: Path, name: str) -> Path:
    root = folder / name
    root.mkdir()
    (root / f"{name}.py").write_text(f"def {name}():\n    pass\n")
    return root


def document(*words: str, env: dict[str, str]) -> dict[str, Any]:
    done = atlas(*words, "--json", env=env)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_folders_are_listed_and_those_of_projects_that_are_gone_are_freed(tmp_path: Path, user: dict[str, str]) -> None:
    assert "no data folders" in atlas("cache", "list", env=user).stdout
    roots = [make_project(tmp_path, name) for name in ("alpha", "beta", "gamma")]
    for root in roots:
        assert atlas("index", str(root), env=user).returncode == 0
    shutil.rmtree(roots[0])
    listed = {Path(one["project"]).name: one for one in document("cache", "list", env=user)["folders"]}
    assert {name: one["state"] for name, one in listed.items()} == {
        "alpha": "project gone",
        "beta": "ok",
        "gamma": "ok",
    }
    assert all(one["bytes"] > 50_000 for one in listed.values())
    shown = atlas("cache", "list", env=user).stdout
    assert "project gone" in shown
    assert "3 folders" in shown

    tried = document("cache", "prune", "--dry-run", env=user)
    assert [Path(one["project"]).name for one in tried["removed"]] == ["alpha"]
    assert Path(listed["alpha"]["folder"]).exists()
    done = atlas("cache", "prune", env=user)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"removed {listed['alpha']['folder']}")
    assert not Path(listed["alpha"]["folder"]).exists()
    assert atlas("search", "beta", "--project", str(roots[1]), env=user).returncode == 0


def used(folder: str, days_ago: float) -> None:
    """Make a data folder look unused for so long."""
    at = time.time() - days_ago * 86_400
    for file in Path(folder).iterdir():
        os.utime(file, (at, at))


def test_folders_beyond_the_limits_are_freed(tmp_path: Path, user: dict[str, str]) -> None:
    roots = [make_project(tmp_path, name) for name in ("alpha", "beta", "gamma")]
    for root in roots:
        assert atlas("index", str(root), env=user).returncode == 0
    folders = {Path(one["project"]).name: one for one in document("cache", "list", env=user)["folders"]}
    for name, days in (("alpha", 100), ("beta", 30), ("gamma", 1)):
        used(folders[name]["folder"], days)

    def chosen(*options: str, **settings: str) -> set[str]:
        found = document("cache", "prune", "--dry-run", *options, env=user | settings)["removed"]
        return {Path(one["project"]).name for one in found}

    assert chosen() == {"alpha"}
    assert chosen("--older-than", "0") == set()
    assert chosen("--older-than", "7") == {"alpha", "beta"}
    assert chosen(ATLAS_CACHE_MAX_DAYS="7") == {"alpha", "beta"}
    one = max(folder["bytes"] for folder in folders.values()) / 1e6
    assert chosen("--older-than", "0", "--max-mb", str(int(one) + 1)) <= {"alpha", "beta"}
    assert atlas("search", "alpha", "--project", str(roots[0]), env=user).returncode == 0
    assert chosen() == set(), "reading an index is a use of it"


def test_a_new_project_frees_what_deleted_and_unused_ones_left(tmp_path: Path, user: dict[str, str]) -> None:
    roots = [make_project(tmp_path, name) for name in ("alpha", "beta", "gamma", "delta")]
    for root in roots[:3]:
        assert atlas("index", str(root), env=user).returncode == 0
    folders = {Path(one["project"]).name: one["folder"] for one in document("cache", "list", env=user)["folders"]}
    shutil.rmtree(roots[0])
    used(folders["beta"], 100)
    assert atlas("index", str(roots[3]), env=user | {"ATLAS_CACHE_PRUNE": "false"}).returncode == 0
    assert all(Path(folder).exists() for folder in folders.values())
    shutil.rmtree(default_of(roots[3], user))
    assert atlas("index", str(roots[3]), env=user).returncode == 0
    assert {name for name, folder in folders.items() if Path(folder).exists()} == {"gamma"}


def default_of(root: Path, user: dict[str, str]) -> str:
    return next(one["folder"] for one in document("cache", "list", env=user)["folders"] if one["project"] == str(root))


def test_the_trees_of_a_repository_are_listed(tmp_path: Path, user: dict[str, str]) -> None:
    root = make_project(tmp_path, "alpha")
    assert "not in a repository" in atlas("status", "--worktrees", "--project", str(root), env=user).stderr
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all")
    git(root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "first")
    for name in ("one", "two"):
        git(root, "worktree", "add", "--quiet", "-b", name, str(tmp_path / name))
    git(tmp_path, "clone", "--quiet", str(root), str(tmp_path / "clone"))
    other = make_project(tmp_path, "other")
    for indexed in (root, tmp_path / "one", tmp_path / "clone", other):
        assert atlas("index", str(indexed), env=user).returncode == 0
    shutil.rmtree(tmp_path / "two")
    found = document("status", "--worktrees", "--project", str(tmp_path / "one"), env=user)
    listed = {Path(one["root"]).name: one for one in found["worktrees"]}
    assert list(listed) == ["one", "alpha", "clone"]
    assert {name: one["head"] for name, one in listed.items()} == {"one": "one", "alpha": "main", "clone": "main"}
    assert all(one["files"] == 1 and one["bytes"] > 50_000 for one in listed.values())
    assert found["bytes"] == sum(one["bytes"] for one in listed.values())
    shown = atlas("status", "--worktrees", "--project", str(root), env=user).stdout
    assert "3 trees" in shown and "main" in shown


def test_a_folder_that_a_daemon_uses_stays(tmp_path: Path, user: dict[str, str]) -> None:
    root = make_project(tmp_path, "alpha")
    moved = tmp_path / "moved"
    started = atlas("daemon", "start", str(root), env=user, timeout=60)
    assert started.returncode == 0, started.stderr
    data = document("cache", "list", env=user)["folders"][0]["folder"]
    root.rename(moved)
    try:
        pruned = document("cache", "prune", env=user)
        assert (pruned["removed"], [one["folder"] for one in pruned["in_use"]]) == ([], [data])
        assert "in use" in atlas("cache", "prune", env=user).stdout
    finally:
        moved.rename(root)
        assert atlas("daemon", "stop", "--project", str(root), env=user).returncode == 0


def test_a_folder_that_was_brought_along_works_once_it_is_trusted(tmp_path: Path, user: dict[str, str]) -> None:
    root, data = make_project(tmp_path, "alpha"), tmp_path / "data"
    assert atlas("index", str(root), "--data-dir", str(data), env=user).returncode == 0
    restored = tmp_path / "restored"
    shutil.copytree(data, restored)
    options = ("--project", str(root), "--data-dir", str(restored))
    refused = atlas("search", "alpha", *options, env=user)
    assert refused.returncode == 2
    assert "was not made by this installation" in refused.stderr
    assert "--trust-data-dir" in refused.stderr
    trusted = atlas("--trust-data-dir", "search", "alpha", *options, env=user)
    assert trusted.returncode == 0, trusted.stderr
    assert atlas("search", "alpha", *options, env=user).returncode == 0
    (restored / MARKER).unlink()
    assert atlas("search", "alpha", *options, env=user | {"ATLAS_TRUST_DATA_DIR": "1"}).returncode == 0


def test_status_says_where_the_index_is(tmp_path: Path, user: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_project(tmp_path, "alpha")
    assert atlas("index", str(root), env=user).returncode == 0
    for name, value in user.items():
        monkeypatch.setenv(name, value)
    status = atlas("status", "--project", str(root), env=user).stdout
    assert str(default_folder(root)) in status
    (root / ".atlas").mkdir()
    (root / ".atlas" / "atlas.db").touch()
    assert f"{root / '.atlas'} is of an earlier version" in atlas("status", "--project", str(root), env=user).stdout
    assert "old data" in atlas("health", "--project", str(root), env=user).stdout
