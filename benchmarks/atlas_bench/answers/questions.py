"""Question files: TOML in, checked questions out; every mistake is reported with its line.

A file describes one package (`[package]`) and the questions about it (`[[question]]`). tests/bench/answers/README.md
documents the format. The files are data of the user: nothing in them is executed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from atlas.core.errors import ConfigError

SETS = (
    "callers",
    "callees",
    "call-sites",
    "tests",
    "subtypes",
    "supertypes",
    "overrides",
    "importers",
    "documents",
    "routes",
    "dependencies",
    "unused",
    "ambiguous",
)
"""Kinds whose answer is a set: gold must be complete, and other places are wrong."""
INSIDE = ("definition", "concept", "reason", "configuration", "error-text", "recent")
"""Kinds whose answer is one place (or any of several) to read first."""
CHAINS = ("path", "impact")
"""Kinds whose gold is the part that no right answer lacks; more may be named."""
MISSING = "missing"
"""Questions about a name that does not exist."""
KINDS = (*SETS, *INSIDE, *CHAINS, MISSING)

HEADER = re.compile(r"^\s*\[\[question\]\]", re.MULTILINE)
LINES = r"\d{1,7}(?:-\d{1,7})?"
GOLD = re.compile(rf"(?P<path>[^\s:]+)(?::(?P<lines>{LINES}(?:,{LINES})*))?(?:\s+(?P<name>\S+))?")
LONGEST_RANGE = 10_000
QUESTION_WORD = re.compile(
    "a|all|and?|are|by|call(ed|ees|ers|ing|s)?|class(es)?|covers?|defined?|do(es)?|every|extends?|find|for|from|"
    "functions?|how|implement(s|ations|ors)?|imports?|in|is|it|list|methods?|of|on|or|places|show|sites|subclasses|"
    "test(ed|s)?|that|the|to|use[ds]?|what|where|which|who|with",
    re.IGNORECASE,
)
"""Words around a name that are not part of the search pattern."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place of a right (or forbidden) answer; without lines and name it is the whole file, or a folder ("src/")."""

    path: str
    lines: frozenset[int] = frozenset()
    name: str = ""

    def __str__(self) -> str:
        """Return the place as question files write it, with the lines in order."""
        lines = f":{','.join(map(str, sorted(self.lines)))}" if self.lines else ""
        return f"{self.path}{lines} {self.name}".rstrip()


@dataclass(frozen=True, slots=True)
class Question:
    """One question, and what a right answer names."""

    kind: str
    ask: str
    gold: tuple[Place, ...] = ()
    none: bool = False
    """The right answer is that there is nothing."""
    near: tuple[str, ...] = ()
    """Names that an answer about a missing symbol suggests; one of them is enough."""
    says: str = ""
    """Regular expression that the text of a right answer contains, for answers that are not places."""
    allowed: tuple[Place, ...] = ()
    """Places that count neither for nor against."""
    forbidden: tuple[Place, ...] = ()
    """Places that only a wrong answer names."""
    grep: str = ""
    """Pattern with which a competent reader would search; default: the longest name in the question."""
    line: int = 0
    """Line of the question file."""

    @property
    def pattern(self) -> str:
        """Return the pattern for grep and other commands."""
        return self.grep or longest_name(self.ask)


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """One package and its questions. `sha256` is the digest of the archive that `archive` names."""

    path: Path
    name: str
    version: str
    language: str
    questions: tuple[Question, ...]
    registry: str = ""
    package: str = ""
    archive: str = ""
    sha256: str = ""
    include: tuple[str, ...] = ()


def longest_name(ask: str) -> str:
    """Return what looks most like a name: the longest with inner capitals, underscores or digits, else any."""
    quoted = re.findall(r"[`'\"]([^`'\"]+)[`'\"]", ask)
    words = re.findall(r"[A-Za-z_$][\w$]*", " ".join(quoted) or ask)
    names = [word for word in words if re.search(r"_|\d|[a-z][A-Z]", word)]
    others = [word for word in words if not QUESTION_WORD.fullmatch(word)]
    return max(names or others or words, key=len, default=ask)


def load(paths: Sequence[Path], *, may_be_empty: bool = False) -> list[QuestionFile]:
    """Read question files, and those of folders, in order. Raises ConfigError with file and line.

    `may_be_empty`: a file may describe its package only.
    """
    files: list[Path] = []
    for path in paths:
        found = sorted(path.glob("*.toml")) if path.is_dir() else [path]
        if not found:
            raise ConfigError(f"no question files (*.toml) in {path}", "Give a question file or a folder of them.")
        files += found
    return [read(path, may_be_empty=may_be_empty) for path in files]


def read(path: Path, *, may_be_empty: bool = False) -> QuestionFile:
    """Read one question file. Raises ConfigError with file and line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}", "Give a question file (TOML, UTF-8).") from error
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}", "The file has to be valid TOML.") from error
    lines = [text.count("\n", 0, match.start()) + 1 for match in HEADER.finditer(text)]
    return _Reader(path, lines).file(document, may_be_empty=may_be_empty)


class _Reader:
    """Checks the values of one file; `lines` are those of the `[[question]]` headers."""

    def __init__(self, path: Path, lines: Sequence[int]) -> None:
        self._path, self._lines = path, lines

    def file(self, document: Mapping[str, Any], *, may_be_empty: bool) -> QuestionFile:
        self._known(document, ("package", "question"), 1, "the file")
        package, rows = document.get("package"), document.get("question", [] if may_be_empty else None)
        if not isinstance(package, dict):
            raise self._error(1, "no [package] table with name, version and language")
        if not isinstance(rows, list) or not (rows or may_be_empty):
            raise self._error(1, "no [[question]]")
        about = cast(dict[str, Any], package)
        words = ("name", "version", "language", "registry", "package", "archive", "sha256")
        self._known(about, (*words, "include"), 1, "[package]")
        values = {word: self._text(about, word, 1) for word in words}
        for word in ("name", "version", "language"):
            if not values[word]:
                raise self._error(1, f"[package] has no {word}")
        if values["sha256"] and not re.fullmatch(r"[0-9a-f]{64}", values["sha256"]):
            raise self._error(1, "sha256 is not 64 hexadecimal digits")
        questions = cast(list[dict[str, Any]], rows)
        at = [self._lines[number] if number < len(self._lines) else 1 for number in range(len(questions))]
        return QuestionFile(
            path=self._path,
            include=self._texts(about, "include", 1),
            questions=tuple(self._question(row, line) for row, line in zip(questions, at, strict=True)),
            **values,
        )

    def _question(self, row: Mapping[str, Any], line: int) -> Question:
        known = ("kind", "ask", "gold", "none", "near", "says", "allowed", "forbidden", "grep")
        self._known(row, known, line, "a question")
        kind, ask, none = self._text(row, "kind", line), self._text(row, "ask", line), row.get("none", False)
        if kind not in KINDS:
            raise self._error(line, f"unknown kind '{kind}'", f"Kinds: {', '.join(KINDS)}.")
        if not ask.strip():
            raise self._error(line, "the question has no text (`ask`)")
        if not isinstance(none, bool):
            raise self._error(line, "`none` is not true or false")
        gold, says = self._places(row, "gold", line), self._text(row, "says", line)
        is_none = none or kind == MISSING
        if is_none == bool(gold or says):
            raise self._error(line, f"'{ask}' needs either `gold` (or `says`) or `none = true`")
        try:
            re.compile(says)
        except re.error as error:
            raise self._error(line, f"`says` is not a regular expression: {error}") from error
        return Question(
            kind,
            ask,
            gold,
            is_none,
            self._texts(row, "near", line),
            says,
            self._places(row, "allowed", line),
            self._places(row, "forbidden", line),
            self._text(row, "grep", line),
            line,
        )

    def _places(self, row: Mapping[str, Any], key: str, line: int) -> tuple[Place, ...]:
        return tuple(self._place(text, key, line) for text in self._texts(row, key, line))

    def _place(self, text: str, key: str, line: int) -> Place:
        match = GOLD.fullmatch(text)
        if match is None or match["path"].startswith("/") or ".." in match["path"].split("/"):
            raise self._error(line, f"`{key}`: '{text}' is not `path`, `path:line,line` or `path:line name`")
        numbers: set[int] = set()
        for part in (match["lines"] or "").split(",") if match["lines"] else ():
            first, _, last = part.partition("-")
            if int(last or first) - int(first) > LONGEST_RANGE:
                raise self._error(line, f"`{key}`: the range {part} is too long")
            numbers |= set(range(int(first), int(last or first) + 1))
        return Place(match["path"], frozenset(numbers), match["name"] or "")

    def _text(self, row: Mapping[str, Any], key: str, line: int) -> str:
        value = row.get(key, "")
        if not isinstance(value, str):
            raise self._error(line, f"`{key}` is not a text")
        return value

    def _texts(self, row: Mapping[str, Any], key: str, line: int) -> tuple[str, ...]:
        value = row.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in cast(list[object], value)):
            raise self._error(line, f"`{key}` is not a list of texts")
        return tuple(cast(list[str], value))

    def _known(self, row: Mapping[str, Any], names: Sequence[str], line: int, what: str) -> None:
        if unknown := sorted(set(row) - set(names)):
            raise self._error(line, f"{what} has no `{unknown[0]}`", f"Known: {', '.join(names)}.")

    def _error(self, line: int, message: str, hint: str = "") -> ConfigError:
        return ConfigError(f"{self._path}:{line}: {message}", hint or "docs: tests/bench/answers/README.md.")
