"""Read a settings file: bytes -> (key, value, origin) of each setting, or the mistake that stands in its place.

The caller decides whether a mistake ends the command (the user's own file) or is ignored (a project's file, which
others wrote). Reading takes time in proportion to the file, whatever it holds.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from atlas.core.errors import ConfigError
from atlas.core.lazy_regex import lazy_regex
from atlas.runtime.config.keys import names_of, shown, spec_of, unknown, variable_of
from atlas.runtime.config.settings import SECTIONS
from atlas.runtime.process.files import read_file

MAX_FILE_BYTES = 64 * 1024
"""A larger atlas.toml is rejected without reading it."""

MAX_MISTAKES = 20
"""A file with more mistakes is not read further: each costs the search for a similar name."""

Entry = tuple[str, object, str] | ConfigError
"""Key, value and origin of a setting, or what is wrong there."""

REMOVED = {"store.data_dir": "Derived data is in the user's cache; --data-dir or ATLAS_DATA_DIR choose another folder."}
"""Former settings, and what to use instead."""

_DEEP_KEY = lazy_regex(r"""(?<![A-Za-z0-9_-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""")
"""A dotted key of 17 parts. No setting has one, and the TOML parser's memory grows with the square of the parts."""

_HEADER_LINE = lazy_regex(r"\s*+\[++\s*+([^\[\]]++)\]")
_KEY_LINE = lazy_regex(r"\s*+([\w.\"'-]++)\s*+=")


def own_entries(path: Path) -> Iterator[Entry]:
    """Yield what the user's own file holds; it may set everything but keys, which belong into the environment."""
    for entry in _entries(path, str(path), own=True):
        if isinstance(entry, tuple) and entry[1] and spec_of(entry[0]).metadata["key"]:
            key, _, origin = entry
            yield ConfigError(f"{origin}: {key} must not be in a file", f"Set {variable_of(key)} instead.")
        else:
            yield entry


def shared_entries(path: Path, user_file: Path) -> Iterator[Entry]:
    """Yield what a project's file holds. A setting that only the user may change is a mistake.

    A repository must not choose where data goes, what runs, or how many resources are used. Secrets come first: one in
    a repository is the most urgent mistake to report.
    """
    found = list(_entries(path, path.name, own=False))
    for entry in sorted(found, key=_is_no_secret):
        yield _if_shared(entry, user_file) if isinstance(entry, tuple) else entry


def _is_no_secret(entry: Entry) -> bool:
    return not (isinstance(entry, tuple) and spec_of(entry[0]).metadata["key"])


def _if_shared(entry: tuple[str, object, str], user_file: Path) -> Entry:
    key, value, origin = entry
    spec = spec_of(key)
    if not spec.metadata["shared"]:
        complaint = f"{key} cannot be set by a project's file"
    elif type(value) is int and type(spec.default) is int and value > spec.metadata["shared_high"]:
        complaint = f"a project's file cannot set {key} above {spec.metadata['shared_high']}"
    elif value is False and spec.default is True:
        complaint = f"a project's file cannot switch {key} off"
    else:
        return entry
    key_hint = " The key in this file is compromised: create a new one." if spec.metadata["key"] else ""
    return ConfigError(f"{origin}: {complaint}", f"Set {variable_of(key)} or put it into {user_file}.{key_hint}")


def _entries(path: Path, name: str, *, own: bool) -> Iterator[Entry]:
    """Yield the entries of a file, called `name` in origins; `own` requires that it belongs to this user."""
    try:
        text = read_file(path, MAX_FILE_BYTES, own=own).decode("utf-8")
        if _DEEP_KEY.search(text):
            raise ConfigError(f"{path} has a dotted key with too many parts", "See atlas.toml.example for the format.")
        import tomllib  # most commands read no file

        document = tomllib.loads(text)
    except ConfigError as error:
        yield error
    except OSError as error:
        if error.errno == errno.EFBIG:
            yield ConfigError(f"{path} is larger than {MAX_FILE_BYTES} bytes", "See atlas.toml.example.")
        else:
            hint = "It must be a regular file, not a link, that this user may read."
            yield ConfigError(f"cannot read {path}: {error.strerror}", hint)
    except UnicodeDecodeError:
        yield ConfigError(f"{path} is not UTF-8 text", "TOML files are UTF-8.")
    except (ValueError, RecursionError, MemoryError) as error:  # ValueError also for an integer of too many digits
        yield ConfigError(f"{path}: {shown(str(error))}", "See atlas.toml.example for the format.")
    else:
        yield from _settings(document, _lines(text), path, name)


def _settings(document: dict[str, object], lines: dict[str, int], path: Path, name: str) -> Iterator[Entry]:
    mistakes = 0
    for section, body in document.items():
        for entry in _section(section, body, lines, path, name):
            yield entry
            mistakes += isinstance(entry, ConfigError)
            if mistakes == MAX_MISTAKES:
                yield ConfigError(
                    f"{path} has too many mistakes; the rest of it is not read", "See atlas.toml.example."
                )
                return


def _section(section: str, body: object, lines: dict[str, int], path: Path, name: str) -> Iterator[Entry]:
    line = lines.get(section, 1)
    if section not in SECTIONS:
        yield unknown(section, f"{path}:{line}", list(SECTIONS), "section")
        return
    if not isinstance(body, dict):
        yield ConfigError(f"{name}:{line}: [{section}] must be a table", "See atlas.toml.example.")
        return
    known = names_of(section)
    for setting, value in cast("dict[str, object]", body).items():
        key = f"{section}.{setting}"
        place = lines.get(key, line)
        if key in REMOVED:
            yield ConfigError(f"{path}:{place}: {key} is not a setting", REMOVED[key])
        elif setting in known:
            yield key, value, f"{name}:{place}"
        else:
            yield unknown(key, f"{path}:{place}", [f"{section}.{one}" for one in known], "setting")


def _lines(text: str) -> dict[str, int]:
    """Return the 1-based line of each section and "section.key"; keys of inline tables have none of their own."""
    lines: dict[str, int] = {}
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER_LINE.match(line):
            current = header[1].strip().strip("\"'")
            lines.setdefault(current.partition(".")[0], number)
        elif key := _KEY_LINE.match(line):
            written = key[1].replace('"', "").replace("'", "")
            whole = f"{current}.{written}" if current else written
            lines.setdefault(whole, number)
            lines.setdefault(whole.partition(".")[0], number)
    return lines
