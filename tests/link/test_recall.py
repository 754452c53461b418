"""Facts that go from the cache straight to the linker: what is found, what is missing, and who wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas import _parser

LANGUAGES = _parser.Languages([str(Path(__file__).parents[2] / "atlas" / "languages")])
TEXTS = {"a.py": "class A:\n    def step(self): pass\n", "b.py": "from a import A\nA().step()\n", "c.py": "import b\n"}


def parse(path: str, text: str) -> _parser.ParsedFile:
    return _parser.parse_bytes(LANGUAGES, path, text.encode())


def digests(*files: _parser.ParsedFile) -> dict[str, str]:
    linker = _parser.Linker("p", LANGUAGES)
    linker.update(list(files))
    return linker.digests()


@pytest.fixture
def cache(tmp_path: Path) -> _parser.FactsCache:
    cache = _parser.FactsCache(str(tmp_path / "facts.bin"))
    cache.put([parse(path, text) for path, text in TEXTS.items()])
    return cache


def wanted() -> list[tuple[str, str]]:
    return [(path, _parser.content_digest(text.encode())) for path, text in TEXTS.items()]


def test_recalled_facts_link_like_parsed_ones(cache: _parser.FactsCache) -> None:
    linker = _parser.Linker("p", LANGUAGES)
    assert linker.recall(cache, wanted()) == []
    reported = linker.update([])
    assert linker.digests() == digests(*(parse(path, text) for path, text in TEXTS.items()))
    assert reported == ["", *sorted(TEXTS)]
    assert linker.update([]) == []


def test_missing_ones_are_named_in_order(cache: _parser.FactsCache) -> None:
    linker = _parser.Linker("p", LANGUAGES)
    asked = [("z.py", "0" * 32), ("b.py", "1" * 32), *wanted()[2:], ("a.py", "no digest")]
    assert linker.recall(cache, asked) == ["z.py", "b.py", "a.py"]
    linker.update([])
    assert sorted(linker.digests()) == ["", "c.py"]


def test_what_is_handed_in_wins(cache: _parser.FactsCache) -> None:
    linker = _parser.Linker("p", LANGUAGES)
    linker.recall(cache, wanted())
    newer = parse("a.py", "class A: pass\n")
    linker.update([newer], ["c.py"])
    assert linker.digests() == digests(newer, parse("b.py", TEXTS["b.py"]))


def test_a_closed_cache_says_so(cache: _parser.FactsCache) -> None:
    cache.close()
    with pytest.raises(ValueError, match="closed"):
        _parser.Linker("p", LANGUAGES).recall(cache, wanted())
