"""Scans of the indexed texts: what is kept of a generation changes no result and is gone after a write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from atlas.code.atlas import Atlas
from atlas.code.lines import scan_texts as scans
from atlas.code.lines.scan_texts import IndexedText, TextScan, scan_texts
from atlas.code.reader import GenerationCache
from atlas.core.model import Filter

from .shop import FILES, PROJECT, fill

WHERE = Filter(project=PROJECT, include_tests=True)
PATTERN = re.compile(r"\breturn\b[^\n]*")


class Contents:
    """Counts the files whose content is read."""

    def __init__(self, shop: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: list[str] = []
        read = type(shop.reader.store).content

        async def content(store: object, project: str, paths: Sequence[str]) -> dict[str, bytes]:
            self.read += paths
            return await read(store, project, paths)  # type: ignore[arg-type]

        monkeypatch.setattr(type(shop.reader.store), "content", content)

    def since(self) -> set[str]:
        """Return the files since the last call."""
        found, self.read = set(self.read), []
        return found


def places(scan: TextScan) -> list[str]:
    return [each.place for each in scan.found]


def having(*needles: str) -> set[str]:
    return {path for path, text in FILES.items() if any(needle in text.lower() for needle in needles)}


async def test_a_text_is_read_once_for_the_scans_of_a_generation(shop: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = Contents(shop, monkeypatch)
    found = places(await scan_texts(shop.reader, WHERE, PATTERN, (b"return",)))
    assert found
    assert contents.since() >= having("return")
    assert places(await scan_texts(shop.reader, WHERE, PATTERN, (b"return",))) == found
    assert contents.since() == set()
    assert places(await scan_texts(shop.reader, replace(WHERE, include_tests=False), PATTERN, (b"return",))) == [
        each for each in found if not each.startswith("tests/")
    ]


async def test_files_without_a_line_of_a_constant_pattern_are_read_once(
    shop: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents, asked = Contents(shop, monkeypatch), (shop.reader, WHERE, PATTERN, (b"return",))
    found = places(await scan_texts(*asked))
    whole = contents.since()
    assert places(await scan_texts(*asked, is_constant=True)) == found
    assert contents.since() == whole
    assert places(await scan_texts(*asked, is_constant=True)) == found
    assert contents.since() == having("return") < whole
    other = re.compile(r"\bclass\b")
    assert places(await scan_texts(shop.reader, WHERE, other, (b"class",), is_constant=True))
    assert contents.since() == whole


@pytest.mark.parametrize("is_constant", [False, True])
async def test_what_is_kept_is_gone_after_a_write(
    shop: Atlas, monkeypatch: pytest.MonkeyPatch, *, is_constant: bool
) -> None:
    pattern, needles = re.compile(r"\bafterwards\b"), (b"afterwards",)
    assert not (await scan_texts(shop.reader, WHERE, pattern, needles, is_constant=is_constant)).found
    path = next(iter(having("class cart")))
    monkeypatch.setitem(FILES, path, f"{FILES[path]}\n# afterwards\n")
    (shop.reader.root / path).write_text(FILES[path])
    await fill(shop.reader.store, shop.reader.root)
    found = await scan_texts(shop.reader, WHERE, pattern, needles, is_constant=is_constant)
    assert [each.file.path for each in found.found] == [path]


async def test_what_is_kept_has_a_limit(shop: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = Contents(shop, monkeypatch)
    found = places(await scan_texts(shop.reader, WHERE, PATTERN, (b"return",)))
    whole = contents.since()
    monkeypatch.setattr(scans, "MAX_KEPT_BYTES", 200)
    fresh = replace(shop.reader, cache=GenerationCache())
    for _ in range(2):
        assert places(await scan_texts(fresh, WHERE, PATTERN, (b"return",))) == found
    kept = {path for path in whole if contents.read.count(path) == 1}
    assert kept
    assert sum(len(FILES[path].encode()) for path in kept) <= 200


@pytest.mark.parametrize("words", [["discount"], ["none of them"], ["discount", "print"], ["kart"], ["caf\xe9"]])
async def test_texts_without_any_of_some_words_are_left_out(
    shop: Atlas, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    path = next(iter(having("class cart")))
    monkeypatch.setitem(FILES, path, f"{FILES[path]}\n# \u212aart, caf\xe9\n")
    (shop.reader.root / path).write_text(FILES[path])
    await fill(shop.reader.store, shop.reader.root)

    def holds(text: str) -> bool:
        return any(word in text.lower() for word in words)

    expected = places(await scan_texts(shop.reader, WHERE, PATTERN, (b"return",), holds=holds))
    assert places(await scan_texts(shop.reader, WHERE, PATTERN, (b"return",), having=words)) == expected
    assert bool(expected) == (words != ["none of them"])


def test_line_breaks_of_other_systems_are_read_as_one_character() -> None:
    entry = scans.ScanEntry(is_test=False, path="a.py", language="python", size=9, is_generated=False)
    read = scans.indexed(entry, b"a\r\nb\rc\n")
    assert read == IndexedText("a.py", "a\nb\rc\n", is_test=False)
