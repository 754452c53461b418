"""Revisions as people write them (`main`, `v1.2`, `3f2a91c`, `HEAD~2`, `@{upstream}`) -> commits."""

from __future__ import annotations

import difflib
import re

from atlas.adapters.git.location import Location
from atlas.adapters.git.objects import Objects
from atlas.adapters.git.refs import Refs
from atlas.core.errors import HistoryError, NotFound
from atlas.core.lazy_regex import lazy_regex

MAX_REVISION = 200
MAX_STEPS = 100_000
"""Parents that `~n` follows."""
_STEP = lazy_regex(r"~(\d*)|\^(\d+|\{\w*\})?|@\{(u|upstream)\}", re.IGNORECASE)
_BASE = lazy_regex(r"(?:@(?=$|[~^@])|(?:(?!@\{)[^~^:\s\\*?\[])*)")
_PREFIX = lazy_regex(r"[0-9a-f]{4,40}")
_CANDIDATES = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
"""Where git looks for a name, in this order."""
_SHORT = lazy_regex(r"^refs/(?:heads|tags|remotes)/")
_HINT = "a revision is a branch, a tag, a commit id, or HEAD~2"


class Revisions:
    """Revisions of one repository, for one question."""

    def __init__(self, location: Location, objects: Objects, refs: Refs) -> None:
        self._location, self._objects, self._refs = location, objects, refs

    def commit(self, revision: str) -> bytes:
        """Return the name of a commit. Raises NotFound, with similar names, and HistoryError."""
        text = revision.strip()
        base = _BASE.match(text)
        if not text or len(text) > MAX_REVISION or base is None or text.startswith("-"):
            raise NotFound(f"`{text[:80]}` is not a revision", _HINT)
        name = base.group(0)
        at, position = self._base(name, revision), base.end()
        while position < len(text):
            step = _STEP.match(text, position)
            if step is None:
                raise NotFound(f"`{text[:80]}` is not a revision", _HINT)
            position = step.end()
            at = self._upstream(name) if step[3] else self._parent(at, step, revision)
        return self.peeled(at)

    def peeled(self, oid: bytes) -> bytes:
        """Return the commit that a tag, or a tag of a tag, stands for."""
        for _ in range(10):
            target = self._objects.tag_target(oid)
            if target is None:
                return self._objects.commit(oid).oid
            oid = target
        raise HistoryError("the git history is damaged: tags refer to each other")

    def upstream(self) -> bytes | None:
        """Return the upstream of the branch that is checked out; None without one."""
        branch = self._refs.head().branch.removeprefix("refs/heads/")
        name = self._location.config.upstreams.get(branch, "")
        return self._refs.find(name) if name else None

    def default_branch(self) -> tuple[str, bytes] | None:
        """Return (name, commit) of the default branch: that of a remote, else main or master; None without one."""
        candidates = [self._refs.symbolic("refs/remotes/origin/HEAD")]
        candidates += [f"refs/{kind}/{name}" for kind in ("remotes/origin", "heads") for name in ("main", "master")]
        for name in filter(None, candidates):
            if (found := self._refs.find(name)) is not None:
                return _SHORT.sub("", name), found
        return None

    def tags(self) -> dict[bytes, str]:
        """Return the names of tags by the commit that they stand for; of several tags, the last name."""
        found: dict[bytes, str] = {}
        for name in self._refs.names():
            oid = self._refs.find(name) if name.startswith("refs/tags/") else None
            if oid is None:
                continue
            try:
                found[self.peeled(oid)] = name.removeprefix("refs/tags/")
            except (HistoryError, NotFound):
                # a tag of a file or folder, or of what a shallow clone does not hold
                continue
        return found

    def _base(self, name: str, revision: str) -> bytes:
        if name in ("", "@", "HEAD"):
            head = self._refs.head()
            if head.oid is None:
                raise NotFound("the repository has no commit yet", "commit something first")
            return head.oid
        for candidate in _CANDIDATES:
            if (found := self._refs.find(candidate.format(name))) is not None:
                return found
        if _PREFIX.fullmatch(name.lower()):
            oids = self._objects.with_prefix(name.lower())
            commits = [oid for oid in oids if self._objects.kind(oid) in ("commit", "tag")] or oids
            if len(commits) > 1:
                near = [oid.hex()[:12] for oid in commits[:5]]
                raise NotFound(f"`{name}` is the beginning of {len(commits)} objects", "write more digits", near)
            if commits:
                return commits[0]
        raise self._unknown(revision)

    def _unknown(self, revision: str) -> NotFound:
        short = [_SHORT.sub("", name) for name in self._refs.names()]
        near = difflib.get_close_matches(revision, short, 5, 0.5)
        known = near or [name for name in short if name in ("main", "master")]
        return NotFound(f"unknown revision `{revision[:80]}`", _HINT, known)

    def _parent(self, at: bytes, step: re.Match[str], revision: str) -> bytes:
        at = self.peeled(at)
        if step[0].startswith("^") and (step[2] or "").startswith("{"):
            return at
        if step[0].startswith("^"):
            number, steps = int(step[2] or 1), 1
        else:
            number, steps = 1, int(step[1] or 1)
        if number == 0:
            return at
        for _ in range(min(steps, MAX_STEPS)):
            self._objects.deadline.check()
            parents = self._objects.commit(at).parents
            if len(parents) < number:
                raise NotFound(
                    f"`{revision[:80]}` goes back further than the history", "the first commit has no parent"
                )
            at = parents[number - 1]
        return at

    def _upstream(self, name: str) -> bytes:
        branch = self._refs.head().branch.removeprefix("refs/heads/") if name in ("", "@", "HEAD") else name
        upstream = self._location.config.upstreams.get(branch, "")
        found = self._refs.find(upstream) if upstream else None
        if found is None:
            raise NotFound(f"branch `{branch}` has no upstream", "set one with `git branch --set-upstream-to`")
        return found
