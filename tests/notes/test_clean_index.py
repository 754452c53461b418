"""Notes in a git working tree: the live index equals a clean one after edits, conflicts and branch switches."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from dulwich import porcelain
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.git.repositories import GitRepository
from tests.pipeline.trees import differences, dump, index

IDS = tuple(f"{kind}-01JD2V9Q7K4M8N3P5R6S7T8V9{last}" for kind, last in ("cA", "cB", "eA", "dA"))
FILES = (".knowledge/claims/2026/a.md", ".knowledge/claims/2026/b.md", ".knowledge/entities/team.md", ".knowledge/d.md")
CODE = "app/core.py"
BRANCHES = ("main", "feature")


@st.composite
def note(draw: st.DrawFn) -> str:
    """A note whose id may be that of another file, or that leads to something missing."""
    own, other = draw(st.sampled_from(IDS)), draw(st.sampled_from((*IDS, "c-01JD2V9Q7K4M8N3P5R6S7T8V9Z")))
    kind = {"c": "claim", "d": "decision", "e": "entity\nname: Team\naliases: [crew]"}[own[0]]
    body = draw(st.sampled_from(("It holds.", "It does not hold.", "- Writes Go. (client: x)\n- Is big.")))
    relation = draw(st.sampled_from(("supports", "refutes", "implies", "OWNS")))
    about = draw(st.sampled_from(("app.core.load", "app.core.gone")))
    return (
        f"---\nid: {own}\nkind: {kind}\nabout: [{{symbol: {about}}}]\n"
        f"relations:\n  - {{type: {relation}, to: {other}, reasoning: seen}}\n---\n{body}\n"
    )


@st.composite
def step(draw: st.DrawFn) -> tuple[str, str, str]:
    kind = draw(st.sampled_from(("write", "write", "conflict", "remove", "commit", "switch", "switch", "code")))
    return kind, draw(st.sampled_from(FILES)), draw(note()) if kind in ("write", "conflict") else ""


def conflict(ours: str, theirs: str) -> str:
    """Return what git leaves of two versions of a note that differ after their first line."""
    first, _, rest = ours.partition("\n")
    return f"{first}\n<<<<<<< HEAD\n{rest}=======\n{theirs.partition(chr(10))[2]}>>>>>>> feature\n"


def apply(repository: GitRepository, change: tuple[str, str, str]) -> None:
    kind, path, text = change
    file = repository.root / path
    if kind == "write" or (kind == "conflict" and not file.exists()):
        repository.put({path: text})
    elif kind == "conflict":
        repository.put({path: conflict(file.read_text(), text)})
    elif kind == "remove":
        file.unlink(missing_ok=True)
    elif kind == "code":
        repository.put({CODE: f"def load():\n    return {len(path)}\n"})
    else:
        here = [name for name in (*FILES, CODE) if (repository.root / name).exists()]
        repository.stage(*here)
        repository.commit("Work")
        if kind == "switch":
            current = porcelain.active_branch(repository.repo).decode()
            porcelain.checkout(repository.repo, next(name for name in BRANCHES if name != current), force=True)


@settings(
    max_examples=int(os.environ.get("ATLAS_TEST_SEQUENCES", "4")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(st.lists(note(), min_size=4, max_size=4), st.lists(note(), min_size=2, max_size=2), st.lists(step(), max_size=7))
def test_the_live_index_is_the_clean_one(first: list[str], other: list[str], steps: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, live, clean = Path(folder) / "project", Path(folder) / "live", Path(folder) / "clean"
        repository = GitRepository(root)
        code = "def load():\n    return 1\n"
        repository.commit("First", {CODE: code, **dict(zip(FILES, first, strict=True))})
        repository.branch("feature")
        repository.commit("Feature", dict(zip(FILES[:2], other, strict=True)))
        asyncio.run(index(root, live))
        for change in (*steps, ("switch", FILES[0], "")):
            apply(repository, change)
            asyncio.run(index(root, live))
            shutil.rmtree(clean, ignore_errors=True)
            asyncio.run(index(root, clean))
            assert not differences(dump(live), dump(clean)), change
        repository.close()
