"""Load settings: defaults < user's file < project's file < environment `ATLAS_*` < command line.

Input is paths and strings, output one frozen `Settings` that knows the origin of each value. A project's `atlas.toml`
is untrusted: it may set only what `settings.py` declares as shared (name, scope, search), and no number above its
default. ADR 0021 says why this is not pydantic-settings.
"""

from __future__ import annotations

import difflib
import errno
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path, PurePosixPath
from typing import Any, cast

from atlas.config.addresses import is_loopback as is_loopback
from atlas.config.checks import check_embedder, check_knowledge, check_languages, check_packs, check_papers, check_store
from atlas.config.project_root import FILE_NAME as FILE_NAME
from atlas.config.project_root import discover_root as discover_root
from atlas.config.settings import SECTIONS
from atlas.config.settings import Settings as Settings
from atlas.errors import ConfigError
from atlas.ids import project_name
from atlas.process.data_folder import TRUST_VARIABLE, check_folder, default_folder
from atlas.process.files import read_file
from atlas.process.installation_key import config_folder

MAX_FILE_BYTES = 64 * 1024
"""A larger atlas.toml is rejected without reading it."""

_DEEP_KEY = re.compile(r"""(?:(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){16}""")
"""A dotted key of 17 parts. No setting has one, and the TOML parser's memory grows with the square of the parts."""

TOKEN_VARIABLE = "ATLAS_MCP_TOKEN"
"""A secret rather than a setting: no file holds it, no command shows it, and only the HTTP server reads it."""

REMOVED = {"store.data_dir": "Derived data is in the user's cache; --data-dir or ATLAS_DATA_DIR choose another folder."}
"""Former settings, and what to use instead."""


def load_settings(
    project: str = "",
    data_dir: str = "",
    environment: Mapping[str, str] | None = None,
    start: Path | None = None,
) -> Settings:
    """Return the settings of a project; `project` and `data_dir` come from the command line, "" = not given.

    Raises ConfigError, which names the place of the problem, for a project or data folder that is not a folder, a data
    folder that this installation did not create, an unreadable or malformed settings file, an unknown key, and a value
    of the wrong type or range.
    """
    environment = os.environ if environment is None else environment
    here = _current_folder() if start is None else start
    root = _project_root(project or environment.get("ATLAS_PROJECT", ""), here)
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for layer in (_from_user(), _from_project(root / FILE_NAME), _from_environment(environment)):
        for key, value, origin in layer:
            values[key] = _checked(key, value, origin)
            origins[key] = origin
    chosen = data_dir or environment.get("ATLAS_DATA_DIR", "")
    folder = (here / Path(chosen).expanduser()).resolve() if chosen else default_folder(root)
    if chosen:
        origins["data_dir"] = "--data-dir" if data_dir else "env ATLAS_DATA_DIR"
    settings = Settings(root, folder, origins=origins, **_sections(values))
    _refuse_place(settings)
    check_folder(folder, trust=is_trusted(environment))
    check_languages(settings)
    check_knowledge(settings)
    check_packs(settings)
    check_papers(settings)
    check_embedder(settings)
    check_store(settings)
    return settings


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise ConfigError("the current folder no longer exists", "Change to another folder.") from error


def is_trusted(environment: Mapping[str, str] | None = None) -> bool:
    """Return whether the user trusts a data folder from elsewhere: `--trust-data-dir` or its variable."""
    environment = os.environ if environment is None else environment
    return environment.get(TRUST_VARIABLE, "").lower() in ("1", "true")


def _project_root(chosen: str, here: Path) -> Path:
    if not chosen:
        return discover_root(here)
    path = here / Path(chosen).expanduser()
    if not path.exists():
        raise ConfigError(f"no such folder: {chosen}", "Give --project the folder of a project.")
    if not path.is_dir():
        raise ConfigError(f"not a folder: {chosen}", "Give --project the folder of a project, not a file in it.")
    return path.resolve()


def _sections(values: Mapping[str, object]) -> dict[str, Any]:
    """Turn "section.key" values into settings objects by section."""
    grouped: dict[str, dict[str, object]] = {}
    for key, value in values.items():
        section, _, name = key.partition(".")
        grouped.setdefault(section, {})[name] = value
    return {section: SECTIONS[section](**given) for section, given in grouped.items()}


def _refuse_place(settings: Settings) -> None:
    """Reject a data folder that is the project root, that is a file, or whose path leads through a file."""
    chosen, origin = settings.data_dir, settings.origin("data_dir")
    if chosen == settings.root:
        raise ConfigError(f"the data folder is the project root ({origin})", "Use a folder of its own.")
    there = next((path for path in (chosen, *chosen.parents) if os.path.lexists(path)), chosen)
    # `Path.is_dir` raises for the target of a link that this user may not inspect
    if os.path.lexists(there) and not os.path.isdir(there):  # noqa: PTH112
        why = f"{chosen} is not a folder" if there == chosen else f"{chosen} cannot be created: {there} is not a folder"
        raise ConfigError(
            f"the data folder {why} ({origin})",
            "Give the path of a folder with --data-dir: an empty one, or one that does not exist yet.",
        )


def user_file() -> Path:
    """Return the path of the user's settings file, which may set everything but keys; it may not exist."""
    return config_folder() / FILE_NAME


def _from_user() -> list[tuple[str, object, str]]:
    """Return (key, value, origin) of each setting in the user's file, if it exists."""
    path = user_file()
    if not path.exists():
        return []
    found = _from_file(path, str(path), own=True)
    for key, value, origin in found:
        if value and _spec(key).metadata["key"]:
            raise ConfigError(f"{origin}: {key} must not be in a file", f"Set {_variable(key)} instead.")
    return found


def _from_project(path: Path) -> list[tuple[str, object, str]]:
    """Return (key, value, origin) of each setting in a project's atlas.toml, if it exists.

    Raises ConfigError for a setting that only the user may change: a repository must not choose where data goes, what
    runs, or how many resources are used.
    """
    if not os.path.lexists(path):
        return []
    found = _from_file(path, FILE_NAME, own=False)
    # keys first: a secret in a repository is the most urgent problem to report
    for key, value, origin in sorted(found, key=lambda one: not _spec(one[0]).metadata["key"]):
        spec = _spec(key)
        if not spec.metadata["shared"]:
            complaint = f"{key} cannot be set by a project's file"
        elif type(value) is int and type(spec.default) is int and value > spec.metadata["shared_high"]:
            complaint = f"a project's file cannot set {key} above {spec.metadata['shared_high']}"
        elif value is False and spec.default is True:
            complaint = f"a project's file cannot switch {key} off"
        else:
            continue
        key_hint = " The key in this file is compromised: create a new one." if spec.metadata["key"] else ""
        raise ConfigError(f"{origin}: {complaint}", f"Set {_variable(key)} or put it into {user_file()}.{key_hint}")
    return found


def _from_file(path: Path, shown: str, *, own: bool) -> list[tuple[str, object, str]]:
    """Return (key, value, origin) of each setting in a file.

    `shown` is the file's name in origins; `own` requires that the file belongs to this user.
    """
    try:
        text = read_file(path, MAX_FILE_BYTES, own=own).decode("utf-8")
        if _DEEP_KEY.search(text):
            raise ConfigError(f"{path} has a dotted key with too many parts", "See atlas.toml.example for the format.")
        document = tomllib.loads(text)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise ConfigError(f"{path} is larger than {MAX_FILE_BYTES} bytes", "See atlas.toml.example.") from error
        hint = "It must be a regular file, not a link, that this user may read."
        raise ConfigError(f"cannot read {path}: {error.strerror}", hint) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text", "TOML files are UTF-8.") from error
    except (tomllib.TOMLDecodeError, RecursionError, MemoryError) as error:
        raise ConfigError(f"{path}: {error}", "See atlas.toml.example for the format.") from error
    found: list[tuple[str, object, str]] = []
    for section, body in document.items():
        place = f"{shown}:{_line_of(text, section, '')}"
        if section not in SECTIONS:
            raise _unknown(section, f"{path}:{_line_of(text, section, '')}", list(SECTIONS), "section")
        if not isinstance(body, dict):
            raise ConfigError(f"{place}: [{section}] must be a table", "See atlas.toml.example.")
        for name, value in cast("dict[str, object]", body).items():
            line = _line_of(text, section, name)
            names = _names(section)
            if f"{section}.{name}" in REMOVED:
                raise ConfigError(f"{path}:{line}: {section}.{name} is not a setting", REMOVED[f"{section}.{name}"])
            if name not in names:
                raise _unknown(f"{section}.{name}", f"{path}:{line}", [f"{section}.{one}" for one in names], "setting")
            found.append((f"{section}.{name}", value, f"{shown}:{line}"))
    return found


def _from_environment(environment: Mapping[str, str]) -> list[tuple[str, object, str]]:
    """Return (key, value, origin) of `ATLAS_<SECTION>_<KEY>` variables; lists are comma-separated.

    Variables of other sections may belong to other programs and are ignored.
    """
    found: list[tuple[str, object, str]] = []
    for variable in sorted(environment):
        written = variable.removeprefix("ATLAS_").lower()
        # names of sections may hold an underscore themselves
        section = next((one for one in SECTIONS if written.startswith(f"{one}_")), "")
        name = written[len(section) + 1 :]
        if not variable.startswith("ATLAS_") or not section or not name or variable == TOKEN_VARIABLE:
            continue
        known = [_variable(f"{section}.{one}") for one in _names(section)]
        if variable not in known:
            raise _unknown(variable, "environment", known, "variable")
        key = f"{section}.{name}"
        found.append((key, _parsed(key, environment[variable], variable), f"env {variable}"))
    return found


def _parsed(key: str, text: str, variable: str) -> object:
    """Convert an environment string to the setting's type."""
    default = _spec(key).default
    if isinstance(default, bool):
        if text.lower() not in ("true", "false", "1", "0"):
            raise ConfigError(f"env {variable}: {key} must be true or false, not {text!r}", f"Set {variable}=true.")
        return text.lower() in ("true", "1")
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            raise ConfigError(f"env {variable}: {key} must be a whole number, not {text!r}", _help(key)) from None
    if isinstance(default, tuple):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def _checked(key: str, value: object, origin: str) -> object:
    """Return the value in the setting's type, or raise ConfigError that names its origin."""
    spec = _spec(key)
    if isinstance(spec.default, tuple):
        if not isinstance(value, list) or not all(isinstance(one, str) for one in cast("list[object]", value)):
            raise ConfigError(f"{origin}: {key} must be a list of strings", _help(key))
        entries = tuple(cast("list[str]", value))
        for entry in entries if spec.metadata["choices"] else ():
            _check_choice(key, entry, origin)
        for glob in entries if key.startswith("scope.") else ():
            if ".." in PurePosixPath(glob).parts:
                raise ConfigError(f"{origin}: {key} must stay inside the project: {glob!r}", _help(key))
        return entries
    if type(value) is not type(spec.default):
        wanted = {bool: "true or false", int: "a whole number", str: "a string"}[type(spec.default)]
        found = "" if spec.metadata["secret"] else f", not {value!r}"
        raise ConfigError(f"{origin}: {key} must be {wanted}{found}", _help(key))
    low, high = spec.metadata["low"], spec.metadata["high"]
    if isinstance(value, int) and (low or high) and not low <= value <= high:
        raise ConfigError(f"{origin}: {key} must be between {low} and {high}, not {value}", _help(key))
    if isinstance(value, str) and spec.metadata["choices"]:
        _check_choice(key, value, origin)
    if key == "project.name" and value and project_name(PurePosixPath(str(value))) != value:
        raise ConfigError(f"{origin}: project.name may contain only letters, digits and . _ -: {value!r}", _help(key))
    return value


def _check_choice(key: str, value: str, origin: str) -> None:
    choices: tuple[str, ...] = _spec(key).metadata["choices"]
    if value not in choices:
        near = difflib.get_close_matches(value, choices, 1)
        hint = f"Did you mean {near[0]!r}?" if near else _help(key)
        raise ConfigError(f"{origin}: {key} must be one of {', '.join(choices)}, not {value!r}", hint)


def _variable(key: str) -> str:
    return f"ATLAS_{key.replace('.', '_')}".upper()


def _names(section: str) -> list[str]:
    return [spec.name for spec in fields(SECTIONS[section])]


def _spec(key: str) -> Any:
    section, _, name = key.partition(".")
    return next(spec for spec in fields(SECTIONS[section]) if spec.name == name)


def _help(key: str) -> str:
    return str(_spec(key).metadata["help"])


def _unknown(key: str, place: str, known: list[str], kind: str) -> ConfigError:
    near = difflib.get_close_matches(key, known, 1, cutoff=0.4)
    hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known)}."
    return ConfigError(f"{place}: unknown {kind} {key}", hint)


def _line_of(text: str, section: str, name: str) -> int:
    """Return the 1-based line of a section or of a key in it; the section's line for a key in an inline table."""
    current, section_line = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line)
        if header:
            current = header[1].strip("\"'")
            section_line = number if current == section else section_line
        key = re.match(r"\s*([\w.\"'-]+)\s*=", line)
        written = key[1].replace('"', "").replace("'", "") if key else ""
        inside = f"{current}.{written}" if current else written
        if key and inside in ({f"{section}.{name}"} if name else {section, f"{section}.{written}"}):
            return number
        if header and not name and current.split(".")[0] == section:
            return number
    return section_line
