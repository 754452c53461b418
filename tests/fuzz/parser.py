"""The parser, in every language: any bytes become facts, which survive being written and read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from atlas._parser import ParsedFile, parse_bytes
from atlas.parsing import load_languages
from tests.fuzz.target import Target

CASES = Path(__file__).parents[1] / "languages"
SEPARATOR = b"\n"
"""An input begins with a line that holds the path."""


class Parser(Target):
    name = "parser"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._languages = load_languages()
        self._seeds = list(sources())

    def seeds(self) -> Sequence[bytes]:
        return self._seeds

    def check(self, data: bytes) -> str:
        first, _, source = data.partition(SEPARATOR)
        path = first.decode("utf-8", "replace") or "a.py"
        parsed = parse_bytes(self._languages, path, source)
        assert ParsedFile.from_bytes(parsed.to_bytes()).to_json() == parsed.to_json()
        return parsed.language or "unknown"


def sources() -> list[bytes]:
    """Code blocks of the language cases, each after a path of its language."""
    found: list[bytes] = []
    for case in sorted(CASES.rglob("*.md")):
        path, block = b"", []
        inside = False
        for line in case.read_bytes().splitlines(keepends=True):
            if line.startswith(b"```"):
                if inside and path:
                    found.append(path + SEPARATOR + b"".join(block))
                inside, block = not inside, []
                words = line[3:].split()
                path = words[1] if inside and len(words) == 2 and words[0] != b"expect" else b""
            elif inside:
                block.append(line)
        found.append(b"docs/" + case.name.encode() + SEPARATOR + case.read_bytes()[:8000])
    return found
