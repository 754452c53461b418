"""Read the part of a project that a title names in front of a colon: `httputil: reject duplicate headers`. Pure.

Subjects of commits and titles of reports often start with a file, folder or package. It is a name of one word, so words
and vectors hardly see it.
"""

from __future__ import annotations

import re

FOLDER, PART = 0.5, 0.4
"""For files of a folder with the name, and files that have the name as a part of theirs."""
_TITLE = re.compile(
    r"(?:\[[^\]]{0,40}\]\s*)*"
    r"(?P<names>[\w.+/-]{2,60}(?:\([\w.+/, -]{1,40}\))?(?:(?:,\s?|:\s)[\w.+/-]{2,60}){0,2}):\s+\S"
)
_BETWEEN = re.compile(r"[,:()\s]+")
_NO_COMPONENT = re.compile(
    r"fix(es|ed)?|feat(ure)?|bug(fix)?|chore|refactor|perf|security|sec|usr|upstream|cve[-\d]*|(build|ci|style|revert)"
    r"|warnings?|errors?|notes?|issue|question|request|proposal|regression|crash|problem|help|idea|todo|update|expected"
    r"|actual|result|example|summary|description|title|steps|https?|\w+(error|exception|warning)|\d+",
    re.IGNORECASE,
)
"""Words before a colon that say what kind of text follows."""


def read_components(text: str) -> tuple[str, ...]:
    """Return the names in front of the first colon of a text, in lower case."""
    match = _TITLE.match(text)
    if match is None:
        return ()
    names = (name.strip("/.").lower() for name in _BETWEEN.split(match["names"]))
    return tuple(name for name in names if len(name) > 1 and not _NO_COMPONENT.fullmatch(name))


def component_share(path: str, components: tuple[str, ...]) -> float:
    """Return how well a path is that of one of the components, 0..1."""
    return max((_share(path.lower(), name) for name in components), default=0.0)


def _share(path: str, name: str) -> float:
    folders, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    if name in (file, stem):
        return 1.0
    if "/" in name and any(written.endswith(f"/{name}") for written in (f"/{path}", f"/{folders}/{stem}")):
        return 1.0
    if f"/{name}/" in f"/{folders}/":
        return FOLDER
    return PART if name in re.split(r"[_-]", stem) else 0.0
