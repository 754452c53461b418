"""Read the frames of tracebacks, as the common runtimes print them: file, line, and name of the function. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from atlas.core.lazy_regex import lazy_regex

_NAMED = tuple(
    lazy_regex(pattern)
    for pattern in (
        r'File "(?P<path>[^"\n]+)", line (?P<line>\d+), in (?P<name>[\w.<>]+)',
        r"\bat (?:async |new )?(?P<name>[\w$.<>\[\]#]+)(?: \[as [^\]\n]{0,200}\])? "
        r"\((?:[\w-]+://)?(?P<path>[^\s():]+):(?P<line>\d+)(?::\d+)?\)",
        r"\bat (?P<name>[\w$.<>/@-]+)\((?P<path>[^\s():]+):(?P<line>\d+)\)",
        r"\bat (?P<name>[\w$.<>`|+\[\],]+)\([^()\n]*\) in (?P<path>[^\n]{1,400}?):line (?P<line>\d+)",
        r"(?:\bfrom )?(?<![\w./@+-])(?P<path>[\w./@+-]{1,400}\.\w+):(?P<line>\d+):"
        r"in [`'](?:[\w ()]+ in )?(?P<name>[\w.:#?!=]+)'",
        r"#\d+ (?P<path>[^\s()]+)\((?P<line>\d+)\): (?P<name>[\w\\>:{}-]+)\(",
        r"#\d+ +(?:0x[0-9a-f]+ in )?(?P<name>[\w:~<>]+) ?\([^\n]{0,300}\) at (?P<path>[^\s:]+):(?P<line>\d+)",
        r"(?:\bcreated by )?(?<![\w./*()\[\]@~-])(?P<name>[\w.~-][\w./*()\[\]@%~-]{0,300}?)"
        r"(?:\([^()\n]*\)| in goroutine \d+)?\n\s+(?P<path>[^\s:]+):(?P<line>\d+)(?: \+0x[0-9a-f]+)",
        r"\d+: +(?:0x[0-9a-f]+ - )?(?P<name>[^\s:][^\n]{0,300})\n\s+at (?P<path>[^\s:]+):(?P<line>\d+)(?::\d+)?",
    )
)
_PLACE = lazy_regex(r"(?<![\w/.-])(?P<path>(?:[\w.@+-]*/)*[\w.@+-]+\.\w{1,5}):(?P<line>\d+)(?::\d+)?\b")
_UNNAMED = lazy_regex(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)')
_THREAD = lazy_regex(r"^goroutine \d+ \[[^\]\n]*\]:[ \t]*$|^stack backtrace:[ \t]*$", re.MULTILINE)
_ARGUMENTS = lazy_regex(r"<(?![^<>]*>[a-z]__)[^<>]*>|\[[^\[\]]*\]|`\d+")
"""Type arguments of a name, but for the name of a function that a compiler made a class of."""
_GENERATED = lazy_regex(r"<(\w+)>[a-z]__|lambda\$(\w+)\$\d+")
_CLOSURE = lazy_regex(r"func\d+|\d+|\{+\w*\}+|anonymous|lambda|locals|h[0-9a-f]{16}|gowrap\d+|", re.ASCII)
_NO_FUNCTION = lazy_regex(r"(?:Object\.)?<(?!(?:cl)?init>)\w+>")
"""The code of a file outside of functions, or a function without a name."""
_CONSTRUCTORS = frozenset(("init", "clinit", "ctor", "cctor"))
_SEPARATORS = lazy_regex(r"[.:>\\#/|+-]+|(?<=\w)\$(?=\w)")


@dataclass(frozen=True, slots=True)
class TracebackFrame:
    """A frame of a traceback: the file as it was installed, the line, and the last part of the function's name."""

    path: str
    line: int
    name: str
    """"" for a place without a function."""
    owner: str = ""
    """The part before: a type, module or package."""


def read_frames(text: str) -> Iterator[TracebackFrame]:
    """Yield the frames of a text, each place once: by form, those with a function first."""
    seen: set[tuple[str, int]] = set()
    for pattern in (*_NAMED, _UNNAMED, _PLACE):
        for match in pattern.finditer(text):
            place = (match["path"], int(match["line"]))
            if place not in seen:
                seen.add(place)
                yield TracebackFrame(*place, *_function(match["name"] if pattern in _NAMED else ""))
        text = pattern.sub(" ", text)


def without_frames(text: str) -> str:
    """Return a text without its frames."""
    text = _THREAD.sub(" ", text)
    for pattern in (*_NAMED, _UNNAMED, _PLACE):
        text = pattern.sub(" ", text)
    return text


def functions_only(text: str) -> str:
    """Return a text with the function's name in place of each frame: folders and files of frames do not count."""
    text = _THREAD.sub(" ", text)
    for pattern in _NAMED:
        text = pattern.sub(lambda match: f" {_function(match['name'])[0]} ", text)
    return _PLACE.sub(" ", _UNNAMED.sub(" ", text))


def _function(name: str) -> tuple[str, str]:
    """Return the function of a printed name and its owner; a closure counts as the function that it is in."""
    if generated := _GENERATED.search(name):
        owner = _parts(name[: generated.start()])
        return generated[1] or generated[2], owner[-1] if owner else ""
    if _NO_FUNCTION.fullmatch(name):
        return "", ""
    if name.startswith("<") and " as " in name:
        # `<T as Trait>::method`
        name = f"{name[1 : name.index(' as ')]}::{name.rpartition('>::')[2]}"
    parts = _parts(name)
    if len(parts) > 1 and parts[-1] in _CONSTRUCTORS and re.search(r"<\w+>$|\.\.c?ctor$", name):
        parts.pop()
    return (parts[-1], parts[-2] if len(parts) > 1 else "") if parts else ("", "")


def _parts(name: str) -> list[str]:
    """Return the parts of a name without type arguments and closures."""
    special = re.sub(r"<((?:cl)?init|anonymous|lambda|locals)>", r"\1", name)
    while (shorter := _ARGUMENTS.sub("", special)) != special:
        special = shorter
    parts = [part.strip("<>()*& `") for part in _SEPARATORS.split(special)]
    return [part for part in parts if not _CLOSURE.fullmatch(part)]
