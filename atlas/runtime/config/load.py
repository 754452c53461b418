"""Load settings: defaults < user's file < project's file < environment `ATLAS_*` < command line.

Input is paths and strings, output one frozen `Settings` that knows the origin of each value. A project's `atlas.toml`
is untrusted: it may set only what `settings.py` declares as shared (name, scope, search), and no number above its
default. What else it holds is ignored and listed in `Settings.ignored`, so that a clone stays usable (ADR 0051);
mistakes of the user's own file, of variables and of options are errors. ADR 0021 says why this is not
pydantic-settings. `discover_root` finds the project whose file is read.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from atlas.core.errors import ConfigError
from atlas.core.ids import PERSONAL_PROJECT
from atlas.runtime.config.addresses import is_loopback as is_loopback
from atlas.runtime.config.checks import (
    check_embedder,
    check_knowledge,
    check_languages,
    check_packs,
    check_papers,
    check_published,
    check_store,
)
from atlas.runtime.config.declare import IgnoredSetting
from atlas.runtime.config.file import Entry, own_entries, shared_entries
from atlas.runtime.config.keys import checked, help_of, names_of, spec_of, unknown, variable_of
from atlas.runtime.config.settings import (
    SECTIONS,
    BusSettings,
    EmbedderSettings,
    ProjectSettings,
    ScopeSettings,
    StoreSettings,
)
from atlas.runtime.config.settings import Settings as Settings
from atlas.runtime.config.workspace import check_workspace, environment_of_member
from atlas.runtime.process import places
from atlas.runtime.process.data_folder import TRUST_VARIABLE, check_folder, default_folder
from atlas.runtime.process.installation_key import config_folder, personal_folder
from atlas.runtime.process.places import FILE_NAME as FILE_NAME
from atlas.runtime.process.places import PROJECT_MARKERS as PROJECT_MARKERS

NEARLY = 0.9
"""Ratio of `difflib` above which the name of a variable is a setting's with a slip."""
TOKEN_VARIABLE = "ATLAS_MCP_TOKEN"
"""A secret rather than a setting: no file holds it, no command shows it, and only the HTTP server reads it."""


def load_settings(
    project: str = "",
    data_dir: str = "",
    environment: Mapping[str, str] | None = None,
    start: Path | None = None,
) -> Settings:
    """Return the settings of a project; `project` and `data_dir` come from the command line, "" = not given.

    Raises ConfigError, which names the place of the problem, for a project or data folder that is not a folder, a data
    folder that this installation did not create, and, in the user's file and the environment, for a file that cannot
    be read, an unknown key, and a value of the wrong type or range. In the project's file these are ignored.
    """
    environment = os.environ if environment is None else environment
    here = _current_folder() if start is None else start
    root = _project_root(project or environment.get("ATLAS_PROJECT", ""), here)
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    ignored: list[IgnoredSetting] = []
    own, shared = user_file(), root / FILE_NAME
    for entry in own_entries(own) if own.exists() else ():
        _take(entry, values, origins)
    for entry in shared_entries(shared, own) if os.path.lexists(shared) else ():
        try:
            _take(entry, values, origins)
        except ConfigError as error:
            ignored.append(IgnoredSetting(error.message, error.hint))
    for entry in _from_environment(environment):
        _take(entry, values, origins)
    chosen = data_dir or environment.get("ATLAS_DATA_DIR", "")
    folder = (here / Path(chosen).expanduser()).resolve() if chosen else default_folder(root)
    if chosen:
        origins["data_dir"] = "--data-dir" if data_dir else "env ATLAS_DATA_DIR"
    settings = Settings(root, folder, origins=origins, ignored=tuple(ignored), **_sections(values))
    _refuse_place(settings)
    check_folder(folder, trust=is_trusted(environment))
    check_languages(settings)
    check_knowledge(settings)
    check_packs(settings)
    check_papers(settings)
    check_embedder(settings)
    check_store(settings)
    check_workspace(settings)
    check_published(settings)
    return settings


def load_member(root: Path) -> Settings:
    """Return the settings of another project of the workspace, with its data folder in the user's cache.

    Raises ConfigError as `load_settings` does, and where the folder is gone.
    """
    return load_settings(str(root), environment=environment_of_member(os.environ))


def _take(entry: Entry, values: dict[str, object], origins: dict[str, str]) -> None:
    """Add a setting to what is known, over an earlier layer. Raises ConfigError for a mistake."""
    if isinstance(entry, ConfigError):
        raise entry
    key, value, origin = entry
    values[key] = checked(key, value, origin)
    origins[key] = origin


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
        raise ConfigError(f"no such folder: {chosen}", "Give the folder of a project, for example with --project.")
    if not path.is_dir():
        raise ConfigError(f"not a folder: {chosen}", "Give the folder of a project, not a file in it.")
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


def _from_environment(environment: Mapping[str, str]) -> Iterator[Entry]:
    """Yield (key, value, origin) of `ATLAS_<SECTION>_<KEY>` variables; lists are comma-separated.

    Variables of other sections may belong to other programs and are ignored, unless one nearly has a setting's name.
    """
    for variable in sorted(environment):
        written = variable.removeprefix("ATLAS_").lower()
        # names of sections may hold an underscore themselves
        section = next((one for one in SECTIONS if written.startswith(f"{one}_")), "")
        name = written[len(section) + 1 :]
        if not variable.startswith("ATLAS_") or variable == TOKEN_VARIABLE:
            continue
        if not section or not name:
            every = [variable_of(f"{one}.{key}") for one in SECTIONS for key in names_of(one)]
            if difflib.get_close_matches(variable, every, 1, NEARLY):
                raise unknown(variable, "environment", every, "variable")
            continue
        known = [variable_of(f"{section}.{one}") for one in names_of(section)]
        if variable not in known:
            raise unknown(variable, "environment", known, "variable")
        key = f"{section}.{name}"
        yield key, _parsed(key, environment[variable], variable), f"env {variable}"


def _parsed(key: str, text: str, variable: str) -> object:
    """Convert an environment string to the setting's type."""
    default = spec_of(key).default
    if isinstance(default, bool):
        if text.lower() not in ("true", "false", "1", "0"):
            raise ConfigError(f"env {variable}: {key} must be true or false, not {text!r}", f"Set {variable}=true.")
        return text.lower() in ("true", "1")
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            raise ConfigError(f"env {variable}: {key} must be a whole number, not {text!r}", help_of(key)) from None
    if isinstance(default, tuple):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def discover_root(start: Path) -> Path:
    """Return the project root of `start`: the nearest folder with an index, `atlas.toml` or `.git`, else `start`.

    The home folder and its ancestors count only when `start` is one of them; see `places.discover_root`.
    """
    return Path(places.discover_root(str(start)))


def first_project(folders: Sequence[Path]) -> Path | None:
    """Return the root of the first folder that is indexed or has a project marker, else the first that exists.

    The home folder and its ancestors are no project unless they are indexed. None if no folder is left.
    """
    named, others = _projects(folders)
    return next(iter((*named, *others)), None)


def further_projects(folders: Sequence[Path], chosen: Path) -> tuple[Path, ...]:
    """Return the roots of the other folders that are indexed or have a project marker, each once."""
    return tuple(root for root in _projects(folders)[0] if root != chosen)


def _projects(folders: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return the roots of folders that are projects, and of those that may be one, in the order of the folders."""
    named, others = dict[Path, None](), dict[Path, None]()
    for folder in folders:
        if not os.path.isdir(folder):  # noqa: PTH112 `Path.is_dir` raises where this user may not look
            continue
        root = discover_root(folder)
        if places.has_index(str(root)):
            named[root] = None
        elif not places.is_around_home(str(root)):
            is_marked = any(os.path.lexists(root / marker) for marker in PROJECT_MARKERS)
            (named if is_marked else others)[root] = None
    return list(named), list(others)


def personal_settings(settings: Settings) -> Settings:
    """Return the settings of the user's own notes: always a store in files, and vectors made in this process.

    Personal notes never reach the servers that a project is configured with.
    """
    root = personal_folder().resolve()
    embeds = "static" if settings.embedder.embeds_prose else "none"
    return replace(
        settings,
        root=root,
        data_dir=default_folder(root),
        project=ProjectSettings(PERSONAL_PROJECT),
        scope=ScopeSettings(),
        knowledge=replace(settings.knowledge, folder="knowledge"),
        store=StoreSettings(),
        bus=BusSettings(),
        mcp=replace(settings.mcp, allow_index=True, index_on_demand=True, start_daemon=False),
        embedder=replace(EmbedderSettings(), provider="none", prose=embeds),
        origins={},
    )
