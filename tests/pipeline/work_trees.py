"""A repository with work trees and clones of git, whose files have times that are trusted."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path

from tests.pipeline.moves import git
from tests.pipeline.trees import write_tree

TIMES = itertools.count(1_700_000_000_000_000_000, 1_000_000_000)
"""Files get an old time, because the time of a new file is not trusted."""


class Trees:
    """A repository, its work trees and clones below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.main = folder, folder / "main"

    def begin(self, files: dict[str, str]) -> None:
        write_tree(self.main, files)
        git(self.main, "init", "--quiet", "--initial-branch=main")
        self.commit("first", files)

    def commit(self, branch: str, files: dict[str, str]) -> None:
        """Commit exactly these files on a new branch."""
        git(self.main, "checkout", "--quiet", "-B", branch)
        for entry in self.main.iterdir():
            if entry.name != ".git":
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        for path, text in files.items():
            (self.main / path).parent.mkdir(parents=True, exist_ok=True)
            (self.main / path).write_text(text, encoding="utf-8")
        git(self.main, "add", "--all", "--force")
        git(self.main, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", branch)
        age(self.main)

    def checkout(self, branch: str) -> None:
        git(self.main, "checkout", "--quiet", branch)
        age(self.main)

    def work_tree(self, name: str, branch: str = "HEAD") -> Path:
        root = self.folder / name
        git(self.main, "worktree", "add", "--quiet", "--detach", str(root), branch)
        age(root)
        return root

    def clone(self, name: str, *options: str, source: Path | None = None) -> Path:
        root = self.folder / name
        git(self.folder, "clone", "--quiet", *options, f"file://{source or self.main}", str(root))
        age(root)
        return root


def age(root: Path) -> None:
    """Give the files an old time that no others have."""
    at = next(TIMES)
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            os.utime(Path(folder) / name, ns=(at, at), follow_symlinks=False)
