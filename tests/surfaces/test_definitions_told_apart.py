"""Several definitions of one name, places that write and read a value, and names that nothing has."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.graph.absence.accesses import LineAccess, access_at
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "Sources/Shop/Secrets.swift": (
        "struct Secrets {\n    static func load(path: String) -> String? {\n        return path\n    }\n\n"
        "    static func load(key: String) -> String? {\n        return load(path: key)\n    }\n\n"
        "    static func store(key: String) -> String? {\n        return key\n    }\n}\n"
    ),
    "Tests/ShopTests/SecretsTests.swift": (
        "import Testing\n@testable import Shop\n\nstruct SecretsTests {\n    @Test func testPath() {\n"
        '        #expect(Secrets.load(path: "a") == "a")\n    }\n\n    @Test func testKey() {\n'
        '        #expect(Secrets.load(key: "a") == "a")\n    }\n}\n'
    ),
    "Sources/Shop/Box.swift": (
        "final class Shop {\n    let openAddress: Box<Int>\n    var parcels: [Int] = []\n\n    init() {\n"
        "        self.openAddress = Box(0)\n    }\n\n    func start(port: Int) {\n"
        "        self.openAddress.withLockedValue { $0 = port }\n    }\n\n    func port() -> Int {\n"
        "        return self.openAddress.withLockedValue { $0 }\n    }\n\n    func later(port: Int) {\n"
        "        self.openAddress.withLockedValue { held in\n            held += port\n        }\n    }\n\n"
        "    func send(parcel: Int) {\n        self.parcels.append(parcel)\n    }\n\n"
        "    func count() -> Int {\n        return self.parcels.count\n    }\n}\n"
    ),
    "Tests/ShopTests/BoxTests.swift": (
        "import Testing\n@testable import Shop\n\nstruct BoxTests {\n    @Test func testOpen() {\n"
        "        #expect(Shop().openAddress.withLockedValue { $0 } == 0)\n    }\n}\n"
    ),
    "shop/till.py": (
        "class Till:\n    def __init__(self):\n        self._cash_total = 0\n\n    def pay(self, sum):\n"
        "        self._cash_total += sum\n\n    def show(self):\n        return self._cash_total\n"
    ),
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


@pytest.mark.parametrize(
    "asked",
    [
        "Which test functions exercise Secrets.load, and through which of its two overloads?",
        "tests of Secrets.load",
        "which tests cover the load function of Secrets?",
    ],
)
async def test_each_test_of_an_overloaded_function_says_which_definition_it_reaches(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "Sources/Shop/Secrets.swift:2 and :6: 2\n" in answer, answer
    assert "testPath 6 (class-attribute 0.98): of :2\n" in answer, answer
    assert "testKey 10 (class-attribute 0.98): of :6" in answer
    assert "note: 2 definitions of load: :2 load(path: String) -> String?, :6 load(key: String) -> String?" in answer


async def test_callers_of_an_overloaded_function_are_those_of_all_definitions(atlas: Atlas) -> None:
    answer = await said(atlas, "who calls Secrets.load")
    assert "Secrets.swift:2 and :6: 3\n" in answer and "load#2 7 (self 0.99): of :2" in answer, answer


async def test_a_function_with_one_definition_says_nothing_of_others(atlas: Atlas) -> None:
    answer = await said(atlas, "who calls Secrets.store")
    assert "definitions" not in answer and "Secrets.swift:10: none" in answer, answer


@pytest.mark.parametrize(
    "asked",
    [
        "Who writes Shop.openAddress and who reads it under Sources/? Leave tests out.",
        "who reads and writes Shop.openAddress in Sources outside tests",
        "where is Shop.openAddress set and where is it read in Sources, leaving tests out",
    ],
)
async def test_places_that_set_a_value_are_told_from_those_that_read_it(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "in 4 lines without an edge, 3 of them set it, the rest read or name it:" in answer, answer
    assert "6 Shop.init sets: self.openAddress = Box(0)" in answer
    assert "10 Shop.start sets: self.openAddress.withLockedValue { $0 = port }" in answer
    assert "18 Shop.later sets: self.openAddress.withLockedValue { held in" in answer
    assert "14 Shop.port: return" in answer
    assert "BoxTests" not in answer and "2)" not in answer


async def test_what_a_call_may_change_is_said_to_be_no_more_than_that(atlas: Atlas) -> None:
    answer = await said(atlas, "who writes Shop.parcels and who reads it")
    assert "in 2 lines without an edge, 1 may change it, the rest read or name it:" in answer, answer
    assert "24 Shop.send may change: self.parcels.append(parcel); 28 Shop.count: return" in answer


async def test_an_attribute_without_a_node_is_answered_from_its_lines(atlas: Atlas) -> None:
    answer = await said(atlas, "who sets Till._cash_total and who reads it")
    assert "3 Till.__init__ sets: self._cash_total = 0; 6 Till.pay sets: self._cash_total += sum" in answer, answer
    assert "9 Till.show: return self._cash_total" in answer


@pytest.mark.parametrize(
    ("line", "access"),
    [
        ("self.x = 1", LineAccess.SETS),
        ("self.x += 1", LineAccess.SETS),
        ("x.lock { $0 = 3 }", LineAccess.SETS),
        ("*self.x.lock().unwrap() = 3;", LineAccess.SETS),
        ("x.update(|v| *v = 3)", LineAccess.SETS),
        ("x.append(3)", LineAccess.MAY_CHANGE),
        ("self.x.name = 3", LineAccess.MAY_CHANGE),
        ("fill(&self.x)", LineAccess.MAY_CHANGE),
        ("x.lock { $0.append(3) }", LineAccess.MAY_CHANGE),
        ("x.lock { $0 }", LineAccess.OTHER),
        ("if x == 1", LineAccess.OTHER),
        ("return x.address(3)", LineAccess.OTHER),
        ("x.map(a => a + 1)", LineAccess.OTHER),
    ],
)
def test_a_line_tells_whether_it_sets_a_name(line: str, access: LineAccess) -> None:
    at = line.index("x")
    assert access_at(line, (at, at + 1), tuple) == access
