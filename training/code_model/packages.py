"""The source files of a package: a wheel, an npm or other tar archive, a sources jar, a Debian package, or a folder."""

from __future__ import annotations

import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

MAX_SOURCE = 600_000
SKIPPED = re.compile(
    r"(^|/)(tests?|testing|_tests|conftest\.py|migrations|locale|benchmarks?|examples?|docs?|vendor|_vendor|_vendored"
    r"|vendored|_?third[_-]?party[^/]*|3rdparty|_?extern(al)?s?|bundled|_click|testdata|spec|node_modules|umd|esm5|_esm5"
    r"|cjs|commonjs|benches)(/|$)|(^|/)test_[^/]*\.py$|_test\.(py|go)$|\.pb\.go$|zz_generated|\.min\.|\.d\.[cm]?ts$"
    r"|/bundles?/|/dist/.*(umd|iife)"
)
ARCHIVES = (".whl", ".zip", ".jar", ".tgz", ".deb", ".dsc")


@dataclass(frozen=True, slots=True)
class Package:
    """What a file name says about a package."""

    ecosystem: str
    name: str
    version: str


def identify(path: Path) -> Package:
    """Return ecosystem, name and version by the name of a file or folder."""
    base = path.name
    if base.endswith(".whl"):
        return Package("pypi", base.split("-")[0].lower().replace("_", "-"), base.split("-")[1])
    if base.endswith((".deb", ".dsc")):
        parts = re.sub(r"\.(deb|dsc)$", "", base).split("_")
        return Package("debian", parts[0], parts[1].replace("%3a", ":"))
    match = re.match(r"(.+?)-v?(\d[\w.+-]*?)(-sources\.jar|\.tgz|\.tar\.\w+|\.zip)?$", base)
    ecosystem = "maven" if base.endswith(".jar") else "npm" if base.endswith(".tgz") else "source"
    return Package(ecosystem, *((match[1].lower(), match[2]) if match else (base.lower(), "")))


def list_packages(folder: Path) -> list[Path]:
    """Return the packages in a folder, in order."""
    return [each for each in sorted(folder.iterdir()) if each.is_dir() or each.name.endswith(ARCHIVES)]


def read_files(path: Path, wanted: re.Pattern[str], skipped: re.Pattern[str] = SKIPPED) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files whose names match; tests, examples and vendored copies are skipped."""
    for name, size, content in _members(path):
        if size <= MAX_SOURCE and wanted.search(name) and not skipped.search(name):
            yield name, content.read()


def _members(path: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    if path.is_dir():
        for file in sorted(each for each in path.rglob("*") if each.is_file()):
            with file.open("rb") as content:
                yield file.relative_to(path).as_posix(), file.stat().st_size, content
    elif path.suffix in (".whl", ".zip", ".jar"):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    with archive.open(info) as content:
                        yield info.filename, info.file_size, content
    elif path.suffix == ".dsc":
        named = re.findall(r"^ [0-9a-f]{64} \d+ (\S+\.tar\.\w+)$", path.read_text("utf-8", "ignore"), re.M)
        for name in sorted(set(named)):
            yield from _members(path.resolve().with_name(name))
    else:
        yield from _tar_members(path)


def _tar_members(path: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    if path.suffix != ".deb":
        with tarfile.open(path) as archive:
            yield from _entries(archive)
        return
    command = ["dpkg-deb", "--fsys-tarfile", path]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as process,
        tarfile.open(fileobj=process.stdout, mode="r|") as archive,
    ):
        yield from _entries(archive)


def _entries(archive: tarfile.TarFile) -> Iterator[tuple[str, int, IO[bytes]]]:
    for member in archive:
        content = archive.extractfile(member) if member.isfile() else None
        if content is not None:
            yield member.name.removeprefix("./"), member.size, content
