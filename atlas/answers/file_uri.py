"""`file://` URIs of editors in arguments that name a file -> paths relative to the project's root."""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from typing import cast
from urllib.parse import unquote, urlsplit

from atlas.answers.tool import Schema
from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex

_LINE = lazy_regex(r"L?(\d{1,9})\b")
_LOCAL = ("", "localhost")


def without_uris(schemas: Mapping[str, Schema], arguments: Mapping[str, object], root: str) -> dict[str, object]:
    """Return the arguments with paths instead of URIs. Raises ConfigError for a URI outside the project."""
    return {name: _path(schemas.get(name, {}), value, root) for name, value in arguments.items()}


def _path(schema: Schema, value: object, root: str) -> object:
    if isinstance(value, list):
        return [_path(schema.get("items", {}), item, root) for item in cast("list[object]", value)]
    if not schema.get("place") or not isinstance(value, str) or value.lstrip()[:7].lower() != "file://":
        return value
    return relative(value.strip(), root)


def relative(uri: str, root: str) -> str:
    """Return the path of a URI relative to `root`, with the line of its fragment (`#L12`) as `:12`.

    Nothing is read but links on the way to the file. Raises ConfigError for a path outside `root`.
    """
    try:
        named, fragment = local_path(uri)
        inside = _below(named, root) or _below(os.path.realpath(named), os.path.realpath(root))
    except ValueError:
        inside, fragment = None, ""
    if inside is None:
        message = f"path `{uri[:200]}` is outside the project"
        raise ConfigError(message, "give a path relative to the project's root")
    line = _LINE.match(fragment)
    return f"{inside}:{line[1]}" if line else inside


def local_path(uri: str) -> tuple[str, str]:
    """Return the absolute path and the fragment of a URI. Raises ValueError unless it names a file of this machine."""
    parts = urlsplit(uri)
    path = unquote(parts.path)
    if parts.scheme != "file" or parts.netloc.lower() not in _LOCAL or not path.startswith("/") or "\0" in path:
        raise ValueError(f"{uri[:200]} names no file of this machine")
    return os.path.normpath(path), parts.fragment


def _below(path: str, root: str) -> str | None:
    if path == root:
        return "."
    return path[len(root.rstrip("/")) + 1 :] if path.startswith(root.rstrip("/") + "/") else None
