"""I1 on a history: an index that is kept warm, hinted as by a watcher, equals a clean one after every commit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest
from atlas_bench.compose import compare_indexes, open_live
from atlas_bench.replay import ReplaySteps, WarmIndex, replay

from atlas.app.main import index_project
from atlas.code.index.events import no_progress
from atlas.core.errors import ConfigError
from atlas.runtime.config.load import load_settings
from tests.pipeline.history import write_history
from tests.pipeline.trees import write_tree

COMMAND = (sys.executable, "-P", "-m", "atlas", "bench", "replay")


def live(tree: Path, data: Path) -> AbstractAsyncContextManager[WarmIndex]:
    return open_live(load_settings(str(tree), str(data)))


async def clean(tree: Path, data: Path) -> None:
    await index_project(load_settings(str(tree), str(data)), no_progress)


WAYS = ReplaySteps(live, clean, compare_indexes)


@pytest.mark.parametrize("options", [(), ("--passes",)])
def test_every_commit_of_a_history_ends_at_the_clean_index(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Warm, and with a new pass for each commit that continues from the snapshot of the pass before."""
    commits = write_history(tmp_path / "shop")
    done = subprocess.run(
        [*COMMAND, str(tmp_path / "shop"), "--commits", "1000", "--json", *options], capture_output=True, text=True
    )
    steps = json.loads(done.stdout)
    found = {step["subject"]: [kind for kind in step["comparison"]["kinds"] if kind["samples"]] for step in steps}
    assert {subject: kinds for subject, kinds in found.items() if kinds} == {}
    assert done.returncode == 0, done.stderr
    assert len(steps) == commits >= 35
    assert [step["number"] for step in steps] == list(range(1, commits + 1))
    assert all(kind["rows_a"] for kind in steps[1]["comparison"]["kinds"] if kind["kind"] != "skipped")


async def test_what_was_put_off_between_two_comparisons_is_made_good(tmp_path: Path) -> None:
    """Seven commits between two comparisons: nothing sweeps the vectors that the gate holds back in between."""
    write_history(tmp_path / "shop")
    (tmp_path / "scratch").mkdir()
    walking = replay(tmp_path / "shop", tmp_path / "scratch", WAYS, commits=1000, every=7)
    compared = [(step.subject, step.comparison) async for step in walking if step.comparison is not None]
    assert len(compared) >= 5
    assert [(subject, found.lines()) for subject, found in compared if not found.equal] == []


async def test_a_divergence_is_reported(tmp_path: Path) -> None:
    """The clean index is made of another tree: the first commit's equal, every later one's different."""
    write_history(tmp_path / "shop")
    (tmp_path / "scratch").mkdir()
    other: list[Path] = []

    async def clean_of_the_first(tree: Path, data: Path) -> None:
        if not other:
            other.append(tmp_path / "other" / "shop")
            copytree(tree, other[0], ignore=ignore_patterns(".git"))
        await clean(other[0], data)

    ways = replace(WAYS, clean=clean_of_the_first)
    walking = replay(tmp_path / "shop", tmp_path / "scratch", ways, commits=1000, newest="HEAD~3", every=4)
    verdicts = [step.comparison.equal async for step in walking if step.comparison is not None]
    assert verdicts[0] is True
    assert not any(verdicts[1:])


async def test_the_commits_asked_for_are_walked(tmp_path: Path) -> None:
    write_history(tmp_path / "shop")
    (tmp_path / "scratch").mkdir()
    walking = replay(tmp_path / "shop", tmp_path / "scratch", WAYS, commits=3, newest="HEAD~2")
    subjects = [step.subject async for step in walking]
    assert subjects == ["a file becomes ignored", "and is back", "tests are left out"]


async def test_the_repository_is_only_read(tmp_path: Path) -> None:
    write_history(tmp_path / "shop")
    hook = tmp_path / "shop" / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\n")
    hook.chmod(0o755)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "shop").rglob("*")}
    (tmp_path / "scratch").mkdir()
    assert [step async for step in replay(tmp_path / "shop", tmp_path / "scratch", WAYS, commits=2)]
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "shop").rglob("*")} == before
    assert not (tmp_path / "hook-ran").exists()


@pytest.mark.parametrize("newest", ["HEAD", "--output=stolen", "no-such-branch"])
async def test_a_folder_without_a_history_is_refused(tmp_path: Path, newest: str) -> None:
    (tmp_path / "scratch").mkdir()
    if newest != "HEAD":
        write_history(tmp_path / "plain")
    else:
        (tmp_path / "plain").mkdir()
    with pytest.raises(ConfigError):
        async for _ in replay(tmp_path / "plain", tmp_path / "scratch", WAYS, commits=2, newest=newest):
            pass
    assert not [folder for folder, _, files in os.walk(tmp_path) if "stolen" in files]


async def test_a_file_looked_at_again_is_not_stale_when_another_one_changes_its_edges(tmp_path: Path) -> None:
    """Too young to be trusted, `a.py` is marked; its content is the stored one, its unit is not: `b` is gone."""
    write_tree(tmp_path / "p", {"a.py": "from b import g\n\ng()\n", "b.py": "def g():\n    pass\n"})
    async with open_live(load_settings(str(tmp_path / "p"), str(tmp_path / "d"))) as index:
        await index.settle()
        (tmp_path / "p" / "b.py").unlink()
        await index.hint([""])
        await index.settle()
    await clean(tmp_path / "p", tmp_path / "fresh")
    assert compare_indexes(tmp_path / "d", tmp_path / "fresh").lines() == []
