"""Commits by which a name came into a file or left it."""

from __future__ import annotations

from pathlib import Path

from atlas.adapters.git.history import GitHistory
from atlas.core.history import NameChange
from atlas.parsing import positions_that_differ
from tests.git.repositories import GitRepository


def _said(changes: tuple[NameChange, ...]) -> list[tuple[str, str, bool, bool]]:
    return [(each.commit.subject, each.path, each.is_added, each.is_file) for each in changes]


async def test_names_that_came_and_went(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin", {"a.py": "one = 1\n", "b.py": "one = 2\n"})
    repository.commit("More", {"a.py": "one = Two\n", "Kit.java": "class Kit {}\n"})
    repository.commit("Less", {"a.py": "one = 1\n", "Kit.java": None})
    history = GitHistory(repository.root, positions_that_differ)
    found = await history.name_changes("Two", "a.py")
    assert _said(found.changes) == [("Less", "a.py", False, False), ("More", "a.py", True, False)]
    assert not (await history.name_changes("Two", "b.py")).changes
    assert not (await history.name_changes("Two")).changes, "lines count only where the message has the name"
    found = await history.name_changes("Kit")
    assert _said(found.changes) == [("Less", "Kit.java", False, True), ("More", "Kit.java", True, True)]
    await history.aclose()
    repository.commit("Drop Gone and a file called so", {"c.py": "one = Gone\n"})
    repository.commit("Remove Gone", {"c.py": "one = 1\n"})
    history = GitHistory(repository.root, positions_that_differ)
    found = await history.name_changes("Gone")
    assert ("Remove Gone", "c.py", False, False) in _said(found.changes)
    await history.aclose()
    repository.close()


async def test_a_name_that_came_into_a_file_before_a_message_told_it(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin", {"a.toml": "one = 1\n"})
    repository.commit("Take some up", {"a.toml": "one = 1\nkit = 2\n"})
    repository.commit("Take less", {"a.toml": "one = 1\n"})
    repository.commit("Add kit again", {"a.toml": "one = 1\nkit = 3\n"})
    repository.commit("Drop kit", {"a.toml": "one = 1\n"})
    history = GitHistory(repository.root, positions_that_differ)
    found = await history.name_changes("kit", "a.toml")
    subjects = [each[0] for each in _said(found.changes)]
    assert subjects == ["Drop kit", "Add kit again", "Take some up"] and not found.notes
    await history.aclose()
    repository.close()
