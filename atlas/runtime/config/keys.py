"""Names of settings and checks of single values: what `settings.py` declares, and ConfigErrors that name the origin.

Names and values come from files that others wrote: messages show them in one line, escaped and cut.
"""

from __future__ import annotations

import difflib
from dataclasses import fields
from pathlib import PurePosixPath
from typing import Any, cast

from atlas._parser import glob_problem
from atlas.core.errors import ConfigError
from atlas.core.ids import project_name
from atlas.runtime.config.settings import SECTIONS

_SHOWN = 80
"""Characters of a name or value in a message; longer ones are cut, which also bounds the search for similar names."""


def names_of(section: str) -> list[str]:
    """Return the names of a section's settings."""
    return [spec.name for spec in fields(SECTIONS[section])]


def spec_of(key: str) -> Any:
    """Return the declaration of "section.name"."""
    section, _, name = key.partition(".")
    return next(spec for spec in fields(SECTIONS[section]) if spec.name == name)


def variable_of(key: str) -> str:
    """Return the environment variable of a setting."""
    return f"ATLAS_{key.replace('.', '_')}".upper()


def help_of(key: str) -> str:
    """Return the help text of a setting."""
    return str(spec_of(key).metadata["help"])


def unknown(key: str, place: str, known: list[str], kind: str) -> ConfigError:
    """Return the error for an unknown name, with a similar known one."""
    near = difflib.get_close_matches(key[:_SHOWN], known, 1, cutoff=0.4)
    hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known)}."
    return ConfigError(f"{place}: unknown {kind} {shown(key)}", hint)


def shown(text: str) -> str:
    """Return a name as one printable line of bounded length."""
    cut = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
    return cut if cut.isprintable() else ascii(cut)[1:-1]


def checked(key: str, value: object, origin: str) -> object:
    """Return the value in the setting's type, or raise ConfigError that names its origin."""
    spec = spec_of(key)
    if isinstance(spec.default, tuple):
        if not isinstance(value, list) or not all(isinstance(one, str) for one in cast("list[object]", value)):
            raise ConfigError(f"{origin}: {key} must be a list of strings", help_of(key))
        entries = tuple(cast("list[str]", value))
        for entry in entries if spec.metadata["choices"] else ():
            _check_choice(key, entry, origin)
        if key.startswith("scope."):
            _check_globs(key, entries, origin)
        return entries
    if type(value) is not type(spec.default):
        wanted = {bool: "true or false", int: "a whole number", str: "a string"}[type(spec.default)]
        found = "" if spec.metadata["secret"] else f", not {_written(value)}"
        raise ConfigError(f"{origin}: {key} must be {wanted}{found}", help_of(key))
    low, high = spec.metadata["low"], spec.metadata["high"]
    if isinstance(value, int) and (low or high) and not low <= value <= high:
        raise ConfigError(f"{origin}: {key} must be between {low} and {high}, not {_written(value)}", help_of(key))
    if isinstance(value, str) and spec.metadata["choices"]:
        _check_choice(key, value, origin)
    if key == "project.name" and value and project_name(PurePosixPath(str(value)[: _SHOWN * 4])) != value:
        message = f"{origin}: project.name may contain only letters, digits and . _ -: {_written(value)}"
        raise ConfigError(message, help_of(key))
    return value


def _check_globs(key: str, globs: tuple[str, ...], origin: str) -> None:
    for glob in globs:
        if ".." in PurePosixPath(glob).parts:
            raise ConfigError(f"{origin}: {key} must stay inside the project: {_written(glob)}", help_of(key))
    if globs and (problem := glob_problem(globs)):
        raise ConfigError(f"{origin}: {key}: {shown(problem)}", help_of(key))


def _check_choice(key: str, value: str, origin: str) -> None:
    choices: tuple[str, ...] = spec_of(key).metadata["choices"]
    if value not in choices:
        near = difflib.get_close_matches(value[:_SHOWN], choices, 1)
        hint = f"Did you mean {near[0]!r}?" if near else help_of(key)
        raise ConfigError(f"{origin}: {key} must be one of {', '.join(choices)}, not {_written(value)}", hint)


def _written(value: object) -> str:
    """Return a value as it could stand in a file."""
    try:
        text = ascii(value[: 4 * _SHOWN] if isinstance(value, str) else value)
    except (ValueError, RecursionError):  # Python refuses to write integers of more than 4,300 digits
        return "a value too long to be shown"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
