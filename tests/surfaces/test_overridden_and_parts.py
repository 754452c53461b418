"""Relations of classes: what subclasses override, parts of one class, and calls whose names are put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES = {
    "shop/errors.py": """class ShopError(Exception):
    pass


class CartError(ShopError):
    pass


class EmptyCartError(CartError):
    pass
""",
    "shop/codec.py": """class Codec:
    def encode(self, text):
        raise NotImplementedError

    def decode(self, text):
        raise NotImplementedError

    def name(self):
        return "codec"


class Plain(Codec):
    def encode(self, text):
        return text

    def label(self):
        return "plain"


class Zip(Codec):
    def encode(self, text):
        return text

    def decode(self, text):
        return text
""",
    "shop/hooks.py": """def run_hooks(key, cart):
    return key, cart


def pay(cart):
    run_hooks("before_pay", cart)
    run_hooks("after_pay", cart)


def drop(cart):
    run_hooks("on_drop", cart)


OLD_LIMIT = 3
""",
    "CHANGELOG.md": "# Changes\n\n* `OLD_LIMIT` is deprecated.\n",
    "tests/test_codec.py": """from shop.codec import Codec


class Fake(Codec):
    def name(self):
        return "fake"
""",
    "lib/till.rb": """module Till
  class Runner
    def stats
      0
    end
  end
end
""",
    "lib/till/cluster.rb": """module Till
  class Cluster < Runner
    def stats
      1
    end

    def run
      2
    end
  end
end
""",
    "lib/till/worker.rb": """module Till
  class Cluster < Runner
    class Worker < Runner
      def call
      end
    end
  end
end
""",
    "src/Stream.php": """<?php
namespace Web;

class Stream
{
    public function open(array $options)
    {
        foreach ($options as $key => $value) {
            $method = "add_{$key}";
            $this->{$method}($value);
        }
    }

    private function add_cert($value)
    {
        return $value;
    }

    private function drop_cert($value)
    {
        return $value;
    }
}
""",
    "kit/Cargo.toml": '[package]\nname = "kit"\n',
    "kit/src/lib.rs": """pub trait Generator {
    fn generate(&self) -> String;
}

pub struct Bash;

impl Generator for Bash {
    fn generate(&self) -> String {
        String::new()
    }
}

pub fn completion() {}
""",
}


@pytest.fixture
async def atlas(tmp_path: Path) -> AsyncIterator[Atlas]:
    folder, root = tmp_path, tmp_path / "tree"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    await indexed(root, folder / "data")
    async with open_atlas(load_settings(str(root), str(folder / "data"), environment=QUICK)) as opened:
        yield opened


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


@pytest.mark.parametrize(
    "question",
    [
        "which methods of Codec are overridden by its subclasses",
        "which methods of Codec do its subclasses override",
        "what do the subclasses of Codec override",
        "overrides of Codec",
    ],
)
async def test_what_subclasses_override_is_no_none(atlas: Atlas, question: str) -> None:
    found = await said(atlas, question)
    assert "that its 3 subclasses override: 3 of 3 in 4 places" in found, found
    for place in ("Plain.encode 13", "Zip.encode 21", "Zip.decode 24", "Fake.name 5"):
        assert place in found, found
    assert "label" not in found, "it is new"


async def test_subclasses_in_tests_count_only_where_they_are_asked_for(atlas: Atlas) -> None:
    found = await said(atlas, "which methods of Codec are overridden by its subclasses, tests aside?")
    assert "that its 2 subclasses override: 2 of 3 in 3 places" in found, found
    assert "no subclass defines: name 8" in found, found


async def test_a_class_in_parts_is_one_subclass(atlas: Atlas) -> None:
    found = await said(atlas, "Subclasses of Till::Runner - and which of those bring their own `stats`?")
    assert "subclasses of class Till.Runner lib/till.rb:2: 2\n" in found, found
    assert "own `stats` 3 | also lib/till/worker.rb:2" in found, found
    assert "1 of 2 define `stats` of their own" in found, found


async def test_calls_are_shown_where_their_arguments_are_asked_for(atlas: Atlas) -> None:
    found = await said(atlas, "every spot where run_hooks gets invoked, with the hook key used there")
    for key in ("before_pay", "after_pay", "on_drop"):
        assert f'run_hooks("{key}", cart)' in found, found


async def test_a_name_that_is_put_together_leaves_its_callers_unknown(atlas: Atlas) -> None:
    found = await said(atlas, "what calls Stream::add_cert?")
    assert ": unknown" in found, found
    assert 'src/Stream.php:9 "add_{$key}"' in found, found
    assert ": none" in await said(atlas, "what calls Stream::drop_cert?")


@pytest.mark.parametrize(
    "question",
    [
        "List every exception class here that ends up being a ShopError, directly or through its parents",
        "all classes that end up being a ShopError",
        "which exceptions end up being a ShopError?",
        "subclasses of ShopError, directly or through intermediate classes",
    ],
)
async def test_classes_below_a_class_at_any_level(atlas: Atlas, question: str) -> None:
    found = await said(atlas, question)
    assert "CartError" in found, found
    assert "EmptyCartError 9" in found and "[2]" in found, found


async def test_a_kind_with_adjectives_before_a_name_is_no_part_of_the_relation(atlas: Atlas) -> None:
    asked = (
        "List every type that implements the ahead-of-time completion trait `Generator`, including ones outside kit."
    )
    found = await said(atlas, asked)
    assert "implementations of trait" in found and "Bash" in found, found


async def test_a_mention_in_a_document_is_no_use_in_code(atlas: Atlas) -> None:
    found = await said(atlas, "Is the constant OLD_LIMIT still read by anything?")
    assert "CHANGELOG.md:3); no other line of code has it" in found, found


async def test_who_writes_something_is_no_question_for_an_author(atlas: Atlas) -> None:
    found = await said(atlas, "Who reads and who writes carts through run_hooks, tests aside?")
    assert "commits:" not in found, found
    assert "pay" in found, found


@pytest.mark.parametrize(
    "question",
    [
        "Codec has a default encode(). Which of shop's own codecs override it?",
        "Which of shop's own codecs override Codec.encode?",
    ],
)
async def test_who_overrides_what_is_stated_before(atlas: Atlas, question: str) -> None:
    found = await said(atlas, question)
    assert "overrides of method shop.codec.Codec.encode shop/codec.py:2 in shop: 2" in found, found
