"""Settings: defaults < `atlas.toml` of the project < environment `ATLAS_*` < command line, each with its origin.

Paths and strings come in, one frozen `Settings` goes out. A repository's own `atlas.toml` is untrusted: it cannot name
a place outside the project root nor anything to execute. Nothing here opens a store or imports an adapter.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path, PurePosixPath
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from atlas.embedder_rules import check_embedder
from atlas.errors import ConfigError
from atlas.ids import project_name
from atlas.settings import DATA_FOLDER, SECTIONS, masked
from atlas.settings import Settings as Settings
from atlas.settings import is_loopback as is_loopback
from atlas.store_rules import check_store

FILE_NAME = "atlas.toml"
MAX_FILE_BYTES = 256 * 1024
"""An atlas.toml beyond this size is refused unread."""

TOKEN_VARIABLE = "ATLAS_MCP_TOKEN"
"""A secret, not a setting: it is in no file, shown by no command, and read where it is needed."""

PROJECT_MARKERS = (DATA_FOLDER, FILE_NAME, ".git")
"""What makes a folder a project, strongest first."""


def discover_root(start: Path) -> Path:
    """Return the project root around `start`: nearest ancestor with `.atlas/`, else `atlas.toml`, else `.git`, else it.

    The home folder and what is above it count only when `start` itself is there: a stray marker in the home folder
    must not swallow every project below it.
    """
    start = start.resolve()
    home = Path.home().resolve()
    candidates: list[Path] = []
    for folder in (start, *start.parents):
        if folder != start and (folder == home or folder in home.parents):
            break
        candidates.append(folder)
    for marker in PROJECT_MARKERS:
        for folder in candidates:
            if (folder / marker).exists():
                return folder
    return start


def load_settings(
    project: str = "",
    data_dir: str = "",
    environment: Mapping[str, str] | None = None,
    start: Path | None = None,
) -> Settings:
    """Return the settings of a project; `project` and `data_dir` are the command line's, "" = not given.

    Raises ConfigError for a project or data folder that is not a folder, an unreadable or malformed atlas.toml, and any
    unknown key or value of the wrong type or range, naming its place.
    """
    environment = os.environ if environment is None else environment
    here = Path.cwd() if start is None else start
    root = _project_root(project or environment.get("ATLAS_PROJECT", ""), here)
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for layer in (_from_file(root / FILE_NAME), _from_environment(environment)):
        for key, value, origin in layer:
            values[key] = _checked(key, value, origin)
            origins[key] = origin
    if data_dir or environment.get("ATLAS_DATA_DIR"):
        chosen = data_dir or environment["ATLAS_DATA_DIR"]
        values["store.data_dir"] = str((here / Path(chosen).expanduser()).resolve())
        origins["store.data_dir"] = "--data-dir" if data_dir else "env ATLAS_DATA_DIR"
    settings = Settings(root, origins=origins, **_sections(values))
    _refuse_outside(settings)
    _refuse_file(settings)
    _refuse_foreign_bus(settings)
    _refuse_foreign_host(settings)
    check_embedder(settings)
    check_store(settings)
    return settings


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
    """Group "section.key" values into the settings objects."""
    grouped: dict[str, dict[str, object]] = {}
    for key, value in values.items():
        section, _, name = key.partition(".")
        grouped.setdefault(section, {})[name] = value
    return {section: SECTIONS[section](**given) for section, given in grouped.items()}


def _refuse_outside(settings: Settings) -> None:
    """Refuse a data folder outside the root, by path or by symlink, unless the user (not the repository) chose it."""
    origin = settings.origin("store.data_dir")
    if origin.startswith(("env ", "--")):
        return
    if not settings.data_dir.resolve().is_relative_to(settings.root):
        place = f"{settings.data_dir} leads" if origin == "default" else f"{origin}: store.data_dir points"
        raise ConfigError(
            f"{place} outside the project root",
            "A repository cannot choose a folder outside itself; use --data-dir or ATLAS_DATA_DIR for that.",
        )
    if settings.data_dir.resolve() == settings.root:
        raise ConfigError(f"{origin}: store.data_dir is the project root", 'Use a folder of its own, e.g. ".atlas".')


def _refuse_file(settings: Settings) -> None:
    """Refuse a data folder that is a file or would lie in one; a folder that is not there yet is made later."""
    chosen = settings.data_dir
    there = next((path for path in (chosen, *chosen.parents) if os.path.lexists(path)), chosen)
    # `is_dir` of a path raises for the target of a link that may not be looked at
    if os.path.lexists(there) and not os.path.isdir(there):  # noqa: PTH112
        origin = settings.origin("store.data_dir")
        lies = f"{chosen} is not a folder" if there == chosen else f"{chosen} cannot be made: {there} is not a folder"
        raise ConfigError(
            f"the data folder {lies} ({origin})",
            "Give the path of a folder with --data-dir: an empty one, or one that is not there yet.",
        )


def _refuse_foreign_bus(settings: Settings) -> None:
    """Refuse a bus that a repository must not choose: what it sends there are paths, and it may hold a password."""
    if settings.by_user("bus.url") or not settings.bus.url:
        return
    address = settings.bus_address
    if address.startswith("/"):
        inside = Path(address).resolve().is_relative_to(settings.root)
        complaint = "" if inside else "is a socket outside the project"
    else:
        try:
            parts = urlsplit(address)
            loopback = is_loopback(parts.hostname or "")
            certificate = parse_qs(parts.query).get("ca", [""])[-1]
        except ValueError:
            loopback, certificate = False, ""
        complaint = "" if loopback else "is not an address on this machine"
        if not (settings.root / certificate).resolve().is_relative_to(settings.root):
            complaint = "names a certificate outside the project"
    if complaint:
        raise ConfigError(
            f"{settings.origin('bus.url')}: bus.url {complaint}: {masked(settings.bus.url)}",
            "A repository cannot choose that; set the environment variable ATLAS_BUS_URL instead.",
        )


def _refuse_foreign_host(settings: Settings) -> None:
    """Refuse an address to listen on that other machines reach: a repository must not open an index to them."""
    if settings.by_user("mcp.host") or is_loopback(settings.mcp.host):
        return
    raise ConfigError(
        f"{settings.origin('mcp.host')}: mcp.host is not an address of this machine alone: {settings.mcp.host!r}",
        "A repository cannot choose that; use --host or the environment variable ATLAS_MCP_HOST instead.",
    )


def _from_file(path: Path) -> list[tuple[str, object, str]]:
    """Return (key, value, origin) of an atlas.toml; nothing when there is none."""
    try:
        if not path.is_file():
            return []
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ConfigError(f"{path} is larger than {MAX_FILE_BYTES} bytes", "See atlas.toml.example.")
        text = path.read_text("utf-8")
        document = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}", "Check the permissions of the file.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text", "TOML files are UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}", "See atlas.toml.example for the format.") from error
    found: list[tuple[str, object, str]] = []
    for section, body in document.items():
        place = f"{FILE_NAME}:{_line_of(text, section, '')}"
        if section not in SECTIONS:
            raise _unknown(section, f"{path}:{_line_of(text, section, '')}", list(SECTIONS), "section")
        if not isinstance(body, dict):
            raise ConfigError(f"{place}: [{section}] must be a table", "See atlas.toml.example.")
        for name, value in cast("dict[str, object]", body).items():
            line = _line_of(text, section, name)
            names = _names(section)
            if name not in names:
                raise _unknown(f"{section}.{name}", f"{path}:{line}", [f"{section}.{one}" for one in names], "setting")
            found.append((f"{section}.{name}", value, f"{FILE_NAME}:{line}"))
    return found


def _from_environment(environment: Mapping[str, str]) -> list[tuple[str, object, str]]:
    """Return (key, value, origin) of `ATLAS_<SECTION>_<KEY>` variables; lists are comma-separated.

    Other ATLAS_ variables belong to other programs and are left alone.
    """
    found: list[tuple[str, object, str]] = []
    for variable in sorted(environment):
        section, _, name = variable.removeprefix("ATLAS_").lower().partition("_")
        if not variable.startswith("ATLAS_") or section not in SECTIONS or not name or variable == TOKEN_VARIABLE:
            continue
        known = [f"ATLAS_{section}_{one}".upper() for one in _names(section)]
        if variable not in known:
            raise _unknown(variable, "environment", known, "variable")
        key = f"{section}.{name}"
        if key == "store.data_dir":
            raise ConfigError(f"{variable} is not a setting", "Use ATLAS_DATA_DIR.")
        found.append((key, _parsed(key, environment[variable], variable), f"env {variable}"))
    return found


def _parsed(key: str, text: str, variable: str) -> object:
    """Turn an environment string into the setting's type."""
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
    """Return the value in the setting's own type, or raise ConfigError with its place."""
    spec = _spec(key)
    if isinstance(spec.default, tuple):
        if not isinstance(value, list) or not all(isinstance(one, str) for one in cast("list[object]", value)):
            raise ConfigError(f"{origin}: {key} must be a list of strings", _help(key))
        globs = tuple(cast("list[str]", value))
        for glob in globs:
            if ".." in PurePosixPath(glob).parts:
                raise ConfigError(f"{origin}: {key} must stay inside the project: {glob!r}", _help(key))
        return globs
    if type(value) is not type(spec.default):
        wanted = {bool: "true or false", int: "a whole number", str: "a string"}[type(spec.default)]
        found = "" if spec.metadata["secret"] else f", not {value!r}"
        raise ConfigError(f"{origin}: {key} must be {wanted}{found}", _help(key))
    low, high = spec.metadata["low"], spec.metadata["high"]
    choices: tuple[str, ...] = spec.metadata["choices"]
    if isinstance(value, int) and (low or high) and not low <= value <= high:
        raise ConfigError(f"{origin}: {key} must be between {low} and {high}, not {value}", _help(key))
    if choices and value not in choices:
        near = difflib.get_close_matches(str(value), choices, 1)
        hint = f"Did you mean {near[0]!r}?" if near else _help(key)
        raise ConfigError(f"{origin}: {key} must be one of {', '.join(choices)}, not {value!r}", hint)
    if key == "project.name" and value and project_name(PurePosixPath(str(value))) != value:
        raise ConfigError(f"{origin}: project.name may hold letters, digits and ._- only: {value!r}", _help(key))
    if key == "store.data_dir" and not value:
        raise ConfigError(f"{origin}: store.data_dir must not be empty", _help(key))
    return value


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
    """Return the 1-based line of a section, or of a key in it; the section's line when the key is inline."""
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
