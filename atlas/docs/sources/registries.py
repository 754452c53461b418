"""Archives of PyPI, npm and crates.io, downloaded by their own clients, only when the user names one.

pip, npm and cargo know the user's mirrors, proxies and credentials. None of them runs code of the package: pip's finder
chooses and its session downloads the archive, but nothing is prepared or built (`pip download` would run the build
backend of an sdist); npm packs with `--ignore-scripts`; cargo shows information of the crate, which loads it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.docs.sources.local import Archive
from atlas.docs.sources.values import SourceKind
from atlas.errors import ConfigError, NotFound, Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from atlas.docs.sources.values import SourceSpec

SECONDS = 300

PIP_SCRIPT = Path(__file__).with_name("pip_download.py")


def describe(source: SourceSpec) -> str:
    """Return what would be downloaded."""
    return f"{source.name} {source.version or '(newest)'}"


def at_hand(source: SourceSpec) -> Archive | None:
    """Return the archive of a package that its client has kept, without a download; only cargo keeps them as files."""
    if source.kind is not SourceKind.CRATE or not source.version:
        return None
    return _kept_crate(source.name, source.version)


def download(source: SourceSpec, folder: Path) -> Archive:
    """Download the archive of a package into an empty folder.

    Raises ConfigError without the client, NotFound for an unknown package or version, Unavailable without network.
    """
    if source.kind is SourceKind.PYPI:
        return _from_pypi(source, folder)
    if source.kind is SourceKind.NPM:
        return _from_npm(source, folder)
    return _from_crates(source, folder)


def _from_pypi(source: SourceSpec, folder: Path) -> Archive:
    # not -I: pip reads its user configuration, which isolation would hide
    command = [sys.executable, "-P", str(PIP_SCRIPT), source.name, source.version, str(folder)]
    output = _run(command, folder, source, "pip")
    try:
        answer = json.loads(output.splitlines()[-1])
        return Archive(folder / str(answer["file"]), source.name, str(answer["version"]))
    except (ValueError, LookupError, TypeError) as error:
        raise Unavailable(f"pip downloaded no archive of {source.name}.", "Run `pip download` to see why.") from error


def _from_npm(source: SourceSpec, folder: Path) -> Archive:
    wanted = f"{source.name}@{source.version}" if source.version else source.name
    command = [_client("npm", source), "pack", "--ignore-scripts", "--json", "--pack-destination", str(folder), wanted]
    _run(command, folder, source, "npm")
    return _only_archive(folder, source, ".tgz")


def _from_crates(source: SourceSpec, folder: Path) -> Archive:
    wanted = f"{source.name}@{source.version}" if source.version else source.name
    # an empty folder, since `cargo info` prefers the version that a lock file above it has
    output = _run([_client("cargo", source), "info", "--quiet", "--color", "never", wanted], folder, source, "cargo")
    found = re.search(r"^version:\s*(\S+)", output, re.M)
    version = found[1] if found else source.version
    archive = _kept_crate(source.name, version)
    if archive is None:
        raise Unavailable(f"cargo kept no archive of {wanted}.", "cargo 1.82 or later is needed.")
    return archive


def _kept_crate(name: str, version: str) -> Archive | None:
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    archives = sorted((home / "registry" / "cache").glob(f"*/{name}-{version}.crate"))
    return Archive(archives[0], name, version) if archives else None


def _only_archive(folder: Path, source: SourceSpec, ending: str) -> Archive:
    archives = sorted(path for path in folder.iterdir() if path.name.endswith(ending))
    if len(archives) != 1:
        raise Unavailable(f"No archive of {source.text} was downloaded.", "Check the name and the version.")
    version = re.search(r"-(\d[\w.+-]*)\.tgz$", archives[0].name)
    return Archive(archives[0], source.name, version[1] if version else source.version)


def _client(name: str, source: SourceSpec) -> str:
    found = shutil.which(name)
    if not found:
        raise ConfigError(
            f"{source.text} needs {name}, which is not installed.", f"Install {name}, or name an archive."
        )
    return found


def _run(command: Sequence[str], folder: Path, source: SourceSpec, client: str) -> str:
    """Run a client in an empty folder, so that no project's configuration is read, and return its output."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{client} did not download {source.text} within {SECONDS} s.", "Try again.") from error
    except OSError as error:
        raise ConfigError(f"{client} cannot be run: {error}.", "Name an archive instead.") from error
    if done.returncode == 0:
        return done.stdout
    text = f"{done.stdout}\n{done.stderr}"
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    # a stack trace or a hint may follow what cargo and rustup report
    reason = next((line for line in lines if line.startswith("error:")), lines[-1] if lines else "no reason given")
    if re.search(r"no matching distribution|not found|E404|could not find|no such package|notarget", text, re.I):
        raise NotFound(f"{source.text} does not exist: {reason[:300]}", "Check the name and the version.")
    if re.search(r"No module named '?pip", text):
        raise ConfigError(f"{source.text} needs pip, which is not installed.", "Install pip, or name an archive.")
    raise Unavailable(f"{client} could not download {source.text}: {reason[:300]}", "Is there a network?")
