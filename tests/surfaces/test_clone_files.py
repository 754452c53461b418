"""What the rule and settings files of a clone do: they hide nothing silently, and they stop nobody from working."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from .processes import Place, answer, atlas, server

PATTERNS = "".join(f"*.x{number}\n" for number in range(50_000))
FILES = {".gitignore": "too-many-gitignore-rules", ".atlasignore": "too-many-atlasignore-rules"}


@pytest.fixture
def clone(tmp_path: Path) -> Place:
    place = Place(tmp_path / "clone", tmp_path / "data")
    for path in ("src/a.py", "lib/b.py", ".git/info/x"):
        (place.root / path).parent.mkdir(parents=True, exist_ok=True)
        (place.root / path).write_text("def greet():\n    return 1\n")
    (place.root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    return place


@pytest.mark.parametrize("file", FILES)
def test_a_folder_whose_rules_are_too_many_is_an_error_and_unknown(clone: Place, file: str) -> None:
    (clone.root / "lib" / file).write_text(PATTERNS)
    done = atlas("index", *clone.options)
    assert done.returncode == 1
    assert f"error: nothing in lib/ is indexed: lib/{file} has more patterns than are obeyed" in done.stderr
    assert "scope.exclude" in done.stderr
    told = json.loads(atlas("index", "--json", *clone.options).stdout)
    assert len(told["unread"]) == 1
    found = atlas("node", "greet", *clone.options)
    assert found.returncode == 0
    assert "src/a.py" in found.stdout
    assert "note: unknown: nothing in lib/ is indexed" in found.stdout
    assert f"lib/: {FILES[file]}" in atlas("status", "--skipped", *clone.options).stdout
    (clone.root / "lib" / file).write_text("*.x1\n")
    mended = atlas("index", *clone.options)
    assert (mended.returncode, "unknown" in atlas("node", "greet", *clone.options).stdout) == (0, False)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (".gitignore", "nothing of the project is indexed: .gitignore has"),
        (".atlasignore", "nothing of the project is indexed: .atlasignore has"),
        (".git/info/exclude", "nothing of the project is indexed: .git/info/exclude has"),
        ("../.gitignore", "a .gitignore above it"),
        ("large", "nothing of the project is indexed: .gitignore has"),
    ],
)
async def test_an_answer_about_a_hidden_project_is_unknown_and_not_none(clone: Place, path: str, said: str) -> None:
    if path.startswith("../"):
        (clone.root / ".git").rename(clone.root.parent / ".git")
    text = "#" * (1 << 20) + "x" if path == "large" else PATTERNS
    (clone.root / (".gitignore" if path == "large" else path)).write_text(text)
    done = atlas("index", *clone.options)
    assert done.returncode == 1
    assert said in done.stderr
    async with server(clone) as client:
        for tool, arguments in (
            ("hybrid_search", {"query": "greet"}),
            ("get_node", {"name": "greet"}),
            ("get_context", {"name": "greet"}),
            ("cypher_query", {"query": "MATCH (n:Function) RETURN n.name"}),
            ("status", {}),
        ):
            notes = (await answer(client, tool, **arguments))["evidence"]["notes"]
            assert any(note.startswith("unknown: ") and said in note for note in notes), tool


def test_several_hidden_folders_are_counted(clone: Place) -> None:
    for number in range(5):
        (clone.root / f"d{number}").mkdir()
        (clone.root / f"d{number}" / ".gitignore").write_text(PATTERNS)
    assert "and 4 more such folders" in atlas("index", *clone.options).stderr
    assert "unknown: and 2 more such folders" in atlas("node", "greet", *clone.options).stdout


@pytest.mark.parametrize("kind", ["forbidden", "broken", "large", "fifo", "link", "latin-1", "slow"])
async def test_a_clone_with_a_bad_settings_file_is_usable(clone: Place, kind: str) -> None:
    path = clone.root / "atlas.toml"
    texts = {
        "forbidden": b"[store]\nurl = 'bolt://10.0.0.1'\n",
        "broken": b"[scope\n",
        "large": b"#" * 100_000,
        "latin-1": b"[project]\nname = '\xe4'\n",
        "slow": b"a" * 65_000,
    }
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to("/etc/passwd")
    else:
        path.write_bytes(texts[kind])
    done = atlas("index", *clone.options)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("warning: ignored: ") == 1
    shown = json.loads(atlas("config", "show", "--json", *clone.options).stdout)["ignored"]
    assert len(shown) == 1
    async with server(clone) as client:
        assert (await answer(client, "get_node", name="greet"))["outcome"] == "ambiguous"
        notes = (await answer(client, "status"))["evidence"]["notes"]
        assert any(note.startswith("ignored: ") and shown[0]["why"] in note for note in notes)


def test_a_repository_without_a_work_tree_is_refused(tmp_path: Path) -> None:
    place = Place(tmp_path / "bare.git", tmp_path / "data")
    for folder in ("objects", "refs", "hooks"):
        (place.root / folder).mkdir(parents=True)
    (place.root / "HEAD").write_text("ref: refs/heads/main\n")
    (place.root / "hooks/pre-push.sample").write_text("#!/bin/sh\nexit 0\n")
    done = atlas("index", *place.options)
    assert done.returncode == 2
    assert "is a git repository without a work tree" in done.stderr
    assert "worktree add" in done.stderr
