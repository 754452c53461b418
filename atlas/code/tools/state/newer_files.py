"""What an answer says about files that are newer than the index: their names, and where they mention what was asked.

Answers and paths come in, notes go out. Newer files are searched as text, because nothing in them is indexed yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from atlas.answers.answer import Answer
from atlas.answers.evidence import NewerFiles
from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.wording import counted
from atlas.parsing import read_path

SHOWN_FILES = 3
SHOWN_PLACES = 3
SHOWN_ENDINGS = 5
MAX_NAMES = 8
MAX_FILES = 200
MAX_BYTES = 4 << 20
"""Limits of the search in newer files: about 10 ms of reading."""
MAX_FILE_BYTES = 1 << 20

QUERY_SECONDS = 10.0
_CODE = "MATCH (n:Class|Function|Method|Value) RETURN n.uid LIMIT 1"
_NAME = lazy_regex(r"[^\W\d][\w$]*")


def newer_note(newer: NewerFiles, why: str) -> str:
    """Return which files are newer than the index, and why they are not indexed yet; "" if none is newer."""
    groups = (("new", newer.new), ("changed", newer.changed), ("deleted", newer.deleted))
    counts = ", ".join(f"{len(paths)} {kind}" for kind, paths in groups if paths)
    if not counts:
        return ""
    paths = newer.paths
    more = f" and {len(paths) - SHOWN_FILES} more" if len(paths) > SHOWN_FILES else ""
    reason = f"; {why}" if why else ""
    return f"files newer than the index: {counts} ({', '.join(paths[:SHOWN_FILES])}{more}){reason}"


async def has_code(reader: Reader) -> bool:
    """Return whether the index holds definitions of code. Raises what the store raises."""
    rows = (await reader.store.cypher(_CODE, {}, 1, QUERY_SECONDS, reader.project)).rows
    return bool(rows)


def unsupported_note(endings: Mapping[str, int]) -> str:
    """Return that no file of the project is in a supported language, with the most frequent endings; "" without any."""
    if not endings:
        return ""
    counts = ", ".join(f"{ending} {count}" for ending, count in list(endings.items())[:SHOWN_ENDINGS])
    more = f" and {counted(len(endings) - SHOWN_ENDINGS, 'more ending')}" if len(endings) > SHOWN_ENDINGS else ""
    return f"no code of this project is in a supported language: {counts}{more}; `atlas health` lists the languages"


def lacks_something(answer: Answer) -> bool:
    """Return whether newer files would change an answer: it found nothing, or cites a file that has changed."""
    return answer.result().is_empty or answer.evidence.freshness == "stale"


def asked_names(answer: Answer) -> tuple[str, ...]:
    """Return the names that an answer is about, without marks around them."""
    asked = answer.result().asked
    return tuple(dict.fromkeys(name.strip("`'\"?!,;()") for name in asked if name))[:MAX_NAMES]


def mention_notes(root: str, newer: NewerFiles, names: Sequence[str]) -> tuple[str, ...]:
    """Return one note per name that a newer file mentions. Reads the files; takes about 10 ms at most."""
    existing = (*newer.new, *newer.changed)
    notes = [
        f"`{path}` is {'not in the index yet' if path in newer.new else 'newer than the index'}"
        for path in existing
        if any(_names_file(name, path) for name in names)
    ]
    words = {found[-1]: name for name in names if (found := _NAME.findall(name)) and len(found[-1]) > 1}
    if not words or not existing:
        return tuple(notes)
    places = _places(root, existing, tuple(words))
    for word, found in places.items():
        more = f" and {len(found) - SHOWN_PLACES} more" if len(found) > SHOWN_PLACES else ""
        is_one = len({place.rpartition(":")[0] for place in found}) == 1
        whose = "which is not indexed yet" if is_one else "which are not indexed yet"
        notes.append(f"`{word}` appears in {', '.join(found[:SHOWN_PLACES])}{more}, {whose}")
    return tuple(notes)


def _places(root: str, paths: Iterable[str], words: Sequence[str]) -> dict[str, list[str]]:
    """Return the lines that contain each word, as `path:line`; omits words without any."""
    pattern = re.compile(rb"(?<![\w$])(?:" + b"|".join(re.escape(word.encode()) for word in words) + rb")(?![\w$])")
    found: dict[str, list[str]] = {}
    left = MAX_BYTES
    for path in tuple(paths)[:MAX_FILES]:
        content = read_path(root, path, MAX_FILE_BYTES) or b""
        left -= len(content)
        if left < 0:
            break
        for match in pattern.finditer(content):
            line = content.count(b"\n", 0, match.start()) + 1
            place = f"{path}:{line}"
            places = found.setdefault(match.group().decode("utf8", "replace"), [])
            if place not in places:
                places.append(place)
    return found


def _names_file(name: str, path: str) -> bool:
    file = name.partition("#")[0]
    head, colon, line = file.rpartition(":")
    file = head if colon and line.isdigit() else file
    return file == path or Path(path).name == file
