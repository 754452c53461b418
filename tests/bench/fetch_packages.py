"""Download the packages of question files and unpack their sources: `python -m tests.bench.fetch_packages FOLDER`.

Every archive comes through the client of its registry, which has to be on PATH, or from `--archives DIR`; it is used
only if its SHA-256 is the one in the question file. Nothing in an archive is executed, links are not created, and a
name that leads out of the folder stops the extraction. Debian sources need a `deb-src` line in apt's configuration.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from atlas_bench.answers.questions import QuestionFile, load

from atlas.core.errors import AtlasError, ConfigError

QUESTIONS = Path(__file__).parent / "answers"
MAX_FILES = 20_000
MAX_BYTES = 200 << 20
PATIENCE = 600.0


def fetch(file: QuestionFile, folder: Path, archives: Path | None = None) -> Path:
    """Return the folder with the sources of a package, below `folder`; unpack them if it does not exist.

    Raises ConfigError if the archive cannot be had, has another digest, or names places outside of the folder.
    """
    target = folder / file.name
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="atlas-fetch-", dir=folder) as scratch:
        archive = _archive(file, Path(scratch) / "archives", archives)
        unpacked = Path(scratch) / "tree"
        unpack(archive, unpacked, file.include)
        unpacked.rename(target)
    return target


def unpack(archive: Path, target: Path, include: tuple[str, ...] = ()) -> None:
    """Write the regular files of an archive below `target`, without the folder that holds them all.

    Only names that start with one of `include` are written, if there are any. Raises ConfigError for names that lead
    out of `target`, and for archives above MAX_FILES or MAX_BYTES.
    """
    entries = _zip_entries if zipfile.is_zipfile(archive) else _tar_entries
    names = [_inside(name) for name, _, _ in entries(archive)]
    top = _common_folder(names)
    files = size = 0
    for name, length, open_entry in entries(archive):
        path = _inside(name).relative_to(top)
        if include and not path.as_posix().startswith(include):
            continue
        files, size = files + 1, size + length
        if files > MAX_FILES or size > MAX_BYTES:
            raise ConfigError(f"{archive.name} holds more than {MAX_FILES} files or {MAX_BYTES >> 20} MB")
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with open_entry() as source, place.open("xb") as written:
            shutil.copyfileobj(source, written)
    if not files:
        raise ConfigError(f"{archive.name} holds no files of the package")


Entry = tuple[str, int, Callable[[], IO[bytes]]]


def _zip_entries(archive: Path) -> Iterator[Entry]:
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            if not info.is_dir():
                yield info.filename, info.file_size, lambda info=info: opened.open(info)


def _tar_entries(archive: Path) -> Iterator[Entry]:
    with tarfile.open(archive) as opened:
        for member in opened:
            if member.isreg():
                yield (
                    member.name,
                    member.size,
                    lambda member=member: opened.extractfile(member) or _missing(member.name),
                )


def _missing(name: str) -> IO[bytes]:
    raise ConfigError(f"{name} cannot be read")


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name or ":" in name.partition("/")[0]:
        raise ConfigError(f"the archive names a place outside of its folder: {name!r}")
    return path


def _common_folder(names: list[PurePosixPath]) -> PurePosixPath:
    """Return the folder of a source archive that holds everything: `NAME-1.0/`, `package/`, `module@version/`."""
    common = PurePosixPath(os.path.commonpath(names)) if names else PurePosixPath()
    # `org/` of Java sources is part of the paths, the folder of an archive names a version or is `package`
    versioned = any(part == "package" or any(sign.isdigit() for sign in part) for part in common.parts)
    return common if versioned and common not in names else PurePosixPath()


def _archive(file: QuestionFile, scratch: Path, archives: Path | None) -> Path:
    given = archives / file.archive if archives is not None else None
    if given is not None and given.is_file():
        return _checked(file, given)
    scratch.mkdir()
    download = CLIENTS.get(file.registry)
    if download is None:
        raise ConfigError(f"{file.path}: unknown registry '{file.registry}'", f"Known: {', '.join(CLIENTS)}.")
    for command, environment in download(file, scratch):
        _run(command, scratch, environment)
    found = next((path for path in sorted(scratch.rglob("*")) if path.name == file.archive), None)
    if found is None and file.registry == "go":
        found = next(iter(sorted(scratch.rglob(f"{file.version}.zip"))), None) or next(
            iter(sorted(scratch.rglob(f"v{file.version}.zip"))), None
        )
    if found is None:
        raise ConfigError(f"{command_of(file)} has not brought {file.archive}", "Give it with --archives DIR.")
    return _checked(file, found)


def command_of(file: QuestionFile) -> str:
    """Return the program that downloads from a package's registry."""
    return {"pypi": "pip", "crates": "cargo", "maven": "mvn", "debian": "apt-get"}.get(file.registry, file.registry)


def _checked(file: QuestionFile, archive: Path) -> Path:
    with archive.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    if digest != file.sha256:
        raise ConfigError(f"{archive.name} has the digest {digest}, not {file.sha256} as {file.path} says")
    return archive


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    if shutil.which(command[0]) is None:
        raise ConfigError(f"{command[0]} is not on PATH", "Install it, or give the archive with --archives DIR.")
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=PATIENCE
    )
    if done.returncode:
        raise ConfigError(f"{' '.join(command)}: {done.stderr.strip()[-500:]}", "Or give the archive with --archives.")


Download = Iterator[tuple[list[str], dict[str, str]]]


def _npm(file: QuestionFile, scratch: Path) -> Download:
    yield ["npm", "pack", "--silent", "--ignore-scripts", f"{file.package}@{file.version}"], {}


def _pip(file: QuestionFile, scratch: Path) -> Download:
    """Wheels only: pip runs the build of a source archive to learn its name. Raises ConfigError for other archives."""
    if not file.archive.endswith(".whl"):
        by_hand = f"pip download --no-deps --no-binary :all: {file.package}=={file.version}"
        hint = f"`{by_hand}` gets it and runs its build; then give its folder with --archives."
        raise ConfigError(f"{file.archive} is a source archive, which pip does not download without running it", hint)
    _, _, interpreter, abi, platforms = file.archive.removesuffix(".whl").rsplit("-", 4)
    tag = interpreter.rpartition(".")[2]
    # "3" would be Python 3.0, which no `Requires-Python` of today admits
    version = tag[2:] if len(tag) > 3 else f"{sys.version_info.major}.{sys.version_info.minor}"
    tags = ["--implementation", tag[:2], "--python-version", version, "--abi", abi]
    wanted = [word for platform in platforms.split(".") for word in ("--platform", platform)]
    wheel = [f"{file.package}=={file.version}", "--no-deps", "--only-binary", ":all:", *tags, *wanted]
    yield [sys.executable, "-m", "pip", "download", "--quiet", *wheel], {}


def _cargo(file: QuestionFile, scratch: Path) -> Download:
    (scratch / "src").mkdir()
    (scratch / "src/lib.rs").touch()
    manifest = f'[package]\nname = "x"\nversion = "0.0.0"\n[dependencies]\n{file.package} = "={file.version}"\n'
    (scratch / "Cargo.toml").write_text(manifest)
    yield ["cargo", "fetch", "--quiet"], {"CARGO_HOME": str(scratch / "home")}


def _go(file: QuestionFile, scratch: Path) -> Download:
    module = f"{file.package}@v{file.version}"
    yield ["go", "mod", "download", module], {"GOMODCACHE": str(scratch / "cache"), "GOFLAGS": "-modcacherw"}


def _maven(file: QuestionFile, scratch: Path) -> Download:
    artifact = f"-Dartifact={file.package}:{file.version}:jar:sources"
    yield ["mvn", "--quiet", "dependency:copy", artifact, f"-DoutputDirectory={scratch}"], {}


def _apt(file: QuestionFile, scratch: Path) -> Download:
    yield ["apt-get", "source", "--download-only", file.package], {}


CLIENTS: dict[str, Callable[[QuestionFile, Path], Download]] = {
    "npm": _npm,
    "pypi": _pip,
    "crates": _cargo,
    "go": _go,
    "maven": _maven,
    "debian": _apt,
}


def main() -> None:
    """Fetch what is missing and say where it is."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("questions", type=Path, nargs="*", default=[QUESTIONS])
    parser.add_argument("--archives", type=Path, help="folder with archives that are already there")
    given = parser.parse_args()
    try:
        for file in load(given.questions, may_be_empty=True):
            print(fetch(file, given.folder.resolve(), given.archives))
    except AtlasError as error:
        sys.exit(f"{error.message}. {error.hint}".strip())


if __name__ == "__main__":
    main()
