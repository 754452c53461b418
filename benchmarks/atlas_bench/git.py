"""A private clone of a git repository whose commits are checked out in order.

The repository is only read: no hook, filter, alias or setting of the repository or of the user takes effect, and
nothing is fetched.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from atlas.core.errors import ConfigError, Unavailable

CONFIG = """[safe]
\tdirectory = *
[core]
\thooksPath = /dev/null
\tfsmonitor = false
\tautocrlf = false
[protocol]
\tallow = never
[protocol "file"]
\tallow = always
[advice]
\tdetachedHead = false
[gc]
\tauto = 0
"""


class Checkout:
    """A clone in its own folder, created by `clone`."""

    def __init__(self, tree: Path, environment: dict[str, str]) -> None:
        self.tree = tree
        self._environment = environment

    @classmethod
    def clone(cls, repository: Path, scratch: Path) -> Checkout:
        """Clone into `scratch`, under the repository's own name, without a working tree yet.

        Raises ConfigError for a folder that is not a repository and Unavailable if git is not installed.
        """
        config = scratch / "gitconfig"
        config.write_text(CONFIG, "utf8")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment = kept | {
            "GIT_CONFIG_GLOBAL": str(config),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
        }
        if not repository.is_dir():
            raise ConfigError(f"{repository} is not a folder", "Give the folder of a git repository.")
        source = repository.resolve()
        name = source.parent.name if source.name == ".git" else source.name.removesuffix(".git")
        made = cls(scratch / (name or "repository"), environment)
        made._run(scratch, "clone", "--quiet", "--no-checkout", "--no-hardlinks", "--", str(source), str(made.tree))
        return made

    def commits(self, count: int, newest: str = "HEAD") -> list[str]:
        """Return the last `count` commits up to `newest`, oldest first; parents come before their children."""
        listed = self.git("rev-list", "--topo-order", f"--max-count={count}", "--end-of-options", newest, "--")
        return listed.split()[::-1]

    def subject(self, commit: str) -> str:
        """Return the first line of a commit's message."""
        return self.git("log", "-1", "--format=%s", commit, "--").strip()

    def check_out(self, commit: str) -> None:
        """Check out the commit."""
        self.git("checkout", "--quiet", "--force", "--detach", commit, "--")

    def changed(self, old: str, new: str) -> list[str]:
        """Return the paths that differ between two commits; a renamed file counts under both names."""
        listed = self.git("diff", "--name-only", "--no-renames", "-z", old, new, "--")
        return [path for path in listed.split("\0") if path]

    def git(self, *arguments: str) -> str:
        """Run git in the clone and return its output. Raises ConfigError with git's message if it fails."""
        return self._run(self.tree, *arguments)

    def _run(self, folder: Path, *arguments: str) -> str:
        try:
            done = subprocess.run(
                ["git", *arguments], cwd=folder, env=self._environment, capture_output=True, check=False
            )
        except FileNotFoundError as error:
            raise Unavailable("git is not installed", "Install git to replay a history.") from error
        if done.returncode:
            message = done.stderr.decode("utf8", "replace").strip()
            raise ConfigError(f"git {arguments[0]} failed: {message}", "Give the folder of a git repository.")
        return done.stdout.decode("utf8", "surrogateescape")
