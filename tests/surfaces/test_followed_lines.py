"""Commits that a question tells by lines of code: a value that stopped being one, a decorator, a name of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.changes.commit_topics import is_ended
from atlas.code.changes.package_history import find_replacement
from atlas.code.question.requests.several import read_requests
from atlas.code.reader import Reader
from atlas.code.tools.search.search import hybrid_search
from atlas.core.errors import HistoryError
from atlas.core.history import Commit, NameChange
from atlas.core.model import Filter
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository
from tests.surfaces.test_tools_impact import QUICK, indexed

_LENGTHS = (
    "DAY = 86_400\nYEAR = 365 * DAY\nMONTH = {}\n\n\ndef months_of_duration(seconds):\n    return seconds / MONTH\n"
)
_MAKER = (
    "import functools\n\n\nclass Maker:\n{}    def find_parcel_class(self, name):\n        return {{}}[name]\n\n"
    "    def make(self, name):\n        return self.find_parcel_class(name)()\n"
)
_FORMAT = "{}\n\n\ndef format_duration(text):\n    return {}.sub('', text)\n"


@pytest.fixture
async def atlas(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "shop")
    repository.commit(
        "Begin",
        {
            "shop/duration.py": _LENGTHS.format("30 * DAY"),
            "shop/maker.py": _MAKER.format(""),
            "shop/shared.py": "import re\n\nSIGNS = re.compile('Y{1,4}|M')\n",
            "shop/texts.py": _FORMAT.format("from shop.shared import SIGNS", "SIGNS"),
        },
    )
    repository.commit("Show the days of a month in the calendar", {"shop/calendar.py": "def days():\n    return 1\n"})
    repository.commit("fix: the month of durations (#7)", {"shop/duration.py": _LENGTHS.format("YEAR / 12")})
    repository.commit(
        "Speed up the maker of classes (#8)\n\nTo look for modules was slow.\n\n```\n1900 0.002 find_parcel_class\n```\n",
        {"shop/maker.py": _MAKER.format("    @functools.cache\n")},
    )
    repository.commit("Number the parcels", {"shop/parcels.py": "numbers = []\n"})
    repository.commit("Keep older versions working", {"shop/maker.py": _MAKER.format("    @functools.lru_cache\n")})
    repository.commit("Format texts of the shop", {"shop/calendar.py": "def days():\n    return '2'\n"})
    repository.commit(
        "Leave unknown signs (#9)",
        {
            "shop/texts.py": _FORMAT.format("import re\n\nDURATION_SIGNS = re.compile('Y')", "DURATION_SIGNS"),
            "shop/shared.py": "import re\n\nSIGNS = re.compile('YYYY|YY|M')\n",
        },
    )
    repository.commit("Add the flag --pack-zip", {"shop/zip.py": "def zip():\n    return 1\n"})
    repository.commit("Let an option --pack say how", {"shop/pack.py": "def pack():\n    return 1\n"})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        yield opened
    repository.close()


async def _said(atlas: Atlas, asked: str) -> str:
    return (await hybrid_search(atlas, asked)).render()


async def test_a_value_that_stopped_being_one_leads_to_the_line_and_what_replaced_it(atlas: Atlas) -> None:
    for asked in (
        "When did a month inside durations stop being counted as 30 days, and what replaced it?",
        "Which commit made the month of a duration no longer 30 days?",
    ):
        said = await _said(atlas, asked)
        first = said.partition("commits:")[2].splitlines()[1]
        assert "the month of durations (#7)" in first, said
        assert "30 * DAY" in said and "YEAR / 12" in said, "the line before and after"
        assert "\n2)" not in said, "what replaced it is said by the line"


async def test_a_decorator_leads_to_its_commit_the_motivation_and_what_changed_it_again(atlas: Atlas) -> None:
    said = await _said(
        atlas,
        "Lookups of the parcel class in the maker are memoised. Find the commit that introduced this and its stated"
        " motivation; was the decorator changed afterwards?",
    )
    assert "Speed up the maker of classes (#8)" in said.partition("commits:")[2].splitlines()[1], said
    assert "To look for modules was slow." in said and "1900 0.002" not in said, "the reason, without what it printed"
    assert "@functools.cache" in said
    later = said.partition("changed_later:")[2]
    assert "Keep older versions working" in later, said
    said = await _said(atlas, "Which commit made the month of a duration no longer 30 days, and was it changed since?")
    assert "no later commit changed these lines" in said


async def test_a_name_of_its_own_in_place_of_a_shared_one_leads_to_the_commit(atlas: Atlas) -> None:
    said = await _said(
        atlas, "Find the commit that made the duration format use its own signs instead of the shared SIGNS."
    )
    assert "Leave unknown signs (#9)" in said.partition("commits:")[2].splitlines()[1], said
    assert "DURATION_SIGNS" in said and "no message has all words" in said


async def test_the_name_of_a_flag_is_no_beginning_of_another_one(atlas: Atlas) -> None:
    for asked in ("when was the pack flag introduced", "since when is there a --pack flag"):
        said = await _said(atlas, asked)
        assert "Let an option --pack say how" in said and "--pack-zip" not in said, asked
    assert "Add the flag --pack-zip" in await _said(atlas, "which commit added the pack-zip option?")


def test_clauses_that_one_commit_answers_are_one_question() -> None:
    for asked in (
        "Lookups are cached. Find the commit that introduced this and its motivation; was that changed afterwards?",
        "When did a month stop being 30 days, and what replaced it?",
        "Which commit added the limit, and has it been changed since?",
    ):
        assert read_requests(asked) is None, asked
    assert read_requests("What does `Cart` do, and what replaced it?") is not None
    assert is_ended("When did it stop?") and not is_ended("When was it added?")


async def test_a_repository_that_borrows_objects_shows_the_code_of_today_and_what_to_do(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "shop")
    repository.commit(
        "Begin",
        {
            "shop/check.py": "class Check:\n    def within(self, items: list[int]) -> bool:\n        return 1 in items\n",
            "Package.swift": 'let package = Package(dependencies: [\n    .package(url: "https://e.org/swift-mail", exact: "1.0"),\n])\n',
        },
    )
    repository.close()
    await indexed(repository.root, tmp_path / "data")
    objects = tmp_path / "shop" / ".git" / "objects"
    objects.rename(tmp_path / "objects")
    (objects / "info").mkdir(parents=True)
    (objects / "info" / "alternates").write_text(f"{tmp_path / 'objects'}\n")
    settings = load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)
    async with open_atlas(settings) as opened:
        for asked in (
            "Why does Check.within demand a list and not any sequence? Commit and date please.",
            "who last changed Check.within",
        ):
            said = await _said(opened, asked)
            assert "no git history can be asked" in said and "git repack -a -d" in said, said
            assert "shop/check.py:2: def within(self, items: list[int])" in said, said
        said = await _said(opened, "In which commit did the manifest stop following the main branch of swift-mail?")
        assert 'Package.swift:2: .package(url: "https://e.org/swift-mail", exact: "1.0")' in said, said


async def test_a_replacement_that_git_cannot_say_is_left_out_aloud() -> None:
    class Broken:
        async def content(self, revision: str, paths: list[str]) -> dict[str, bytes]:
            raise HistoryError(f"{revision} is not here")

    commit = Commit("a" * 40, "Ada", 1, "Drop it")
    reader = cast("Reader", SimpleNamespace(history=Broken()))
    gone = NameChange(commit, "setup.py", is_added=False, is_file=False)
    lines = await find_replacement(reader, gone, "old", [], Filter(), 0)
    assert [each.group for each in lines] == ["left_out"] and "is not here" in lines[0].text
