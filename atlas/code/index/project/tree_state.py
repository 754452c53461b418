"""The files of one project as last scanned: which are in scope, which are excluded, and which sub-projects there are.

Scans come in; this module does not read the disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

from atlas.code.index.project.reconcile import Region, digest_of_subprojects, merge_subprojects, replaced
from atlas.core.model import Skipped
from atlas.parsing.scanning import Scan, ScannedFile, SubProject


class TreeState:
    """Changed by `Workspace` and the tiers through its methods; other modules read its views."""

    def __init__(self) -> None:
        self._files: dict[str, ScannedFile] = {}
        self._folders: set[str] = set()
        self._skipped: dict[str, Skipped] = {}
        self._refused: dict[str, Skipped] = {}
        self._subprojects: Sequence[SubProject] = ()
        self._subprojects_digest = digest_of_subprojects(())
        self._replaced: set[str] = set()
        self._exclusion_changes = 0

    @property
    def files(self) -> Mapping[str, ScannedFile]:
        """The files in scope by path."""
        return self._files

    @property
    def folders(self) -> Set[str]:
        """The folders that were walked; the root is ""."""
        return self._folders

    @property
    def skipped(self) -> Mapping[str, Skipped]:
        """What the scan excluded, by path; folders end in "/"."""
        return self._skipped

    def unsupported(self, forms: Mapping[str, str]) -> dict[str, int]:
        """Return how many files of programming languages without a parser have each ending, the most frequent first.

        `forms`: form of each language (`LanguageTerms.forms`).
        """
        paths = [path for path, skip in self._skipped.items() if skip.reason == "language"]
        paths += [path for path, file in self._files.items() if forms.get(file.language) == "source"]
        names = (path.rpartition("/")[2] for path in paths)
        return dict(Counter(f".{name.rpartition('.')[2]}" if "." in name else name for name in names).most_common())

    @property
    def refused(self) -> Mapping[str, Skipped]:
        """Files in scope that cannot be read or must not be indexed because of their content."""
        return self._refused

    @property
    def replaced(self) -> Set[str]:
        """Paths that another file has taken since tier 2 was last told of them."""
        return self._replaced

    @property
    def subprojects_digest(self) -> str:
        """The digest of all sub-projects."""
        return self._subprojects_digest

    @property
    def exclusion_changes(self) -> int:
        """How often the excluded files changed other than by a scan of the whole tree."""
        return self._exclusion_changes

    @property
    def subproject_rows(self) -> list[tuple[str, str, str]]:
        """(folder, kind, name) of each sub-project, as the linker takes them."""
        return [(sub.folder, sub.kind, sub.name) for sub in self._subprojects]

    def excluded(self) -> list[Skipped]:
        """Return every file and folder that is not indexed with its reason, sorted by path."""
        return sorted({**self._skipped, **self._refused}.values(), key=lambda skip: skip.path)

    def replace_all(self, scan: Scan) -> None:
        """Take over a scan of the whole tree."""
        self._replaced |= replaced(scan.files, self._files)
        self._folders = set(scan.folders)
        self._files = {file.path: file for file in scan.files}
        self._skipped = {skip.path: skip for skip in scan.skipped}
        self._set_subprojects(scan.subprojects)
        self._refused = {
            path: skip
            for path, skip in self._refused.items()
            if path in self._files and self._files[path].mtime_ns == skip.mtime_ns
        }

    def replace_region(self, region: Region, scan: Scan) -> None:
        """Take over a scan of one region; the rest of the tree stays."""
        found = {file.path: file for file in scan.files}
        self._replaced |= replaced(scan.files, self._files)
        for path in region.within(self._files.keys()):
            if path not in found:
                del self._files[path]
        self._files.update(found)
        self._replace_skipped(region, scan)
        self._set_subprojects(merge_subprojects(self._subprojects, region, scan))
        self._folders.difference_update(region.within(self._folders))
        self._folders.update(scan.folders)

    def mark_replaced(self, paths: Iterable[str]) -> None:
        """Note that other files have taken these paths."""
        self._replaced.update(paths)

    def clear_replaced(self, paths: Iterable[str]) -> None:
        """Forget replacements that tier 2 was told about."""
        self._replaced.difference_update(paths)

    def restore_refused(self, listed: Iterable[Skipped]) -> None:
        """Take over the files that an earlier process refused, unless this one has refused some."""
        if not self._refused:
            self._refused = {skip.path: skip for skip in listed if skip.mtime_ns}

    def refuse(self, path: str, skip: Skipped | None) -> None:
        """Note that a file must not be indexed because of its content or cannot be read; None ends that."""
        if skip is not None:
            self._exclusion_changes += self._refused.get(path) != skip
            self._refused[path] = skip
        elif self._refused.pop(path, None) is not None:
            self._exclusion_changes += 1

    def _replace_skipped(self, region: Region, scan: Scan) -> None:
        if region.folders:
            before = {path for path in self._skipped if region.holds(path.rstrip("/"))}
        else:
            before = {path for name in region.named for path in (name, f"{name}/") if path in self._skipped}
        now = {skip.path: skip for skip in scan.skipped}
        if before - now.keys() or any(self._skipped.get(path) != skip for path, skip in now.items()):
            self._exclusion_changes += 1
        for path in before:
            del self._skipped[path]
        self._skipped.update(now)

    def _set_subprojects(self, found: Sequence[SubProject]) -> None:
        if found is not self._subprojects:
            self._subprojects, self._subprojects_digest = found, digest_of_subprojects(found)
