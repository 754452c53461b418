"""Download source packages with patches: `python -m tests.bench.fetch_patches FOLDER tests/bench/search/patches/HALF.toml`.

FOLDER gets `trees/NAME`, the sources without any patch, and `patches/NAME`, the patches. Archives come through apt-get,
which needs `deb-src` lines, or from `--archives DIR`; the sources of some packages are the wheel of the same version.
Each archive is used only if its SHA-256 is the pinned one. Nothing in an archive is executed.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from atlas_bench.answers.questions import QuestionFile

from atlas.core.errors import AtlasError, ConfigError
from tests.bench import fetch_packages
from tests.bench.fetch_packages import unpack

PATIENCE = 600.0
PATCHES = "debian/patches/"


@dataclass(frozen=True, slots=True)
class SourcePackage:
    """A source package: archives and digests of its sources and of its patches."""

    name: str
    version: str
    language: str
    archive: str
    sha256: str
    patches: str
    patches_sha256: str
    wheel: str = ""
    """`name==version` of the package whose wheel `archive` is; "" for a source archive."""


def read_list(path: Path) -> list[SourcePackage]:
    """Return the packages of a list. Raises ConfigError for an entry that lacks a field or has another."""
    try:
        entries = tomllib.loads(path.read_text("utf8"))["package"]
        return [SourcePackage(**entry) for entry in entries]
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{path}: {error}") from error


def fetch(package: SourcePackage, folder: Path, archives: Path | None = None) -> Path:
    """Return the folder with the sources of a package; unpack sources and patches if they do not exist.

    Raises ConfigError if an archive cannot be had, has another digest, or names places outside of its folder.
    """
    tree, patches = folder / "trees" / package.name, folder / "patches" / package.name
    if tree.exists() and patches.exists():
        return tree
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="atlas-fetch-", dir=folder) as made:
        scratch = Path(made)
        if package.wheel:
            name, _, version = package.wheel.partition("==")
            wheel = (package.archive, package.sha256)
            asked = QuestionFile(Path(), package.name, version, package.language, (), "pypi", name, *wheel)
            fetch_packages.fetch(asked, tree.parent, archives)
        wanted = [package.patches, *([] if package.wheel else [package.archive])]
        held = archives
        if held is None or not all((held / name).is_file() for name in wanted):
            held = scratch / "archives"
            held.mkdir()
            _download(package, held)
        for name, digest, target, include in (
            (package.archive, package.sha256, tree, ()),
            (package.patches, package.patches_sha256, patches, (PATCHES,)),
        ):
            if not target.exists():
                _check(held / name, digest)
                unpack(held / name, scratch / target.parent.name, include)
                target.parent.mkdir(parents=True, exist_ok=True)
                _top(scratch / target.parent.name, include).rename(target)
    return tree


def _top(unpacked: Path, include: tuple[str, ...]) -> Path:
    """Return the only folder of the sources, which their patches leave out, or the place of the patches themselves."""
    if include:
        return unpacked / PATCHES if (unpacked / PATCHES).is_dir() else unpacked
    inside = [*unpacked.iterdir()]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else unpacked


def _download(package: SourcePackage, folder: Path) -> None:
    only = ["--diff-only"] if package.wheel else []
    command = ["apt-get", "source", "--download-only", *only, f"{package.name}={package.version}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        raise ConfigError(f"{' '.join(command)}: {done.stderr.strip()[-500:]}", "Or give the archives with --archives.")


def _check(archive: Path, sha256: str) -> None:
    if not archive.is_file():
        raise ConfigError(f"apt-get has not brought {archive.name}", "Give it with --archives DIR.")
    with archive.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    if digest != sha256:
        raise ConfigError(f"{archive.name} has the digest {digest}, not {sha256}")


def main() -> None:
    """Fetch what is missing and say where it is; a package that cannot be had is named, and the others are fetched."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("lists", type=Path, nargs="+")
    parser.add_argument("--archives", type=Path, help="folder with archives that are already there")
    given = parser.parse_args()
    failed = False
    for path in given.lists:
        for package in read_list(path):
            try:
                print(fetch(package, given.folder.resolve(), given.archives))
            except AtlasError as error:
                failed = True
                print(f"{package.name}: {error.message}. {error.hint}".strip(), file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
