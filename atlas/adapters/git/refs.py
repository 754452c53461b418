"""References of a repository: HEAD, branches, tags, loose or packed. Reads only below the git folders."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from dulwich.errors import PackedRefsException
from dulwich.refs import check_ref_format, read_packed_refs, read_packed_refs_with_peeled

from atlas.adapters.git.limits import MAX_DEPTH, MAX_REFS_BYTES
from atlas.adapters.git.location import Location
from atlas.core.errors import HistoryError
from atlas.core.lazy_regex import lazy_regex
from atlas.runtime.process.files_below import list_below, read_below

MAX_SYMBOLIC = 5
"""References that name each other; git follows five."""
MAX_NAMES = 5_000
"""Names that are listed to suggest similar ones."""
_REFERENCE_BYTES = 4_096
_OID = lazy_regex(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Head:
    """What is checked out."""

    branch: str
    """`refs/heads/main`, "" for a detached HEAD."""
    oid: bytes | None
    """None before the first commit."""


class Refs:
    """The references at the time of the first question about them; cheap to make."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._packed: dict[str, bytes] | None = None

    def head(self) -> Head:
        """Return HEAD. Raises HistoryError if it cannot be read."""
        text = self._read("HEAD")
        if text is None:
            raise HistoryError("no git history can be read: HEAD is missing")
        if text.startswith("ref:"):
            branch = text.removeprefix("ref:").strip()
            return Head(branch, self.find(branch))
        return Head("", self.find("HEAD"))

    def find(self, name: str) -> bytes | None:
        """Return what a full name (`refs/heads/main`, `HEAD`) refers to; None if there is no such reference."""
        for _ in range(MAX_SYMBOLIC + 1):
            if not _is_valid(name):
                return None
            text = self._read(name)
            if text is None:
                return self.packed().get(name)
            if not text.startswith("ref:"):
                return bytes.fromhex(text) if _OID.fullmatch(text) else None
            name = text.removeprefix("ref:").strip()
        raise HistoryError("no git history can be read: references refer to each other in a circle")

    def symbolic(self, name: str) -> str:
        """Return the name that a symbolic reference holds, "" for another reference."""
        text = (self._read(name) or "") if _is_valid(name) else ""
        return text.removeprefix("ref:").strip() if text.startswith("ref:") else ""

    def names(self) -> list[str]:
        """Return the full names of branches and tags, sorted, at most `MAX_NAMES` loose ones."""
        found = set(self.packed())
        for name in self._walk("refs", 0):
            found.add(name)
            if len(found) > MAX_NAMES:
                break
        return sorted(found)

    def packed(self) -> dict[str, bytes]:
        """Return the references of `packed-refs` by name."""
        if self._packed is None:
            try:
                content = read_below(self._location.common, "packed-refs", MAX_REFS_BYTES)
            except FileNotFoundError:
                content = b""
            except OSError as error:
                raise HistoryError(f"no git history can be read: packed-refs ({error.strerror})") from error
            self._packed = _parsed(content)
        return self._packed

    def _read(self, name: str) -> str | None:
        of_work_tree = not name.startswith("refs/")
        folder = self._location.git if of_work_tree else self._location.common
        try:
            content = read_below(folder, name, _REFERENCE_BYTES)
        except OSError:
            return None
        return content.decode("utf-8", "replace").partition("\n")[0].strip()

    def _walk(self, folder: str, depth: int) -> Iterator[str]:
        with contextlib.suppress(OSError):
            for name in list_below(self._location.common, folder):
                path = f"{folder}/{name}"
                if self._read(path) is not None:
                    yield path
                elif depth < MAX_DEPTH:
                    yield from self._walk(path, depth + 1)


def _parsed(content: bytes) -> dict[str, bytes]:
    head, _, rest = content.partition(b"\n")
    found: dict[str, bytes] = {}
    try:
        if head.startswith(b"# pack-refs"):
            pairs = [(sha, name) for sha, name, _ in read_packed_refs_with_peeled(BytesIO(rest))]
        else:
            pairs = list(read_packed_refs(BytesIO(content)))
        for sha, name in pairs:
            found[name.decode("utf-8", "replace")] = bytes.fromhex(sha.decode("ascii"))
    except (PackedRefsException, ValueError, AssertionError) as error:
        raise HistoryError(f"no git history can be read: packed-refs is malformed ({str(error)[:100]})") from error
    return found


def _is_valid(name: str) -> bool:
    if name in ("HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD"):
        return True
    return len(name) < 1000 and name.startswith("refs/") and bool(check_ref_format(name.encode("utf-8", "replace")))  # type: ignore[arg-type]
