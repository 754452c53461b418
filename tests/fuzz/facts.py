"""The fact cache: a file of any bytes gives what was put or nothing, and takes new facts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from atlas._parser import FactsCache, ParsedFile, parse_bytes
from atlas.parsing import load_languages
from tests.fuzz.target import Target


class Facts(Target):
    name = "facts"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        languages = load_languages()
        sources = [(f"pkg/m{number}.py", f"def f{number}(): return g({number})\n" * number) for number in range(6)]
        self._files = [parse_bytes(languages, path, text.encode()) for path, text in sources]
        self._new = parse_bytes(languages, "new.py", b"x = 1\n")
        self._seeds = [self._written(self._files[:count]) for count in (0, 1, 3, 6)]
        self._seeds += [file.to_bytes() for file in self._files]

    def seeds(self) -> Sequence[bytes]:
        return self._seeds

    def check(self, data: bytes) -> str:
        place = self.folder / "facts"
        place.write_bytes(data)
        cache = FactsCache(str(place))
        found = cache.get([(file.path, file.digest) for file in self._files])
        for file, cached in zip(self._files, found, strict=True):
            assert cached is None or cached.to_bytes() == file.to_bytes()
        cache.put([self._new])
        cache.close()
        reopened = FactsCache(str(place))
        assert [one is not None for one in reopened.get([(self._new.path, self._new.digest)])] == [True]
        reopened.close()
        try:
            ParsedFile.from_bytes(data).to_json()
        except ValueError:
            return "some" if any(found) else "none"
        return "facts"

    def _written(self, files: Sequence[ParsedFile]) -> bytes:
        place = self.folder / "seed"
        place.unlink(missing_ok=True)
        cache = FactsCache(str(place))
        cache.put(files)
        cache.close()
        return place.read_bytes()
