"""The subject before the phrase: names of a question are found in the index, whatever is asked about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.core.errors import ConfigError
from atlas.runtime.config.load import load_settings
from tests.surfaces.trees import QUICK, indexed

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": """from shop.text import slug

LIMIT = 12
RETRIES = 3


class Basket:
    def __init__(self):
        self.isOpen = True
        self.items = {}

    def add(self, name):
        if len(self.items) > LIMIT:
            raise ValueError(name)
        self.items[slug(name)] = name
        return self.close()

    def close(self):
        self.isOpen = False
""",
    "shop/text.py": '''def slug(text):
    """Return a text without spaces."""
    return text.replace(" ", "-")


def shout(text):
    return slug(text).upper()
''',
    "shop/views.py": """from shop.cart import Basket
from shop.text import slug


def slug_of(basket):
    return [slug(name) for name in basket.items]


def show(name):
    basket = Basket()
    basket.add(name)
    if basket.isOpen:
        return slug(name)
""",
    "shop/filters.py": "def slug(value):\n    return value\n\n\ndef apply(value):\n    return slug(value)\n",
    "tests/test_cart.py": "from shop.cart import Basket\n\n\ndef test_add():\n    Basket().add('a')\n",
    "web/store.ts": """export const useStore = create((set) => ({ ready: false }))
let isRecording = true
export function stopRecording() { isRecording = false }
export function record(event: string) { if (!isRecording) return; send(event) }
""",
    "net/keep.c": """#define NO_FREE 0x4
struct ctx { int flags; };
void open_ctx(struct ctx *c) { c->flags |= NO_FREE; }
void drop_ctx(struct ctx *c) { c->flags &= ~NO_FREE; }
int keeps(struct ctx *c) { return c->flags & NO_FREE; }
""",
}


async def answer(atlas: Atlas, question: str, **stated: str) -> str:
    return (await hybrid_search(atlas, question, **stated)).render()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "question",
    [
        "tell me what you have got around Basket.add",
        "Basket#add, whatever there is",
        "hm, Basket::add() - what should I look at?",
        "Basket.add/1 in a nutshell",
        "the add method of shop/cart.py, all of it",
    ],
)
async def test_a_certain_subject_without_a_relation_is_answered_with_its_card(atlas: Atlas, question: str) -> None:
    text = await answer(atlas, question)
    assert "method Basket.add shop/cart.py:12" in text.splitlines()[1]
    assert "called by 2" in text and "shop/views.py: show" in text
    assert "tested by 1: tests/test_cart.py: test_add" in text


@pytest.mark.parametrize(
    "question",
    [
        "I wonder which spots stopRecording() gets called from at startup",
        "so this `slug_of` thing, anybody calling `slug_of` nowadays?",
        "LIMIT: used by whom, really",
    ],
)
async def test_the_words_around_a_subject_tell_the_relation(atlas: Atlas, question: str) -> None:
    first = (await answer(atlas, question)).splitlines()[1]
    assert first.startswith(("callers of", "usages of")), first


async def test_what_somebody_does_is_not_what_is_asked(atlas: Atlas) -> None:
    text = await answer(atlas, "what is the limit of items when I just call Basket.add()")
    assert not text.splitlines()[1].startswith("callers of")


async def test_a_name_without_a_symbol_is_answered_with_its_lines(atlas: Atlas) -> None:
    text = await answer(atlas, "who sets isRecording in web/store.ts?")
    assert "`isRecording` is no symbol" in text or "isRecording" in text.splitlines()[1]
    assert "isRecording = false" in text
    assert "occurs in no indexed file" in await answer(atlas, "what does frobnicateAllThings look like from outside")


async def test_lines_that_set_a_value_come_first_and_lines_without_an_edge_are_not_lost(atlas: Atlas) -> None:
    text = await answer(atlas, "who sets, clears and checks the NO_FREE flag")
    for line, place in (("c->flags |= NO_FREE", 3), ("c->flags &= ~NO_FREE", 4), ("c->flags & NO_FREE", 5)):
        assert line in text or f"{place} (" in text, text


async def test_a_file_behind_a_name_qualifies_it(atlas: Atlas) -> None:
    text = await answer(atlas, "callers of slug in shop/text.py")
    assert "function shop.text.slug shop/text.py:1: 4" in text.splitlines()[1]
    assert "filters" not in text


async def test_a_limit_stands_in_the_first_line_with_the_number_without_it(atlas: Atlas) -> None:
    text = await answer(atlas, "callers of shop.text.slug only in shop/views.py")
    assert "in shop/views.py: 2 of 4" in text.splitlines()[1]


async def test_a_stated_relation_is_not_read_from_words(atlas: Atlas) -> None:
    text = await answer(atlas, "x", relation="callers", of="shop.text.slug", scope="shop/views.py")
    assert "callers of function shop.text.slug shop/text.py:1 in shop/views.py: 2 of 4" in text.splitlines()[1]
    path = await answer(atlas, "x", relation="path", of="show", to="slug_of")
    assert "path" in path.splitlines()[1]
    assert "uses" not in (await answer(atlas, "x", relation="called by", of="Basket.close")).splitlines()[1]
    assert "no symbol `nothing_like_it`" in await answer(atlas, "x", relation="callers", of="nothing_like_it")


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"relation": "friends", "of": "slug"}, "callers, callees"),
        ({"relation": "callers"}, "needs `of`"),
        ({"relation": "path", "of": "slug"}, "needs `to`"),
    ],
)
async def test_a_wrongly_stated_relation_says_what_is_needed(atlas: Atlas, stated: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        await answer(atlas, "x", **stated)


async def test_two_words_that_happen_to_be_a_relation_and_a_name_are_searched(atlas: Atlas) -> None:
    assert "1. " in await answer(atlas, "testing items")


async def test_an_unlimited_page_has_at_most_five_hits_and_a_cursor_for_more(atlas: Atlas) -> None:
    found = await hybrid_search(atlas, "where is a name kept in the basket with its text")
    assert 1 <= len(found.hits) <= 5  # type: ignore[union-attr]
    assert found.evidence.cursor


FAMILIES = {
    "jobs/workers.py": (
        "import os\n\n\nclass BaseWorker:\n    def run_it(self):\n        pass\n\n    def register_signal_hooks(self):\n        pass\n\n\n"
        "class Worker(BaseWorker):\n    def run_it(self):\n        os.fork()\n\n\n"
        "class SpawnWorker(Worker):\n    def register_signal_hooks(self):\n        os.spawnv()\n\n\n"
        "class SimpleWorker(BaseWorker):\n    pass\n\n\ndef worker(name):\n    return name\n\n\ndef run(name):\n    return worker(name)\n"
    ),
    "src/Store.php": (
        "<?php\ninterface StoreInterface {\n  public function getCacheKeys();\n}\nclass DiskStore implements StoreInterface {\n"
        "  public function getCacheKeys() { return [1]; }\n}\nclass NetStore implements StoreInterface {\n"
        "  public function getCacheKeys() { return []; }\n}\n"
    ),
    "src/Codec.java": "abstract class AbstractCodec {}\nclass PlainCodec extends AbstractCodec {}\nclass ZipCodec extends AbstractCodec {}\n",
}


async def test_classes_told_by_what_they_are(tmp_path: Path) -> None:
    for name, text in FAMILIES.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text(text)
    await indexed(tmp_path / "shop", tmp_path / "data")
    settings = load_settings(str(tmp_path / "shop"), str(tmp_path / "data"), environment=QUICK)
    async with open_atlas(settings) as atlas:
        for question, wanted in (
            (
                "which worker classes run the job in a child process?",
                "classes below BaseWorker jobs/workers.py:4: 3: jobs/workers.py: Worker 12, SpawnWorker 17, SimpleWorker 22\n",
            ),
            (
                "which of the workers register hooks for a signal?",
                "BaseWorker.register_signal_hooks jobs/workers.py:8: 1: jobs/workers.py: SpawnWorker.register_signal_hooks 18\n",
            ),
            ("which of the built-in stores have cache keys?", "DiskStore.getCacheKeys 6, NetStore.getCacheKeys 9\n"),
            (
                "what codecs are slow on short texts?",
                "classes below AbstractCodec src/Codec.java:1: 2: src/Codec.java: ",
            ),
        ):
            text = (await hybrid_search(atlas, question)).render()
            assert wanted in text, text
            assert "\nfunction run " not in text and "\nfunction worker " not in text, text
        for question in ("which function runs a worker process?", "what codec is slow on short texts?"):
            assert "classes below" not in (await hybrid_search(atlas, question)).render()
