"""A new session goes on from the tree that an earlier one has kept, and finds what a scan of the whole tree finds."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from atlas.answers.evidence import NewerFiles
from atlas.app.main import current_scope, open_atlas
from atlas.code.index.project import tree_check, tree_events
from atlas.code.index.project.tree_check import CheckedTree, TreeCheck
from atlas.parsing import Languages, load_languages
from atlas.runtime.config.load import Settings, load_settings

FILES = {
    "kept.py": "def kept(): ...\n",
    "edited.py": "def one(): ...\n",
    "gone.py": "def gone(): ...\n",
    "moved.py": "def moved(): ...\n",
    "left/same.py": "def left(): ...\n",
    "right/same.py": "def rite(): ...\n",
    "ignored/soon.py": "def soon(): ...\n",
    "personal/own.py": "def own(): ...\n",
    "scoped/out.py": "def out(): ...\n",
    "forced/.gitignore": "forced.py\n",
    "forced/forced.py": "def forced(): ...\n",
    "nested/inner.py": "def inner(): ...\n",
    "large.py": "#" * 4000,
    "script": "print()\n",
}


@dataclass
class Tree:
    settings: Settings
    loaded: list[int] = field(default_factory=list[int])

    @property
    def root(self) -> Path:
        return self.settings.root

    @property
    def snapshot(self) -> Path:
        return self.settings.data_dir / "tree.bin"

    async def session(self, *, keeps: bool = True) -> NewerFiles:
        """Return what one new session finds newer than the index."""

        def languages() -> Languages:
            self.loaded.append(1)
            return load_languages()

        scope = lambda: current_scope(self.settings)  # noqa: E731
        source = CheckedTree(
            self.settings.project_name, self.root, languages, scope, snapshot=self.snapshot if keeps else None
        )
        check = TreeCheck(source)
        async with open_atlas(self.settings) as atlas:
            found = await check.compare(atlas.reader.store, (await atlas.reader.store.projects())[0])
            await check.aclose()
        return found

    def git(self, *arguments: str, folder: str = "") -> None:
        subprocess.run(["git", *arguments], cwd=self.root / folder, check=True, capture_output=True)


@pytest.fixture
async def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    root = tmp_path / "project"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "empty" / "deeper").mkdir(parents=True)
    (root / "script").chmod(0o755)
    (root / "atlas.toml").write_text("[scope]\nmax_file_bytes = 2048\n")
    tree = Tree(load_settings(str(root), str(tmp_path / "data"), environment={"ATLAS_EMBEDDER_PROVIDER": "none"}))
    tree.git("init", "-q")
    tree.git("init", "-q", folder="nested")
    async with open_atlas(tree.settings, writing=True) as atlas:
        await atlas.index()
    return tree


def rewritten(path: Path, text: str) -> None:
    """Replace the content, but keep size and modification time."""
    before = path.stat()
    assert len(text) == before.st_size
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def exchanged(root: Path) -> None:
    (root / "left").rename(root / "between")
    (root / "right").rename(root / "left")
    (root / "between").rename(root / "right")


def change(tree: Tree, home: Path) -> None:
    root = tree.root
    rewritten(root / "edited.py", "def two(): ...\n")
    (root / "gone.py").unlink()
    (root / "moved.py").rename(root / "empty/deeper/moved.py")
    exchanged(root)
    (root / "ignored/.gitignore").write_text("soon.py\n")
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("own.py\n")
    tree.git("add", "-f", "forced/forced.py")
    (root / "nested/.git/info/exclude").write_text("inner.py\n")
    (root / "large.py").write_text("def large(): ...\n")
    (root / "script").write_text("#!/usr/bin/env python3\n")


async def test_a_new_session_finds_what_a_scan_finds(tree: Tree, tmp_path: Path) -> None:
    await asyncio.sleep(2.1)  # nothing of the tree is too young to be trusted
    assert await tree.session() == NewerFiles()
    assert len(tree.loaded) == 1
    assert await tree.session() == NewerFiles()
    assert len(tree.loaded) == 1, "the second session scans nothing"
    change(tree, tmp_path / "home")
    expected = NewerFiles(
        new=("empty/deeper/moved.py", "forced/forced.py", "large.py", "script"),
        changed=("edited.py", "left/same.py", "right/same.py"),
        deleted=("gone.py", "ignored/soon.py", "moved.py", "nested/inner.py", "personal/own.py"),
    )
    assert await tree.session() == expected
    assert await tree.session() == expected
    async with open_atlas(tree.settings, writing=True) as atlas:
        await atlas.index()
    assert await tree.session() == NewerFiles()


@dataclass(frozen=True)
class Step:
    do: Callable[[Path, Path], object]
    """Called with the root and the home folder."""
    undo: Callable[[Path, Path], object]
    expected: NewerFiles


STEPS = {
    "edit": Step(
        lambda root, _: rewritten(root / "edited.py", "def two(): ...\n"),
        lambda root, _: rewritten(root / "edited.py", FILES["edited.py"]),
        NewerFiles(changed=("edited.py",)),
    ),
    "file in an empty folder": Step(
        lambda root, _: (root / "empty/deeper/new.py").write_text("x = 1\n"),
        lambda root, _: (root / "empty/deeper/new.py").unlink(),
        NewerFiles(new=("empty/deeper/new.py",)),
    ),
    "exchange of folders": Step(
        lambda root, _: exchanged(root),
        lambda root, _: exchanged(root),
        NewerFiles(changed=("left/same.py", "right/same.py")),
    ),
    "smaller file": Step(
        lambda root, _: (root / "large.py").write_text("x = 1\n"),
        lambda root, _: (root / "large.py").write_text(FILES["large.py"]),
        NewerFiles(new=("large.py",)),
    ),
    "first line of a script": Step(
        lambda root, _: (root / "script").write_text("#!/usr/bin/env python3\n"),
        lambda root, _: (root / "script").write_text(FILES["script"]),
        NewerFiles(new=("script",)),
    ),
    "personal rules": Step(
        lambda _, home: (
            (home / ".config/git").mkdir(parents=True),
            (home / ".config/git/ignore").write_text("own.py"),
        ),
        lambda _, home: (home / ".config/git/ignore").unlink(),
        NewerFiles(deleted=("personal/own.py",)),
    ),
    "rules of a nested repository": Step(
        lambda root, _: (root / "nested/.git/info/exclude").write_text("inner.py\n"),
        lambda root, _: (root / "nested/.git/info/exclude").unlink(),
        NewerFiles(deleted=("nested/inner.py",)),
    ),
    "larger limit": Step(
        lambda root, _: (root / "atlas.toml").write_text("[scope]\nmax_file_bytes = 8192\n"),
        lambda root, _: (root / "atlas.toml").write_text("[scope]\nmax_file_bytes = 2048\n"),
        NewerFiles(new=("large.py",), changed=("atlas.toml",)),
    ),
}


async def test_each_change_alone_is_found_and_a_damaged_file_is_no_hint(tree: Tree, tmp_path: Path) -> None:
    await asyncio.sleep(2.1)
    assert await tree.session() == NewerFiles()
    kept = tree.snapshot.read_bytes()
    for name, step in STEPS.items():
        step.do(tree.root, tmp_path / "home")
        tree.snapshot.write_bytes(kept)
        assert await tree.session() == step.expected, name
        step.undo(tree.root, tmp_path / "home")
    (tree.root / "kept.py").unlink()
    for damaged in (b"", kept[:-1], kept.replace(b"kept.py", b"keqt.py"), b"[]\n", b"\xff", kept[:200]):
        tree.snapshot.write_bytes(damaged)
        assert await tree.session() == NewerFiles(deleted=("kept.py",))


async def test_events_find_what_stamps_find(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With watches from the second look on: each change at once, also one that keeps size and time."""
    monkeypatch.setattr(tree_events, "MANY_FILES", 1)
    root, looks = tree.root, list[int]()
    stat_all = tree_check.paths_that_differ
    monkeypatch.setattr(tree_check, "paths_that_differ", lambda *given: looks.append(1) or stat_all(*given))
    source = CheckedTree(
        tree.settings.project_name, root, load_languages, lambda: current_scope(tree.settings), snapshot=tree.snapshot
    )
    check = TreeCheck(source)
    await asyncio.sleep(2.1)  # no rules are too young to be trusted
    async with open_atlas(tree.settings) as atlas:
        store = atlas.reader.store
        (state,) = await store.projects()

        async def look() -> NewerFiles:
            return await check.compare(store, state)

        for _ in range(4):
            assert await look() == NewerFiles()
        if sys.platform == "linux":
            assert len(looks) == 2, "one look at each file, and one when the watches were set"
            for seconds, total in ((tree_events.VERIFY_SECONDS, 2), (0.0, 3)):
                monkeypatch.setattr(tree_events, "EARLY_SECONDS", seconds)
                check.verify_early()
                assert await look() == await look() == NewerFiles()
                assert len(looks) == total, "the background looks early, and once"
        rewritten(root / "edited.py", "def two(): ...\n")
        assert (await look()).changed == ("edited.py",)
        rewritten(root / "edited.py", "def one(): ...\n")
        assert await look() == NewerFiles()
        (root / "draft").write_text("def late(): ...\n")
        (root / "draft").rename(root / "left/late.py")
        (root / "gone.py").unlink()
        assert await look() == NewerFiles(new=("left/late.py",), deleted=("gone.py",))
        (root / "new/deep").mkdir(parents=True)
        (root / "new/deep/one.py").write_text("def deep(): ...\n")
        assert (await look()).new == ("left/late.py", "new/deep/one.py")
        (root / "new/deep/two.py").write_text("def deep(): ...\n")
        assert (await look()).new == ("left/late.py", "new/deep/one.py", "new/deep/two.py")
        (root / "new").rename(root / "newer")
        exchanged(root)
        found = await look()
        assert found.new == ("newer/deep/one.py", "newer/deep/two.py", "right/late.py")
        assert found.changed == ("left/same.py", "right/same.py")
        (root / "left/same.py").write_text("def rite(): return 1\n")
        (root / "scoped/.gitignore").write_text("out.py\n")
        assert "scoped/out.py" in (await look()).deleted
        (root / "kept.py").write_text("def kept(): return 2\n")
        await check.aclose()
    assert "kept.py" in (await tree.session()).changed, "the tree that is kept does not hide a change"
