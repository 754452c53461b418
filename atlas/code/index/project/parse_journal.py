"""Names the files whose facts an unfinished pass has put into the facts cache: the next pass need not parse them.

Before the store has a record of a file, nothing else says with which rules its facts in the cache were made. The
journal lies next to the cache; losing it only costs time.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from atlas.runtime.process.files import open_file, read_file

SUFFIX = ".parsed"
MAX_BYTES = 1 << 27


class ParseJournal:
    """The first line names the rules; every further one is a JSON list of path and digest for each file of a batch."""

    def __init__(self, cache: Path, rules: str) -> None:
        """`rules` names all that decides what the facts of a content are."""
        self._path: Final = cache.with_name(cache.name + SUFFIX)
        self._rules: Final = json.dumps(rules)
        self._is_there = False

    def load(self, *, ignored: bool = False) -> Mapping[str, str]:
        """Return digests by path; empty, and the file is removed, if it is `ignored` or of other rules."""
        found: dict[str, str] = {}
        try:
            rules, *lines = read_file(self._path, MAX_BYTES).decode("ascii").split("\n")
        except FileNotFoundError:
            return found
        except (OSError, ValueError):
            rules, lines = "", []
        if ignored or rules != self._rules:
            self.remove()
            return found
        self._is_there = True
        for line in lines:
            # the last line of a killed pass may be torn
            with contextlib.suppress(ValueError, TypeError):
                found.update(cast("list[tuple[str, str]]", json.loads(line)))
        return found

    def add(self, files: Sequence[tuple[str, str]]) -> None:
        """Name files, (path, digest) each, whose facts the cache holds."""
        text = "\n" + json.dumps(files)
        with contextlib.suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            with os.fdopen(open_file(self._path, flags), "wb") as file:
                file.write((text if self._is_there else self._rules + text).encode("ascii"))
            self._is_there = True

    def remove(self) -> None:
        """Remove the file: the store has the records now."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
        self._is_there = False
