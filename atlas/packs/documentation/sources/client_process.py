"""Runs pip, npm and cargo so that only the user and the system configure them (ADR 0047).

A client starts in the root folder, at which every search for configuration ends anyway: the folders of a project, of
the current directory and those that all users share are not on its way. It gets the variables that are named here and
no others, its temporary files are in a private folder, and it is found where nobody else can put a program: not in the
project around the current folder either, whose `node_modules/.bin` `npm run` and direnv put into PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from atlas.core.errors import ConfigError, Unavailable
from atlas.core.lazy_regex import lazy_regex
from atlas.runtime.process.files import read_file
from atlas.runtime.process.ownership import foreign_part
from atlas.runtime.process.places import discover_root, is_around_home

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECONDS = 300
MAX_OUTPUT = 1 << 20
"""Bytes of a client's output that are looked at."""

SHARED = frozenset((
    "lang", "lc_all", "lc_ctype", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file", "ssl_cert_dir",
    "requests_ca_bundle", "curl_ca_bundle", "node_extra_ca_certs", "nix_ssl_cert_file", "netrc",
))  # fmt: skip
"""Language, proxies and certificates, in lower case: every client gets them."""

OWN = {
    "pip": lazy_regex(
        r"pip_(?:index_url|extra_index_url|no_index|find_links|trusted_host|cert|client_cert|proxy|retries|timeout|"
        r"default_timeout|cache_dir|no_cache_dir|keyring_provider|use_feature|use_deprecated|pre|prefer_binary)"
    ),
    "npm": lazy_regex(
        r"npm_config_(?:registry|ca|cafile|cert|key|strict_ssl|proxy|https_proxy|noproxy|no_proxy|cache|fetch_\w+|"
        r"@[^/:]+:registry|//.+)"
    ),
    "cargo": lazy_regex(
        r"(?:cargo_(?:http|net|registries|source)_\w+|cargo_registry_default|rustup_(?:toolchain|auto_install))"
    ),
}
"""Registries, mirrors and credentials that the user's environment sets for one client, in lower case."""

CONFIGURATION = {
    "pip": ("PIP_CONFIG_FILE",),
    "npm": ("NPM_CONFIG_USERCONFIG", "NPM_CONFIG_GLOBALCONFIG"),
    "cargo": ("CARGO_HOME", "RUSTUP_HOME"),
}
"""Variables that say where a client's configuration is."""

FOLDERS = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")
SEARCHED = ("PATH", "LD_LIBRARY_PATH")
REFERENCE = lazy_regex(r"\$\{([A-Za-z_]\w*)\??\}")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a client ended; its outputs are cut after `MAX_OUTPUT` bytes."""

    code: int
    output: str
    errors: str


def client_environment(client: str, private: Path) -> dict[str, str]:
    """Return the variables for `pip`, `npm` or `cargo`; `private` is a folder of this user for temporary files.

    Raises ConfigError for a variable that leads to configuration which other users can change.
    """
    found = {
        name: value
        for name, value in os.environ.items()
        if name.lower() in SHARED or OWN[client].fullmatch(name.lower().replace("-", "_"))
    }
    for name in FOLDERS:
        if (value := os.environ.get(name)) and _is_own(Path(value)):
            found[name] = value
    found.setdefault("HOME", str(private))
    for name in SEARCHED:
        if folders := [one for one in os.environ.get(name, "").split(os.pathsep) if one and _is_users(Path(one))]:
            found[name] = os.pathsep.join(folders)
    for name, value in os.environ.items():
        if name.upper() in CONFIGURATION[client] and value:
            if value != os.devnull and not _is_own(Path(value)):
                raise ConfigError(
                    f"{name} names {value}, which other users can change or which is no absolute path.",
                    "Name a place that only you can write, or unset it.",
                )
            found[name] = value
    if client == "npm":
        found |= _named_in_settings(found)
    return found | {"TMPDIR": str(private), "NO_UPDATE_NOTIFIER": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def find_client(name: str, environment: Mapping[str, str], source: str) -> str:
    """Return the path of a client in folders that only this user and root can write. Raises ConfigError."""
    found = shutil.which(name, path=environment.get("PATH", ""))
    if found and _is_users(Path(found)):
        return found
    other = shutil.which(name)
    if other and _is_in_project(Path(other)):
        reason = f"but {other} lies in the project"
    else:
        reason = f"but other users can change {other}" if other else "which is not installed"
    raise ConfigError(
        f"{source} needs {name}, {reason}.", f"Install {name} where only you can write, or name an archive."
    )


def run_client(client: str, command: Sequence[str], private: Path, environment: Mapping[str, str]) -> Ended:
    """Run a client to its end. Raises Unavailable when it takes too long, ConfigError if it cannot be run."""
    output, errors = private / "output", private / "errors"
    try:
        # files, not pipes: a process that a stopped client leaves behind would hold a pipe open
        with output.open("wb") as out, errors.open("wb") as err:
            done = subprocess.run(
                command,
                cwd=Path(os.path.abspath(os.sep)),  # noqa: PTH100 the root folder
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                timeout=SECONDS,
                check=False,
            )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{client} did not end within {SECONDS} s.", "Try again.") from error
    except OSError as error:
        raise ConfigError(f"{client} cannot be run: {error}.", "Name an archive instead.") from error
    return Ended(done.returncode, _last(output), _last(errors))


def _named_in_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the user's own `.npmrc` names, such as `${NPM_TOKEN}`."""
    named = next((value for name, value in environment.items() if name.upper() == "NPM_CONFIG_USERCONFIG"), "")
    path = Path(named or Path(environment["HOME"], ".npmrc"))
    try:
        names = REFERENCE.findall(read_file(path).decode("utf-8", "replace"))
    except OSError:
        return {}
    return {name: os.environ[name] for name in names if name in os.environ and name not in environment}


def _is_own(path: Path) -> bool:
    """Return whether a path is absolute and no other user can change what is there."""
    try:
        return path.is_absolute() and foreign_part(path) is None
    except OSError:
        return False


def _is_users(path: Path) -> bool:
    return _is_own(path) and not _is_in_project(path)


def _is_in_project(path: Path) -> bool:
    """Return whether a path is in the project around the current folder, if there is one."""
    try:
        root = discover_root(str(Path.cwd()))
    except OSError:  # the folder is gone
        return False
    is_project = not is_around_home(root) and root != os.path.abspath(os.sep)  # noqa: PTH100 the root folder
    return is_project and path.resolve().is_relative_to(root)


def _last(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - MAX_OUTPUT, 0))
        return file.read(MAX_OUTPUT).decode("utf-8", "replace")
