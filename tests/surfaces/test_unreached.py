"""Questions that name no symbol, two symbols, or a family of overrides: unused and untested code, unions, roots."""

from __future__ import annotations

from pathlib import Path

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.relation_answer import RelationAnswer
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.trees import QUICK, indexed

FILES = {
    "shop/cart.py": """import argparse
from shop import register


class Cart:
    def __init__(self):
        self.items = []

    def __len__(self):
        return self.used()

    def used(self):
        return only_recursive_caller_of_nothing(0)

    def never_called(self):
        return 1


def only_recursive_caller_of_nothing(depth):
    return depth


def recursive(depth):
    return recursive(depth - 1)


@register
def on_start():
    return Cart()


@staticmethod
def really_unused():
    return 2


def named_in_text():
    return 3


TABLE = {"handler": "named_in_text"}


class Parser(argparse.ArgumentParser):
    def error_of_parser(self):
        return 4


def main():
    return 5
""",
    "shop/__init__.py": "def register(function):\n    return function\n",
    "shop/dynamic.py": """class Format:
    def run(self, letter):
        return getattr(self, letter)()

    def year(self):
        return 1


def start():
    return Format().run("year")
""",
    "shop/computed.py": """class Reader:
    def read(self, letter):
        return getattr(self, "of_" + letter)()

    def of_zebra(self):
        return 1


def begin():
    return Reader().read("y")


begin()
""",
    "shop/fields.py": """class Field:
    def prepare(self):
        return 1

    def use(self):
        return self.prepare()


class Text(Field):
    def prepare(self):
        return super().prepare()


class Number(Field):
    def prepare(self):
        return 3


class Whole(Number):
    def prepare(self):
        return 4


class Other:
    def use_both(self):
        return Text(), Number()
""",
    "shop/_old_compat.py": """from shop import register

HAS_NEW_PARSER = True
HAS_OLD_PARSER = False
HAS_TABLES = True
HAS_NOTHING = False


class StaleError(Exception):
    pass


class LateError(Exception):
    pass


def run():
    if HAS_TABLES:
        raise LateError
""",
    "tests/test_compat.py": """from shop._old_compat import HAS_OLD_PARSER, run


def test_compat():
    assert not HAS_OLD_PARSER
    run()
""",
    "tests/test_cart.py": """from shop.cart import Cart, recursive


def test_cart():
    assert Cart().used() == 0
""",
}


async def ask(atlas: Atlas, question: str, **arguments: int) -> RelationAnswer:
    answer = await hybrid_search(atlas, question, **arguments)  # type: ignore[arg-type]
    assert isinstance(answer, RelationAnswer)
    return answer


def names(answer: RelationAnswer) -> set[str]:
    return {line.name for group in answer.files for line in group.symbols}


async def test_unused_code_leaves_out_what_may_be_reached_otherwise(atlas: Atlas) -> None:
    answer = await ask(atlas, "unused functions in shop/cart.py")
    assert names(answer) == {"Cart.never_called", "really_unused"}
    notes = " ".join(answer.evidence.notes)
    for reason in ("special methods", "decorated", "outside bases", "entry points", "named elsewhere", "candidates:"):
        assert reason in notes, reason
    assert "2 candidates of" in answer.render()


async def test_a_method_called_by_a_computed_name_is_not_unused(atlas: Atlas) -> None:
    answer = await ask(atlas, "which methods in shop/dynamic.py are never called")
    assert names(answer) == set()
    notes = " ".join(answer.evidence.notes)
    assert "computed names" in notes
    assert "possible" not in notes, "a text names it"
    assert ": none certain of 2" in answer.title
    answer = await ask(atlas, "which methods in shop/computed.py are never called")
    said = "possible, named nowhere else, unless a computed name reaches them: of_zebra shop/computed.py:5"
    assert names(answer) == set() and said in " ".join(answer.evidence.notes)


async def test_unused_values_are_found_by_the_words_that_describe_them(atlas: Atlas) -> None:
    answer = await ask(atlas, "is anything in shop/_old_compat.py declared but never used?")
    assert {"HAS_NEW_PARSER", "HAS_NOTHING"} <= names(answer)
    assert not {"HAS_TABLES", "HAS_OLD_PARSER", "LateError"} & names(answer)
    assert "used by tests only: HAS_OLD_PARSER 4, run 17" in " ".join(answer.evidence.notes)
    errors = await ask(atlas, "Of the errors declared at the top of shop/_old_compat.py, is any never raised anywhere?")
    assert names(errors) == {"StaleError"}
    assert "with `error|exception` in name or path in shop/_old_compat.py: 1 candidate of 2" in errors.title


async def test_what_only_tests_use_is_listed_with_the_test(atlas: Atlas) -> None:
    answer = await ask(atlas, "Are there compatibility flags that the package itself never reads, only the tests?")
    lines = [line for group in answer.files for line in group.symbols]
    assert [(line.name, line.detail) for line in lines] == [("HAS_OLD_PARSER", "used in tests/test_compat.py")]
    assert "1 candidate of 4 used by tests only" in answer.title
    assert "not used by tests either: HAS_NEW_PARSER 3, HAS_NOTHING 6" in " ".join(answer.evidence.notes)


async def test_words_that_describe_nothing_are_searched_as_text(atlas: Atlas) -> None:
    answer = await hybrid_search(atlas, "are there telemetry flags that nobody reads")
    assert not isinstance(answer, RelationAnswer)


async def test_unused_code_of_an_unknown_scope_says_so(atlas: Atlas) -> None:
    answer = await ask(atlas, "dead code in module nowhere")
    assert answer.outcome == "not_found" and answer.missing == "nowhere"


async def test_untested_functions_follow_calls_of_tests_for_two_steps(atlas: Atlas) -> None:
    answer = await ask(atlas, "untested functions in shop/cart.py")
    assert {"really_unused", "named_in_text", "Cart.never_called"} <= names(answer)
    assert not {"Cart.used", "only_recursive_caller_of_nothing"} & names(answer)
    classes = await ask(atlas, "which classes in shop have no tests")
    assert "Parser" in names(classes) and "Cart" not in names(classes)


async def test_pages_of_untested_code_join(atlas: Atlas) -> None:
    whole = await ask(atlas, "untested functions")
    first = await ask(atlas, "untested functions", token_budget=150)
    assert 0 < len(names(first)) < len(names(whole)) and first.found == whole.found
    seen, cursor = names(first), first.evidence.cursor
    for _ in range(20):
        if not cursor:
            break
        following = await hybrid_search(atlas, "untested functions", token_budget=150, cursor=cursor)
        assert isinstance(following, RelationAnswer)
        assert not seen & names(following)
        seen |= names(following)
        cursor = following.evidence.cursor
    assert seen == names(whole)


async def test_a_family_of_overrides_is_answered_from_its_root(atlas: Atlas) -> None:
    answer = await ask(atlas, "which classes override prepare")
    assert [subject.qualified_name for subject in answer.subjects] == ["shop.fields.Field.prepare"]
    assert names(answer) == {"Text.prepare", "Number.prepare", "Whole.prepare"}
    callers = await ask(atlas, "callers of prepare")
    assert names(callers) == {"Field.use", "Text.prepare"}
    assert callers.found == 2, "a method that calls its base stands there once"


async def test_two_symbols_are_answered_together(atlas: Atlas) -> None:
    answer = await ask(atlas, "subclasses of Field and Number")
    assert names(answer) == {"Text", "Number", "Whole"}
    assert len(answer.subjects) == 2
    one = await ask(atlas, "subclasses of Field and Nowhere")
    assert names(one) == {"Text", "Number", "Whole"}
    assert any("no symbol `Nowhere`" in note for note in one.evidence.notes)


async def test_a_private_method_that_only_other_files_name_is_noted(tmp_path: Path) -> None:
    root = tmp_path / "moves"
    code = "class Mover {\n  run() {\n    this._step();\n  }\n  _step() {}\n  _transaction(name) {}\n}\nmodule.exports = { Mover };\n"
    other = "function make(knex) {\n  const names = ['_transaction'];\n  return names.map((each) => knex[each]);\n}\nmodule.exports = { make };\n"
    for path, text in {"lib/mover.js": code, "lib/make.js": other, "package.json": '{"name": "moves"}\n'}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        asked = "Any leftover private methods in mover.js nobody calls any more?"
        answer = await ask(atlas, asked)
        notes = " ".join(answer.evidence.notes)
        assert "private, and named nowhere else in their file, only in other files: _transaction 6" in notes
        assert "_step" not in answer.render()
