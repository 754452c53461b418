"""An installed Python package as a tree: the files that its RECORD lists, below its environment's site-packages."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.core.errors import NotFound
from atlas.packs.documentation.sources.folder import read_inside
from atlas.packs.documentation.sources.package_facts import of_metadata
from atlas.packs.documentation.sources.values import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class InstalledPackage:
    """Where a package is installed."""

    name: str
    version: str
    licence: str
    folder: Path
    """The site-packages that it is in."""
    files: tuple[str, ...]
    """Relative to the folder, sorted; those that lead out of it are left out."""
    metadata_folder: str
    """Of the files, the folder of its metadata."""

    def code(self) -> tuple[Path, ...]:
        """Return the top-level packages and modules with the package's own code."""
        tops = {name.partition("/")[0] for name in self.files if name.endswith((".py", ".pyi"))}
        return tuple(self.folder / top for top in sorted(tops) if not top.endswith((".dist-info", ".data")))


def find_installed(name: str, site_packages: Sequence[Path] = ()) -> InstalledPackage:
    """Return the installed package of this name. Raises NotFound."""
    folders = [str(folder) for folder in site_packages] or [folder for folder in sys.path if folder]
    for found in metadata.distributions(name=name, path=folders):
        text = found.read_text("METADATA") or found.read_text("PKG-INFO") or ""
        facts = of_metadata(text)
        folder = Path(str(found.locate_file(""))).resolve()
        files = tuple(sorted({path for file in found.files or () if (path := _inside(str(file)))}))
        marker = next((path.partition("/")[0] for path in files if path.partition("/")[0].endswith(".dist-info")), "")
        return InstalledPackage(facts.name or name, facts.version, facts.licence, folder, files, marker)
    raise NotFound(f"{name} is not installed here.", f"Install it, or use pypi:{name}==VERSION.")


def installed_tree(name: str, site_packages: Sequence[Path]) -> InstalledTree:
    """Return the files of an installed package. Raises NotFound."""
    return InstalledTree(find_installed(name, site_packages))


class InstalledTree:
    """Files of one installed package; its description counts as its readme."""

    def __init__(self, package: InstalledPackage) -> None:
        self.version, self.licence, self.package = package.version, package.licence, True
        self.problems: list[tuple[str, str]] = []
        self._package = package
        self._description = f"README-{package.name}.md"

    def entries(self) -> Sequence[SourceFile]:
        """Return all files, sorted by path."""
        found = [SourceFile(self._description, 0)] if self._package.metadata_folder else []
        for path in self._package.files:
            try:
                found.append(SourceFile(path, (self._package.folder / path).lstat().st_size))
            except OSError:
                continue
        return sorted(found, key=lambda one: one.path)

    def read(self, wanted: Sequence[str], max_bytes: int) -> Iterator[tuple[str, bytes, bool]]:
        """Yield the wanted files in the given order."""
        for path in wanted:
            is_description = path == self._description
            written = f"{self._package.metadata_folder}/METADATA" if is_description else path
            try:
                data = read_inside(self._package.folder, written, max_bytes + 1)
            except OSError as error:
                self.problems.append((path, error.strerror or str(error)))
                continue
            if is_description:
                data = data.partition(b"\n\n")[2]
            yield path, data[:max_bytes], len(data) > max_bytes


def _inside(path: str) -> str:
    """Return a path of a RECORD with "/", "" if it leads out of site-packages."""
    path = path.replace(os.sep, "/")
    return "" if path.startswith("/") or ".." in path.split("/") else path
