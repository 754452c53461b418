"""Members that statements give to objects: functions attached to prototypes, fields, calls by a name in a text."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "package.json": '{"name": "clock", "version": "1.0.0"}\n',
    "src/clock.js": """import U from './tools'

export class Clock {
  constructor(at) {
    this.at = at
    this.$x = {}
  }

  roundTo(unit) {
    return unit
  }

  isLater(that) {
    return this.at > that.at
  }

  $tools() {
    return Tools
  }
}

const Tools = U
Tools.l = loadParts
Tools.k = keepParts
const proto = Clock.prototype
proto.show = function (form) {
  return form
}

function loadParts(text) {
  return text
}

function keepParts(text) {
  return Tools.s(text)
}

export const clock = (at) => new Clock(loadParts(at))
""",
    "src/tools.js": """const padStart = (text) => `0${text}`

const partDiff = (a, b) => a - b

export default {
  s: padStart,
  m: partDiff,
}
""",
    "src/plugins/weeks.js": """export default (o, c, d) => {
  const proto = c.prototype
  const oldRoundTo = proto.roundTo
  // proto.roundTo = the old one
  proto.roundTo = function (unit) {
    return oldRoundTo.bind(this)(unit)
  }
  proto.spread = function (that) {
    return this.$tools().m(this, that)
  }
  proto.isSame = function (that) {
    return !this.isLater(that)
  }
}
""",
    "src/plugins/zones.js": """const keep = (old) => old

export default (o, C, d) => {
  C.prototype.roundTo = keep(C.prototype.roundTo)
  Object.assign(C.prototype, {
    show(form) {
      return form
    },
    zone: function () {
      return this.$x.$zone || d.tz.guess()
    },
  })
  d.tz = function (text, zone) {
    const made = d(text)
    made.$x.$zone = zone
    if (made.$x.$zone === 'UTC') {
      return made
    }
    return made
  }
}
""",
    "src/plugins/most.js": """export default (o, c, d) => {
  const pickBy = (method, clocks) => clocks.filter((each) => each[method](clocks[0]))[0]
  d.max = function (clocks) {
    return pickBy('isLater', clocks)
  }
}
""",
    "src/plugins/words.js": """export default (o, c, d) => {
  const proto = c.prototype
  // picks the phrase for a span of time
  proto.pickPhrase = function (count) {
    const phrases = ['few', 'many']
    return phrases[count > 3 ? 1 : 0]
  }
  const spanTo = (count) => proto.pickPhrase(count)
  proto.since = function (count) {
    return spanTo(count)
  }
  proto.sinceNow = function () {
    return this.since(1)
  }
}
""",
    "src/span.js": """let $c
class Span {
  tell() {
    return $c().plus(this.ms).sinceNow()
  }
}
export default (o, c, d) => {
  $c = d
  d.span = (ms) => new Span(ms)
}
""",
    "types/clock.d.ts": """declare module 'clock' {
  interface Clock { roundTo(unit: string): Clock; sinceNow(): string; isLater(that: Clock): boolean }
}
""",
    "lib/shop.py": """class Cart:
    def total(self):
        return 1


class Big(Cart):
    def total(self):
        return 2
""",
    "test/clock.test.js": """import { clock } from '../src/clock'
import T from '../src/tools'
it('rounds', () => { clock(1).roundTo('h'); clock(2).isLater(clock(1)); T.s('1') })
""",
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


@pytest.mark.parametrize(
    "asked",
    [
        "Several plugins monkey-patch roundTo on the Clock prototype. Give me all of them.",
        "who overrides Clock#roundTo?",
        "which modules replace Clock.prototype.roundTo",
        "where is roundTo overridden?",
    ],
)
async def test_every_assignment_of_a_method_is_listed(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "`roundTo` is assigned in 2 places; the method of class Clock: src/clock.js:9" in answer, answer
    assert "src/plugins/weeks.js:5: proto.roundTo = function (unit) {" in answer, answer
    assert "src/plugins/zones.js:4: C.prototype.roundTo = keep(C.prototype.roundTo)" in answer, answer
    assert "parameter (`c`, `C`; the caller decides which class it is)" in answer, answer


async def test_a_prototype_of_a_known_class_is_told_from_that_of_a_parameter(atlas: Atlas) -> None:
    answer = await said(atlas, "which modules replace proto.show?")
    own, _, received = answer.partition("on the prototype of a parameter")
    assert "on a prototype:" in own and "src/clock.js:26: proto.show = function (form) { (of Clock)" in own, answer
    assert "src/plugins/zones.js:6: show(form) {" in received, answer


@pytest.mark.parametrize("asked", ["who overrides Cart.total?", "which classes override total?"])
async def test_overrides_of_classes_are_no_assignments(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "Big.total" in answer and "is assigned" not in answer, answer


async def test_an_object_that_is_named_is_no_prototype(atlas: Atlas) -> None:
    answer = await said(atlas, "who overrides d.tz?")
    assert "`tz` is assigned in 1 place" in answer and "src/plugins/zones.js:13: d.tz = function" in answer, answer


async def test_a_call_by_a_name_in_a_text_is_told(atlas: Atlas) -> None:
    answer = await said(atlas, "who ends up calling Clock#isLater inside src, including through a method-name string?")
    assert "in src: 0 of" in answer and "test/" not in answer, answer
    assert "src/plugins/weeks.js:12" in answer, answer
    by_name = "src/plugins/most.js:4 in `max`, called by name at 2 `each[method](...)`"
    assert by_name in answer, answer
    assert "by name" not in await said(atlas, "who calls Clock#roundTo")


@pytest.mark.parametrize("asked", ["Does anything in the repo ever use Tools.l?", "is Tools.l used?"])
async def test_a_member_that_nothing_reads(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "`Tools.l` (also named `$tools()`, `T`, `U`) is used in no line" in answer, answer
    assert "src/clock.js:23: Tools.l = loadParts" in answer, answer
    assert "it holds function `loadParts` src/clock.js:30, used in 1 line: src/clock.js:38" in answer, answer


async def test_a_member_is_read_by_other_names_of_its_object(atlas: Atlas) -> None:
    answer = await said(atlas, "does anything use Tools.m?")
    assert "is used in 1 line" in answer and "src/tools.js:7: m: partDiff," in answer, answer
    assert "src/plugins/weeks.js:9: return this.$tools().m(this, that)" in answer, answer
    answer = await said(atlas, "who uses Tools.s?")
    assert "src/clock.js:35: return Tools.s(text)" in answer and "test/clock.test.js:3" in answer, answer


@pytest.mark.parametrize(
    "asked",
    [
        "Where is the stored $x.$zone written, and where is it read back?",
        "where do plugins store $x.$zone and where do they read it",
    ],
)
async def test_writes_and_reads_of_a_field_are_told_apart(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    written, _, read = answer.partition("\nread:")
    assert "`$x.$zone`: written in 1 line, read in 2" in answer, answer
    assert "src/plugins/zones.js:15 in `tz`: made.$x.$zone = zone" in written, answer
    assert "src/plugins/zones.js:10 in `zone`" in read and "src/plugins/zones.js:16 in `tz`" in read, answer


async def test_a_way_leads_over_attached_functions_to_a_described_end(atlas: Atlas) -> None:
    answer = await said(atlas, "Trace the path from Span's tell() down to the code that picks the phrase for a span.")
    assert 'to "the code that picks the phrase for a span" (a guess: method' in answer, answer
    steps = ("sinceNow 4 (unique-name", "since 13 (self", "spanTo 10 (local", "pickPhrase 8 (local")
    places = [answer.find(step) for step in steps]
    assert places == sorted(places) and min(places) > 0, answer


async def test_an_impact_is_followed_through_an_alias(atlas: Atlas) -> None:
    answer = await said(atlas, "Impact check before I touch padStart in src/tools.js: what depends on its result?")
    assert "impact of function src.tools.padStart src/tools.js:1: 4" in answer, answer
    assert "keepParts 35 (alias" in answer and "test/clock.test.js" in answer, answer
    assert "dependents of function src.tools.padStart" in answer, answer


@pytest.mark.parametrize(
    "asked", ["which methods does the weeks plugin override?", "what does weeks replace on the prototype"]
)
async def test_what_one_file_attaches_is_compared_with_classes(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "src/plugins/weeks.js assigns 3 members of prototypes, 1 of which a class" in answer, answer
    assert "src/plugins/weeks.js:5: proto.roundTo = function (unit) { (Clock src/clock.js:9)" in answer, answer
    assert "that no class has:" in answer and "src/plugins/weeks.js:8: proto.spread" in answer, answer


async def test_a_prototype_of_another_class_is_not_the_one_asked_for(atlas: Atlas) -> None:
    answer = await said(atlas, "does something monkeypatch Date.prototype.show?")
    assert "src/clock.js:26: proto.show" not in answer.split("1. ")[0], answer
