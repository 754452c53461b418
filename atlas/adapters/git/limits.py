"""Limits of what is read from a repository, which is untrusted: sizes, counts, and one deadline per question."""

from __future__ import annotations

import time

from atlas.core.errors import HistoryError

MAX_OBJECT_BYTES = 32 << 20
"""Largest object that is unpacked; larger ones exist (videos, dumps), but nothing of them is shown."""
MAX_META_BYTES = 4 << 20
"""Largest commit or tag."""
MAX_CHAIN = 4_096
"""Deltas on top of one object; git writes at most 4,095."""
MAX_CHAIN_BYTES = 96 << 20
MAX_PACKS = 2_000
MAX_ENTRIES = 1_000_000
"""Files of one tree or index."""
MAX_DEPTH = 128
"""Folders inside each other."""
MAX_REFS_BYTES = 32 << 20
MAX_INDEX_BYTES = 256 << 20
MAX_TEXT_BYTES = 2 << 20
"""Largest file whose lines are compared."""
MAX_TEXTS_BYTES = 64 << 20
"""Texts of all files of one difference."""
MAX_CHANGES = 1_000
"""Files of one difference whose lines are compared."""


class Deadline:
    """A moment after which work ends: hard (an error) or soft (a shorter answer with a note)."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self._at

    def check(self) -> None:
        """Raise HistoryError when the time is over."""
        if self.passed:
            raise HistoryError("reading the git history took too long", "ask about fewer commits, or a nearer revision")
