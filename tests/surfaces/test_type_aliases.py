"""Questions about subtypes and bases of type aliases: other names of types, unions, shapes."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.graph.aliases.alias_text import AliasText, read_alias
from atlas.code.tools.relation_answer import RelationAnswer
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "src/actions.ts": """export type Action<T extends string = string> = { type: T }
export interface UnknownAction extends Action { payload: unknown }
export class Circle { radius = 1 }
export class Square { side = 1 }
export type Shape = Circle | Square | 'none'
export type Round = Circle
export class Ellipse extends Circle {}
export type Handler = (shape: Shape) => void
""",
    "test/actions.test.ts": "class Action {}\nclass Other extends Action {}\n",
    "stock/kinds.py": """from typing import Union


class Box:
    pass


class Bag:
    pass


Holder = Union[Box, "Bag", None]
Label = "box" if Box else "bag"
""",
    "store/store.go": """package store

type Reader interface{ Read() string }

type Source = Reader

type File struct{}

func (f File) Read() string { return "" }

type Disk struct{ File }
""",
    "core/src/lib.rs": """pub trait Sink {
    fn write(&self);
}
pub type Output = dyn Sink;
pub struct Console;
impl Sink for Console {
    fn write(&self) {}
}
""",
}


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("subtypes of Action", {"UnknownAction"}),
        ("what extends Action?", {"UnknownAction"}),
        ("which classes implement Shape", {"Circle", "Square"}),
        ("subclasses of Round", {"Ellipse"}),
        ("what are the supertypes of Round", {"Circle"}),
        ("subtypes of Holder", {"Box", "Bag"}),
        ("implementers of Source", {"File"}),
        ("what implements Output", {"Console"}),
    ],
)
async def test_an_alias_has_subtypes(atlas: Atlas, question: str, found: set[str]) -> None:
    answer = await hybrid_search(atlas, question)
    assert isinstance(answer, RelationAnswer)
    names = {each.name.rpartition(".")[2] for group in answer.files for each in group.symbols}
    assert found <= names, answer.render()
    assert "Other" not in names


async def test_what_is_no_symbol_is_named(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "subtypes of Shape")).render()
    assert "`Shape` is a union: its alternatives stand for subtypes; without a symbol: 'none'" in said


async def test_the_type_of_a_function_says_what_it_is(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "implementers of Handler")).render()
    assert "`Handler` is no class but an alias: (shape: Shape) => void" in said


async def test_a_constant_that_is_no_union_is_no_type(atlas: Atlas) -> None:
    answer = await hybrid_search(atlas, "subtypes of Label")
    assert answer.result().is_missing


@pytest.mark.parametrize(
    ("signature", "text"),
    [
        ("type A = B | 'x|y' | C<D | E>", AliasText(alternatives=("B", "'x|y'", "C<D | E>"))),
        ("type A = | B | C", AliasText(alternatives=("B", "C"))),
        ("A = typing.Optional[B]", AliasText(alternatives=("B", "None"))),
        ("type A = B & { c: string }", AliasText(parts=("B", "{ c: string }"))),
        ("type A = (b: B) => C", AliasText()),
        ("type A = { b: string }", AliasText()),
        ("type A", AliasText()),
        ("type A = ((((", AliasText()),
    ],
)
def test_what_an_alias_stands_for(signature: str, text: AliasText) -> None:
    assert read_alias(signature) == text
