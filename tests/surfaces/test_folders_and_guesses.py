"""Folders behind a name, overriders of a name that few have, tests that write a code, ways to what is only described."""

from __future__ import annotations

import pytest

from atlas.answers.evidence import LINES_HEADING
from atlas.code.atlas import Atlas
from atlas.code.question.grammar import find_relation
from atlas.code.question.relation_kinds import Kind
from atlas.code.question.requests.ends import PathEnds, read_path_ends
from atlas.code.question.unaccounted import WordsLeft, find_unaccounted
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "shop/__init__.py": "",
    "shop/words/__init__.py": "",
    "shop/words/text.py": (
        "def tidy(value):\n    return value.strip()\n\n\ndef tidy_all(values):\n    return [tidy(each) for each in values]\n"
    ),
    "shop/pages/__init__.py": "",
    "shop/pages/filters.py": (
        "from shop.words.text import tidy as _tidy\n\n\ndef tidy(value):\n    return _tidy(value)\n\n\n"
        "def heading(value):\n    return tidy(value)\n"
    ),
    "shop/stock.py": (
        "class Stock:\n    def fetch(self, keys):\n        return {}\n\n    def keep(self):\n        return 1\n\n\n"
        "class DiskStock(Stock):\n    def fetch(self, keys):\n        return {'disk': keys}\n\n\n"
        "class NoStock(Stock):\n    pass\n"
    ),
    "tests/test_stock.py": (
        "from shop.stock import Stock\n\n\nclass FakeStock(Stock):\n    def fetch(self, keys):\n        return None\n\n\n"
        "def test_fake():\n    assert FakeStock().keep() == 1\n"
    ),
    "shop/failures.py": (
        "PARCEL_TOO_HEAVY = 'PARCEL_TOO_HEAVY'\n\n\ndef heavy_parcel(weight):\n"
        "    return {'code': PARCEL_TOO_HEAVY, 'weight': weight}\n\n\n"
        "def lost_parcel():\n    return {'code': 'lost'}\n\n\n"
        "def weigh(parcel):\n    if parcel.weight > 9:\n        return heavy_parcel(parcel.weight)\n    return lost_parcel()\n"
    ),
    "tests/samples/parcel_heavy/test_config.py": "def test_config(run):\n    assert run()['code'] == 'PARCEL_TOO_HEAVY'\n",
    "shop/tables.py": "DECODERS = {'zip': 1, 'tar': 2}\n",
    "shop/client.py": (
        "from shop.tables import DECODERS\n\nACCEPTED = ', '.join(\n    [key for key in DECODERS if key != 'tar']\n)\n\n\n"
        "def headers():\n    return {'accept': ACCEPTED}\n\n\ndef decoder(name):\n    return DECODERS[name]\n"
    ),
    "shop/levels.py": (
        "def level_to_log(level):\n    return level\n\n\ndef _redirect(level):\n    return level_to_log(level)\n\n\n"
        "def redirect_std(level):\n    return _redirect(level)\n"
    ),
    "shop/sinks.py": (
        "class Settings:\n    def build(self):\n        return self.open_sinks()\n\n    def open_sinks(self):\n"
        "        return open_all(['a'])\n\n\ndef open_all(paths):\n    '''Opening a log file on disk for each path.'''\n"
        "    return [new_sink(path) for path in paths]\n\n\n"
        "def new_sink(path):\n    return new_file_sink(path)\n\n\n"
        "def new_file_sink(path):\n    '''A file on disk.'''\n    return path\n"
    ),
    "shop/errors.py": (
        "class LoadError(Exception):\n    pass\n\n\ndef load(path):\n    raise LoadError(path)\n\n\n"
        "def start(path):\n    try:\n        return load(path)\n    except LoadError:\n        return None\n\n\n"
        "def describe():\n    return LoadError.__name__\n"
    ),
    "tests/test_errors.py": (
        "from shop.errors import LoadError, start\n\n\ndef test_start():\n    assert start('a') is not LoadError\n"
    ),
    "package.json": '{"name": "shop", "devDependencies": {"mockery": "1.0.0"}}\n',
    "go.mod": "module example.com/shop\n\ngo 1.21\n\nrequire google.golang.org/grpc v1.56.3\n",
    "lib/index.test.js": "const mockery = require('mockery');\nmockery.enable();\n",
    "lib/other.test.js": "function enable() {\n  return 'mockery is not used here';\n}\nmodule.exports = enable;\n",
}


async def said(atlas: Atlas, question: str) -> str:
    answer = (await hybrid_search(atlas, question)).render()
    return answer.partition(LINES_HEADING)[0]


@pytest.mark.parametrize(
    "asked",
    ["who calls tidy in shop/pages", "callers of tidy (only shop/pages)", "does anything in shop/pages call tidy"],
)
async def test_a_folder_behind_a_name_limits_what_leads_to_it(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "in shop/pages: 2 of 3" in answer, answer
    assert "heading 9" in answer and "tidy 5" in answer and "tidy_all" not in answer, answer


async def test_a_file_behind_a_name_is_that_of_the_symbol_and_its_own_callers_are_counted(atlas: Atlas) -> None:
    answer = await said(atlas, "callers of tidy in shop/words/text.py")
    assert "callers of function shop.words.text.tidy shop/words/text.py:1: 2" in answer
    assert "1 of these is in shop/words/text.py: tidy_all 6" in answer
    answer = await said(atlas, "callers of tidy in shop/words/text.py only")
    assert "in shop/words/text.py: 1 of 3" in answer, answer


@pytest.mark.parametrize(
    "asked",
    [
        "what overrides fetch",
        "which subclasses override fetch",
        "which subclasses of Stock override fetch",
        "who overrides Stock.fetch",
    ],
)
async def test_a_method_and_its_overriders_are_not_several_methods(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "overrides of method shop.stock.Stock.fetch shop/stock.py:2: 2" in answer, answer
    assert "DiskStock.fetch 10" in answer and "FakeStock.fetch 5" in answer, answer


async def test_what_a_scope_leaves_out_overrides_as_well(atlas: Atlas) -> None:
    answer = await said(atlas, "which classes in the main sources override fetch(), and what do they return")
    assert "outside tests: 1 of 2" in answer, answer
    assert "DiskStock.fetch 10 (override 0.97): def fetch(self, keys): return {'disk': keys}" in answer
    assert "FakeStock" not in answer, "it overrides the method, and does not inherit it"
    answer = await said(atlas, "which classes do not override fetch")
    assert "without an override: 1" in answer and "NoStock 14" in answer, answer


@pytest.mark.parametrize(
    "asked", ["tests of heavy_parcel", "which test samples assert the error made by heavy_parcel?"]
)
async def test_tests_that_write_a_code_are_no_absence(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "unknown rather than none" in answer, answer
    assert (
        "`PARCEL_TOO_HEAVY`, which it uses, stands in 1 line of tests: tests/samples/parcel_heavy/test_config.py:2"
        in answer
    )
    answer = await said(atlas, "tests of lost_parcel")
    assert "stands in" not in answer


@pytest.mark.parametrize(
    "asked",
    ["If level_to_log were to change, which functions would notice?", "who would notice a change of level_to_log"],
)
async def test_what_notices_a_change_is_what_it_affects(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "impact of function shop.levels.level_to_log" in answer
    assert "redirect_std" in answer, "two calls away"


@pytest.mark.parametrize(
    "asked",
    ["what would be affected if I added an entry to DECODERS?", "what breaks if I remove an entry from DECODERS"],
)
async def test_an_impact_follows_a_value_into_the_constants_made_of_it(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "headers 9: return {'accept': ACCEPTED} < ACCEPTED" in answer, answer
    assert "decoder 13: return DECODERS[name]" in answer


@pytest.mark.parametrize(
    ("asked", "ends"),
    [
        (
            "Through which calls does Settings.build get to opening a log file?",
            ("Settings.build", "opening a log file"),
        ),
        ("Trace how Settings.build ends up in the file on disk.", ("Settings.build", "the file on disk")),
        ("How does it get to the file of Settings.build?", ("it", "")),
        ("How does the cache get to the disk?", ("", "")),
        ("how does open_all reach new_sink", ("", "")),
    ],
)
def test_a_way_may_have_one_end_with_a_name(asked: str, ends: tuple[str, str]) -> None:
    expected = PathEnds(*ends) if all(ends) else None
    assert read_path_ends(asked) == expected


async def test_of_several_guesses_the_one_behind_the_others_ends_a_way(atlas: Atlas) -> None:
    answer = await said(atlas, "Through which calls does Settings.build get to opening a log file on disk?")
    assert (
        '"opening a log file on disk" (a guess: function shop.sinks.new_file_sink shop/sinks.py:18): 4 steps' in answer
    )
    assert "new_sink 11" in answer and "open_all 6" in answer


async def test_to_handle_an_exception_is_to_catch_it(atlas: Atlas) -> None:
    answer = await said(atlas, "where is LoadError handled?")
    assert "in lines that catch it: 1 of" in answer and "start 12" in answer, answer
    assert "describe" not in answer
    answer = await said(
        atlas, "Where is LoadError raised, where does the library handle it, and which test checks for it?"
    )
    assert "2) where does the library catch LoadError" in answer, answer
    assert "tests of class shop.errors.LoadError" in answer and "test_start 5" in answer, answer


async def test_what_is_done_by_means_of_a_package_is_done_by_what_imports_it(atlas: Atlas) -> None:
    for asked in ("Which test files stub modules by means of mockery?", "which tests fake modules with mockery"):
        answer = await said(atlas, asked)
        assert "imported by 1 file" in answer and "lib/index.test.js" in answer, answer
        assert "lib/other.test.js" not in answer, answer
    asked = "mockery is declared as a development requirement. Does any module of shop import it itself?"
    assert "mockery: declared by 1 project; imported by 1 file" in await said(atlas, asked)


async def test_a_language_in_the_name_of_a_package_is_not_asked_for(atlas: Atlas) -> None:
    answer = await said(atlas, "grpc-go version the gRPC client is tested against; which go.mod pins it?")
    assert "google.golang.org/grpc" in answer and "v1.56.3" in answer and "Go: 1.21" not in answer, answer
    assert "Go: 1.21" in await said(atlas, "which go version is needed")


def test_plans_and_remarks_are_no_words_of_a_relation() -> None:
    asked = "I want to add a third parameter to the Python function level_to_log. Who calls it today?"
    found = find_relation(asked)
    assert found is not None and (found.kind, found.name) == (Kind.CALLERS, "level_to_log")
    assert find_unaccounted(asked, found) == WordsLeft()
    found = find_relation("Tests and benchmarks that cover open_all")
    assert found is not None and (found.kind, found.name) == (Kind.TESTS, "open_all")
    found = find_relation(
        "What tests would exercise a change of how it decides (open_all)? Direct and through callers."
    )
    assert found is not None and (found.kind, found.direct) == (Kind.TESTS, False)
