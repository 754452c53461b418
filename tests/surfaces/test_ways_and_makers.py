"""What is known where no chain of calls, caller or constructor is: common callers, values handed over, literals."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
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
