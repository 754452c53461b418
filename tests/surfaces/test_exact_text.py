"""Exact texts: lines on disk by `text_search`, and the line that builds a message first in `hybrid_search`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.app.main import index_project, open_atlas
from atlas.code.atlas import Atlas
from atlas.code.index.events import no_progress
from atlas.code.tools.search.line_answer import LineAnswer
from atlas.code.tools.search.search import hybrid_search, text_search
from atlas.code.tools.search.search_answer import SearchAnswer
from atlas.core.errors import ConfigError
from atlas.runtime.config.load import load_settings
from tests.pipeline.trees import write_tree

SECRET = "hU7!kQz92_vXe"
TREE = {
    "shop/cart.py": """class Cart:
    def pay(self, card):
        if card is None:
            raise ValueError("card %s was declined by %r" % (card, self))

    def total(self, name, place):
        raise KeyError(
            f"Cannot find {name} in the catalogue. "
            f"Known places are: {place}"
        )
""",
    "shop/limits.go": """package shop

import "fmt"

func Check(n int) error {
\tif n > 10 {
\t\treturn fmt.Errorf("quota exceeded: %d of %d requests", n, 10)
\t}
\treturn nil
}
""",
    "shop/store.js": """export class Store {
  load(key) {
    throw new Error(`store ${this.name} has no entry ${key}`);
  }
  open(name) {
    throw new Error("could not open " + name + " for writing");
  }
}
""",
    "shop/job.rb": """class Job
  def run(id)
    raise ArgumentError, "job #{id} is not scheduled for today"
  end
end
""",
    "shop/Order.java": """class Order {
    void ship(String to) {
        throw new IllegalStateException(String.format("order %s cannot be shipped to %s", id, to));
    }
}
""",
    "shop/point.rs": """pub fn point(x: i32) -> Result<(), String> {
    Err(format!("coordinate {x:?} lies outside of the map"))
}
""",
    "shop/keys.py": f'PASSWORD = "{SECRET}"\n',
    "tests/test_cart.py": '''def test_pay():
    """card 7 was declined by Cart"""
    assert error == "card 7 was declined by Cart"
''',
    "docs/errors.md": "# Errors\n\n## Cards\n\n`card 7 was declined by Cart` means that there is no card.\n",
    "data/words.zzz": "needle in a haystack\n",
    ".gitignore": "ignored.py\n",
    "ignored.py": "needle = 1\n",
    "secrets.yaml": "needle: 1\n",
}


@pytest.fixture
async def atlas(tmp_path: Path) -> AsyncIterator[Atlas]:
    write_tree(tmp_path / "tree", TREE)
    settings = load_settings(str(tmp_path / "tree"), str(tmp_path / "data"))
    await index_project(settings, no_progress)
    async with open_atlas(settings) as opened:
        yield opened


async def lines(atlas: Atlas, query: str, mode: str = "exact", **arguments: object) -> LineAnswer:
    answer = await text_search(atlas, query, mode=mode, **arguments)  # type: ignore[arg-type]
    assert isinstance(answer, LineAnswer)
    return answer


async def found(atlas: Atlas, question: str) -> list[str]:
    answer = await hybrid_search(atlas, question)
    assert isinstance(answer, SearchAnswer)
    return answer.render().splitlines()[1:]


async def test_lines_stand_below_their_path_with_the_definition_around_them(atlas: Atlas) -> None:
    answer = await lines(atlas, "was declined by")
    assert answer.render().splitlines()[1:] == [
        '"was declined by": 4 lines in 3 files',
        "shop/cart.py",
        '  4 in Cart.pay: raise ValueError("card %s was declined by %r" % (card, self))',
        "docs/errors.md",
        "  5 in Cards: `card 7 was declined by Cart` means that there is no card.",
        "tests/test_cart.py",
        '  2 in test_pay: """card 7 was declined by Cart"""',
        '  3 in test_pay: assert error == "card 7 was declined by Cart"',
    ]
    assert answer.structure()["hits"][0][0] == "shop/cart.py"  # type: ignore[index]


async def test_a_regular_expression_matches_as_in_grep(atlas: Atlas) -> None:
    answer = await lines(atlas, r"^\s+def \w+\(self", "regex")
    assert [(each.path, [line.line for line in each.lines]) for each in answer.shown] == [("shop/cart.py", [2, 6])]
    assert answer.shown[0].lines[0].symbol == "Cart", "the line of a definition stands in its parent"


async def test_files_are_read_as_they_are_now(atlas: Atlas) -> None:
    root = atlas.reader.root
    (root / "shop/new.py").write_text("later = 'a brand new line'\n")
    (root / "shop/cart.py").unlink()
    assert (await lines(atlas, "a brand new line")).shown[0].path == "shop/new.py"
    assert not (await lines(atlas, "Known places")).found


async def test_what_is_skipped_as_text_is_searched_and_nothing_that_is_secret_or_ignored(atlas: Atlas) -> None:
    answer = await lines(atlas, "needle")
    assert [each.path for each in answer.shown] == ["data/words.zzz"]
    assert not (await lines(atlas, SECRET[:6])).found, "not even as a count"
    assert SECRET not in (await lines(atlas, "PASSWORD")).render()


async def test_what_stands_nowhere_is_said_with_what_was_not_searched(atlas: Atlas) -> None:
    (atlas.reader.root / "image.zzz").write_bytes(b"\0\1\2\3" * 100)
    assert (await lines(atlas, "no such text")).render().splitlines()[1] == (
        '"no such text" occurs in no file (not searched: 1 binary)'
    )
    narrowed = (await lines(atlas, "needle", path="shop/")).render()
    assert "occurs in no file of those in shop/" in narrowed and "elsewhere: 1 line in 1 file" in narrowed


async def test_filters_limit_and_cursor_hold(atlas: Atlas) -> None:
    assert {each.path for each in (await lines(atlas, "declined", include_tests=False)).shown} == {
        "shop/cart.py",
        "docs/errors.md",
    }
    assert {each.path for each in (await lines(atlas, "declined", languages=["python"])).shown} == {
        "shop/cart.py",
        "tests/test_cart.py",
    }
    seen: list[tuple[str, int]] = []
    cursor = ""
    for _ in range(2):
        page = await lines(atlas, "declined", limit=2, cursor=cursor)
        seen += [(each.path, line.line) for each in page.shown for line in each.lines]
        cursor = page.evidence.cursor
    assert seen == [("shop/cart.py", 4), ("docs/errors.md", 5), ("tests/test_cart.py", 2), ("tests/test_cart.py", 3)]
    assert not cursor
    counts = (await lines(atlas, "declined", brief=True)).render()
    assert "further: shop/cart.py 1, docs/errors.md 1, tests/test_cart.py 2" in counts


async def test_the_budget_holds_and_names_the_rest(atlas: Atlas) -> None:
    (atlas.reader.root / "many.py").write_text("needle = 'a line that is repeated'\n" * 500)
    answer = await lines(atlas, "repeated", token_budget=200)
    assert answer.found == 500 and answer.evidence.tokens <= 200
    assert "lines" in answer.evidence.withheld[0] and answer.evidence.cursor


@pytest.mark.parametrize(
    ("query", "mode", "said"),
    [
        ("def (a", "regex", "at character 5"),
        ("a{1000}{1000}{1000}", "regex", "size"),
        (r"a(?=b)", "regex", "look-around"),
        ("a\nb", "exact", "several lines"),
        ("  ", "exact", "empty"),
        ("x" * 5000, "exact", "characters"),
        ("x", "glob", "unknown mode"),
    ],
)
async def test_an_invalid_query_says_why(atlas: Atlas, query: str, mode: str, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        await lines(atlas, query, mode)
    assert said in f"{raised.value.message} {raised.value.hint}" and raised.value.hint


async def test_hostile_trees_and_patterns_end_soon(atlas: Atlas) -> None:
    root = atlas.reader.root
    os.mkfifo(root / "pipe.py")
    (root / "outside.py").symlink_to("/etc/passwd")
    (root / "loop.py").symlink_to("loop.py")
    (root / "bytes.py").write_bytes(b"\xff\xfe\xfd needle \xc3\x28\n" + b"a" * (1 << 20) + b"needle" + b"a" * (1 << 20))
    (root / "control.py").write_bytes(b"x = 'needle \x1b[31m \xe2\x80\xae'\n")
    assert not (await lines(atlas, "root:x:0")).found
    answer = await lines(atlas, "needle")
    assert {each.path for each in answer.shown} >= {"control.py"}
    assert "\x1b" not in answer.render() and "\u202e" not in answer.render()
    assert all(len(line.text) < 400 for each in answer.shown for line in each.lines)
    for bomb in (r"(a*)*b$", r"(a|aa)+$", r"(.*)(.*)(.*)(.*)x{50}"):
        assert not (await lines(atlas, bomb + "zzz", "regex")).more


@pytest.mark.parametrize(
    ("message", "path", "line"),
    [
        ('"card 12 was declined by <Cart 3>"', "shop/cart.py", 'raise ValueError("card %s was declined by %r"'),
        ("KeyError: Cannot find tea in the catalogue. Known places are: a, b", "shop/cart.py", "Cannot find {name}"),
        ("where does 'quota exceeded: 11 of 10 requests' come from", "shop/limits.go", "quota exceeded: %d"),
        ("Error: store main has no entry user/42", "shop/store.js", "store ${this.name} has no entry"),
        ('"could not open /tmp/a.txt for writing"', "shop/store.js", '"could not open " + name'),
        ('level=error msg="job 17 is not scheduled for today"', "shop/job.rb", "job #{id} is not scheduled"),
        ("IllegalStateException: order A-1 cannot be shipped to Rome", "shop/Order.java", "order %s cannot be shipped"),
        ("`coordinate -4 lies outside of the map`", "shop/point.rs", "coordinate {x:?} lies"),
        ("card 7 was declined by Cart", "shop/cart.py", 'raise ValueError("card %s was declined by %r"'),
    ],
)
async def test_the_line_that_builds_a_message_is_first(atlas: Atlas, message: str, path: str, line: str) -> None:
    said = await found(atlas, message)
    assert said[0].startswith("1. ") and path in said[0], said
    assert any(line in each for each in said[:4]), said


async def test_a_quoted_text_that_stands_nowhere_is_said_first(atlas: Atlas) -> None:
    said = await found(atlas, 'where is "the moon is made of cheese" reported')
    assert said[0] == '"the moon is made of cheese" occurs in no indexed file; nearest:'
    assert sum(each[:2] in ("1.", "2.", "3.", "4.") for each in said) <= 3


async def test_an_identifier_in_a_question_has_its_definition_first(atlas: Atlas) -> None:
    assert "shop/Order.java:2" in (await found(atlas, "why does `ship` not work for orders to Rome"))[0]
    assert "shop/cart.py:6" in (await found(atlas, "which names does Cart.total report once the quota is exceeded"))[0]
