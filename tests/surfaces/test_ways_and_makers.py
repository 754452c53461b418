"""What is known where no chain of calls, caller or constructor is: common callers, values handed over, literals."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.changes.commit_topics import read_range
from atlas.code.question.grammar import find_relation
from atlas.code.question.relation_kinds import Kind
from atlas.code.question.requests.several import read_requests
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "shop/__init__.py": "",
    "shop/loops.py": (
        "def start(pool):\n    pool.spawn(take_orders)\n    pool.spawn(send_parcels)\n\n\n"
        "def take_orders():\n    return read_order()\n\n\ndef read_order():\n    return 1\n\n\n"
        "def send_parcels():\n    return pack()\n\n\ndef pack():\n    return wrap()\n\n\ndef wrap():\n    return 2\n"
    ),
    "shop/lonely.py": "def alone():\n    return 1\n\n\ndef apart():\n    return 2\n",
    "shop/checks.py": "def used(value):\n    return value\n\n\ndef unused(value):\n    return used(value)\n",
    "shop/sums.py": "def total(value):\n    return value\n\n\ndef missing(value):\n    return total(value)\n",
    "shop/limits.py": "class Limits:\n    cooldown_secs = 3\n\n    def wait(self):\n        return self.cooldown_secs\n",
    "tests/test_limits.py": (
        "from shop.limits import Limits\n\n\ndef set_up(seconds):\n    made = Limits()\n    made.cooldown_secs = seconds\n"
        "    return made\n\n\ndef test_none():\n    assert set_up(0).wait() == 0\n\n\n"
        "def test_other():\n    assert Limits().wait()\n"
    ),
    "types/server/inject.d.ts": "export interface Options {\n    path: string;\n}\n",
    "lib/server.js": (
        "class Server {\n  inject(options) {\n    return this.run(options);\n  }\n\n  run(options) {\n    return options;\n"
        "  }\n}\nmodule.exports = Server;\n"
    ),
    "lib/config.js": "const schema = {\n  closeDelay: number().default(499),\n};\nmodule.exports = schema;\n",
    "lib/close.js": (
        "function closeSocket(request) {\n  // the client hangs up before the answer is out\n"
        "  if (request.settings.closeDelay) {\n    request.abort(request.settings.closeDelay);\n  }\n}\n"
        "module.exports = closeSocket;\n"
    ),
    "README.md": (
        "# Shop\n\nSells things.\n\n## Orders\n\nHow orders are made.\n\n## Parcels\n\nHow parcels are packed.\n\n"
        "## Literal values\n\nPut a value into the text of an order.\n\n## Refunds\n\nGive money back for an order.\n"
    ),
    "package.json": '{"name": "shop", "dependencies": {"boom": "1.0.0"}, "devDependencies": {"joi": "17.0.0"}}\n',
    "lib/index.js": "const boom = require('boom');\nmodule.exports = boom;\n",
    "shop/fast.py": (
        "def stop():\n    import rapid\n\n    return rapid.stop()\n\n\n"
        "def safe_stop():\n    try:\n        return stop()\n    except ImportError:\n        return None\n"
    ),
    "requirements.txt": "rapid==1.0\n",
    "CHANGES.md": "# Changes\n\n- Renamed the `orderling` helper to `parcel`.\n",
    "shop/failing.py": (
        "class PackError(Exception):\n    pass\n\n\ndef fail(text):\n    raise PackError(text)\n\n\n"
        "def pack_all(parcels):\n    if not parcels:\n        fail('nothing')\n\n\ndef weigh(parcel):\n    fail('heavy')\n"
    ),
    "lib/kept.js": ("const kept = {\n  moveAway(job) {\n    return job;\n  },\n};\nmodule.exports = kept;\n"),
    "lib/other.js": (
        "class Other {\n  moveAway() {\n    return 1;\n  }\n}\nfunction run(other) {\n  return new Other().moveAway();\n}\n"
        "module.exports = { Other, run };\n"
    ),
    "tea/run.go": (
        "package tea\n\ntype execMsg struct {\n\tcmd string\n}\n\ntype view struct {\n\trows int\n}\n\n"
        "func Exec(c string) execMsg {\n\treturn execMsg{cmd: c}\n}\n\n"
        'func All() []execMsg {\n\treturn []execMsg{{cmd: "a"}}\n}\n\n'
        "func None() []execMsg {\n\treturn []execMsg{}\n}\n\n"
        "func Made() *view {\n\treturn new(view)\n}\n\n"
        "func Handle(msg any) int {\n\tswitch m := msg.(type) {\n\tcase execMsg:\n\t\treturn len(m.cmd)\n\t}\n\treturn 0\n}\n"
    ),
    "src/lib.rs": (
        "pub struct Pool {\n    pub size: u8,\n}\n\nimpl Pool {\n    pub fn new() -> Self {\n        Self { size: 1 }\n    }\n\n"
        "    pub fn of(other: &Pool) -> Pool {\n        let Pool { size } = other;\n        Self::new()\n    }\n}\n\n"
        "pub fn large() -> Pool {\n    Pool {\n        size: 9,\n    }\n}\n\n"
        "pub fn read(pool: Pool) -> u8 {\n    match pool {\n        Pool { size } => size,\n    }\n}\n"
    ),
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


async def test_two_symbols_without_a_chain_have_a_common_caller(atlas: Atlas) -> None:
    answer = await said(atlas, "how does take_orders reach wrap")
    assert ": unknown" in answer, "neither calls the other"
    assert "both are reached from function shop.loops.start shop/loops.py:1" in answer
    assert "a step may be a function that is handed over as a value" in answer
    assert "send_parcels shop/loops.py:3 > pack shop/loops.py:15 > wrap shop/loops.py:19" in answer
    answer = await said(atlas, "how does wrap reach send_parcels")
    assert "a chain leads the other way: send_parcels > pack shop/loops.py:15 > wrap shop/loops.py:19" in answer
    answer = await said(atlas, "how does alone reach apart")
    assert "both are reached" not in answer and "the other way" not in answer


async def test_what_is_handed_over_has_an_edge(atlas: Atlas) -> None:
    answer = await said(atlas, "who calls send_parcels")
    assert "handed over as a value, to be called elsewhere: shop/loops.py:3 in `start`" in answer
    assert "without an edge" not in answer


@pytest.mark.parametrize(
    ("asked", "named", "others"),
    [
        ("where is execMsg constructed", ("Exec 12", "All 16"), ("None", "Handle")),
        ("instantiations of the view struct", ("Made 24",), ()),
        ("instantiations of Pool", ("Pool.new 7", "large 17"), ("Pool.of", "read")),
    ],
)
async def test_literals_make_values(atlas: Atlas, asked: str, named: tuple[str, ...], others: tuple[str, ...]) -> None:
    answer = await said(atlas, asked)
    assert "literal 0.90" in answer, answer
    for name in named:
        assert name in answer, answer
    for name in others:
        assert f"{name} " not in answer, answer


@pytest.mark.parametrize(
    "asked",
    [
        "Any helper functions in checks.py or sums.py that nothing uses any more?",
        "unused functions in checks.py and sums.py",
    ],
)
async def test_a_question_about_two_files_is_one_about_each(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "in checks.py: 1 candidate of 2" in answer and "in sums.py: 1 candidate of 2" in answer, answer


async def test_the_tests_of_a_setting_are_those_that_name_it(atlas: Atlas) -> None:
    answer = await said(atlas, "which tests cover the cooldown_secs setting of the limits")
    assert "set_up 6 (named 0.90)" in answer and "test_none 11" in answer, answer
    assert "test_other" not in answer and "1 more test only reaches code that uses it" in answer, answer


async def test_a_package_of_another_kind_is_declared(atlas: Atlas) -> None:
    answer = await said(atlas, "Is joi a runtime dependency of shop?")
    assert "no runtime dependency of shop, but a development dependency" in answer, answer
    assert "yes, a runtime dependency" in await said(atlas, "is boom a runtime dependency")


async def test_what_happens_without_a_package_is_told_with_its_uses(atlas: Atlas) -> None:
    asked = "Is rapid required to run shop? What is it used for and what happens without it?"
    answer = await said(atlas, asked)
    assert "shop/fast.py:10: except ImportError: return None" in answer, answer
    assert "shop.fast.stop" in answer and "2)" not in answer, answer


@pytest.mark.parametrize(
    ("asked", "second"),
    [
        ("In wrap a local copy_of_it is made. Is it still used, and where?", "copy_of_it"),
        ("how does the worker find the order, and what happens if that function isnt available?", "that function"),
    ],
)
def test_what_pronouns_mean(asked: str, second: str) -> None:
    requests = read_requests(asked)
    texts = [each.text for each in requests.requests] if requests is not None else [asked]
    assert any(second in each for each in texts), texts


def test_a_question_without_a_subject_is_about_what_was_stated() -> None:
    requests = read_requests("Support for dates was switched off at some time. When and why, and is it on again?")
    assert requests is not None
    assert requests.requests[0].text == "When was Support for dates switched off and why"


@pytest.mark.parametrize(("text", "found"), [("from 0777 to 0700", ("", "")), ("from 2019 to 2021", ("2019", "2021"))])
def test_numbers_are_no_revisions(text: str, found: tuple[str, str]) -> None:
    assert read_range(f"commits {text}") == found


async def test_a_module_of_declarations_is_not_the_method_of_its_name(atlas: Atlas) -> None:
    answer = await said(atlas, "what does server.inject() call?")
    assert "lib/server.js:2" in answer and "run" in answer and "inject.d.ts" not in answer, answer


async def test_lines_that_read_a_setting_say_its_default(atlas: Atlas) -> None:
    answer = await said(
        atlas, "what happens if the client hangs up before the answer is out, when is the socket closed?"
    )
    assert "closeDelay: number().default(499), lib/config.js:2" in answer, answer


async def test_a_page_is_asked_for_by_its_sections(atlas: Atlas) -> None:
    answer = await said(atlas, "Which section of the readme covers putting a value into an order?")
    assert "section Literal values README.md:13" in answer and "`section` occurs" not in answer, answer
    assert "also:" not in answer, "of one page, each section is a hit"


async def test_what_raises_an_error_is_called_by_others(atlas: Atlas) -> None:
    answer = await said(atlas, "what raises PackError?")
    assert "fail 6" in answer, answer
    assert "`fail`, which raises it, is called by" in answer, answer
    assert "pack_all shop/failing.py:11" in answer and "weigh shop/failing.py:15" in answer, answer
    assert "which raises it" not in await said(atlas, "where is PackError constructed?")


async def test_a_statement_tells_the_file_of_a_name(atlas: Atlas) -> None:
    answer = await said(atlas, "lib/kept.js has a moveAway function. Is it used by anything?")
    first = answer.splitlines()[1]
    assert "lib/kept.js:2" in first and "symbols are called" not in answer, answer


async def test_a_name_that_only_a_changelog_has_is_quoted(atlas: Atlas) -> None:
    answer = await said(atlas, "where is shop.orderling() defined?")
    assert "CHANGES.md:3 `- Renamed the `orderling` helper to `parcel`.`" in answer, answer


@pytest.mark.parametrize(
    "asked",
    [
        "What would be affected if pack_all threw instead of returning None?",
        "what breaks if Weigh.all returned a list",
    ],
)
def test_what_another_result_would_affect_is_an_impact(asked: str) -> None:
    relation = find_relation(asked)
    assert relation is not None and relation.kind == Kind.IMPACT


async def test_a_variable_named_like_a_class_may_lack_a_member(atlas: Atlas) -> None:
    answer = await said(atlas, "how does server.injector() work?")
    assert "`injector` is no member of class lib.server.Server lib/server.js:1; nearest: inject 2" in answer, answer
    assert "is no member of" not in await said(atlas, "how does server.inject() work?")
