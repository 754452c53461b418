"""Archives of PyPI, npm and crates.io, downloaded by their own clients, only when the user names one.

pip, npm and cargo know the user's mirrors, proxies and credentials. None of them runs code of the package: pip's finder
chooses and its session downloads the archive, but nothing is prepared or built (`pip download` would run the build
backend of an sdist); npm packs with `--ignore-scripts`; cargo shows information of the crate, which loads it. How they
are kept apart from everybody else's files is in `client_process`.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.core.errors import ConfigError, NotFound, Unavailable
from atlas.packs.documentation.sources.client_process import client_environment, find_client, run_client
from atlas.packs.documentation.sources.local import Archive
from atlas.packs.documentation.sources.values import SourceKind
from atlas.runtime.process.data_folder import cache_root
from atlas.runtime.process.files import make_private_folder
from atlas.runtime.process.ownership import foreign_part

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from atlas.packs.documentation.sources.values import SourceSpec

PIP_SCRIPT = Path(__file__).with_name("pip_download.py")


STALE = 86_400
"""Seconds after which the folder of a download that was killed is removed."""


@contextmanager
def download_folder() -> Generator[Path]:
    """Give an empty folder of mode 0700 below the user's cache, and remove it afterwards. Raises ConfigError."""
    parent = cache_root() / "downloads"
    try:
        make_private_folder(parent)
        foreign = foreign_part(parent)
    except OSError as error:
        raise ConfigError(f"{parent} cannot be used: {error}.", "Set XDG_CACHE_HOME to a folder of yours.") from error
    if foreign is not None:
        raise ConfigError(
            f"other users can change {foreign}.", "Set XDG_CACHE_HOME to a folder that only you can write."
        )
    parent.chmod(0o700)
    for left in parent.iterdir():
        if left.lstat().st_mtime < time.time() - STALE:
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="download-", dir=parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def describe(source: SourceSpec) -> str:
    """Return what would be downloaded."""
    return f"{source.name} {source.version or '(newest)'}"


def at_hand(source: SourceSpec) -> Archive | None:
    """Return the archive of a package that its client has kept, without a download; only cargo keeps them as files."""
    if source.kind is not SourceKind.CRATE or not source.version:
        return None
    return _kept_crate(source.name, source.version, client_environment("cargo", cache_root()))


def download(source: SourceSpec, folder: Path) -> Archive:
    """Download the archive of a package into an empty folder of this user.

    Raises ConfigError without the client, NotFound for an unknown package or version, Unavailable without network.
    """
    if source.kind is SourceKind.PYPI:
        return _from_pypi(source, folder)
    if source.kind is SourceKind.NPM:
        return _from_npm(source, folder)
    return _from_crates(source, folder)


def _from_pypi(source: SourceSpec, folder: Path) -> Archive:
    # not -I: it hides pip where it is installed for the user only
    command = [sys.executable, "-P", str(PIP_SCRIPT), source.name, source.version, str(folder)]
    output = _run("pip", command, folder, source, client_environment("pip", folder))
    try:
        answer = json.loads(output.splitlines()[-1])
        return Archive(folder / str(answer["file"]), source.name, str(answer["version"]))
    except (ValueError, LookupError, TypeError) as error:
        raise Unavailable(f"pip downloaded no archive of {source.name}.", "Run `pip download` to see why.") from error


def _from_npm(source: SourceSpec, folder: Path) -> Archive:
    environment = client_environment("npm", folder)
    wanted = f"{source.name}@{source.version}" if source.version else source.name
    # global: npm reads the configuration of no project
    options = ["--ignore-scripts", "--location=global", "--loglevel=error", "--pack-destination", str(folder)]
    _run("npm", [find_client("npm", environment, source.text), "pack", *options, wanted], folder, source, environment)
    return _only_archive(folder, source, ".tgz")


def _from_crates(source: SourceSpec, folder: Path) -> Archive:
    environment = client_environment("cargo", folder)
    wanted = f"{source.name}@{source.version}" if source.version else source.name
    command = [find_client("cargo", environment, source.text), "info", "--quiet", "--color", "never", wanted]
    output = _run("cargo", command, folder, source, environment)
    found = re.search(r"^version:\s*([\w.+-]{1,100})", output, re.M)
    version = found[1] if found else source.version
    archive = _kept_crate(source.name, version, environment)
    if archive is None:
        raise Unavailable(f"cargo kept no archive of {wanted}.", "cargo 1.82 or later is needed.")
    return archive


def _kept_crate(name: str, version: str, environment: Mapping[str, str]) -> Archive | None:
    home = Path(environment.get("CARGO_HOME") or Path(environment["HOME"], ".cargo"))
    archives = sorted((home / "registry" / "cache").glob(f"*/{name}-{version}.crate"))
    return Archive(archives[0], name, version) if archives else None


def _only_archive(folder: Path, source: SourceSpec, ending: str) -> Archive:
    archives = sorted(path for path in folder.iterdir() if path.name.endswith(ending))
    if len(archives) != 1:
        raise Unavailable(f"No archive of {source.text} was downloaded.", "Check the name and the version.")
    version = re.search(r"-(\d[\w.+-]{0,200})\.tgz$", archives[0].name)
    return Archive(archives[0], source.name, version[1] if version else source.version)


def _run(client: str, command: Sequence[str], folder: Path, source: SourceSpec, environment: Mapping[str, str]) -> str:
    """Run a client and return its output. Raises NotFound, ConfigError and Unavailable with its reason."""
    ended = run_client(client, command, folder, environment)
    if ended.code == 0:
        return ended.output
    text = f"{ended.output}\n{ended.errors}"
    lines = [line.strip() for line in ended.errors.splitlines() if line.strip()]
    # a stack trace or a hint may follow what cargo and rustup report
    reason = next((line for line in lines if line.startswith("error:")), lines[-1] if lines else "no reason given")
    if re.search(r"no matching distribution|not found|E404|could not find|no such package|notarget", text, re.I):
        raise NotFound(f"{source.text} does not exist: {reason[:300]}", "Check the name and the version.")
    if re.search(r"No module named '?pip", text):
        raise ConfigError(f"{source.text} needs pip, which is not installed.", "Install pip, or name an archive.")
    raise Unavailable(f"{client} could not download {source.text}: {reason[:300]}", "Is there a network?")
