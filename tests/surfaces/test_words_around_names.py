"""Questions about relations with adjectives, owners, pronouns, conditions and second halves around their names."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "src/lib.rs": "pub mod text;\npub mod header;\npub mod file;\n",
    "src/text.rs": (
        "use crate::header::Header;\n\nmacro_rules! text_header {\n    ($name:ident) => {\n        pub struct $name;\n"
        "        impl Header for $name {\n            fn name(&self) -> u8 {\n                1\n            }\n        }\n"
        "    };\n}\n\ntext_header!(Subject);\ntext_header!(Comments);\n"
    ),
    "src/header.rs": "pub trait Header {\n    fn name(&self) -> u8;\n}\n",
    "src/file.rs": (
        "use crate::header::Header;\n\npub struct Date;\nimpl Header for Date {\n    fn name(&self) -> u8 {\n        2\n    }\n}\n"
        "pub struct Version;\nimpl Header for Version {\n    fn name(&self) -> u8 {\n        3\n    }\n}\n"
        "pub struct One;\nimpl One {\n    pub fn set_stream(&self) {}\n}\n"
        "pub struct Two;\nimpl Two {\n    pub fn set_stream(&self) {}\n}\n"
    ),
    "shop/__init__.py": "",
    "shop/storage.py": (
        "class BaseStorage:\n    def put_new(self, key):\n        return False\n\n\n"
        "class MemoryStorage(BaseStorage):\n    def put_new(self, key):\n        return True\n\n\n"
        "class FileStorage(BaseStorage):\n    def put_new(self, key):\n        return True\n\n\n"
        "class HoleStorage(BaseStorage):\n    pass\n\n\nclass ExpiringStorage(MemoryStorage):\n    pass\n"
    ),
    "shop/api.py": (
        "class Result:\n    pass\n\n\ndef fetch():\n    return Result()\n\n\ndef result_handle():\n    return Result()\n\n\n"
        "def drop_item(item):\n    return item\n\n\n"
        "def run(task):\n    if task.revoked:\n        drop_item(task)\n    try:\n        task.work()\n    except ValueError:\n"
        "        if not task.retries:\n            drop_item(task)\n\n\ndef throws():\n    raise ValueError('made')\n"
    ),
    "shop/store.py": (
        "from shop.api import drop_item\n\n\nclass Store:\n    def up(self):\n        return drop_item(1)\n\n"
        "    def down(self):\n        return drop_item(2)\n\n\ndef other():\n    return drop_item(3)\n"
    ),
    "lib/old/index.js": "const helper = require('./helper');\nmodule.exports = { helper };\n",
    "lib/old/helper.js": "function help() {\n  return 1;\n}\nmodule.exports = { help };\n",
    "lib/old/more.js": "class More {}\nmodule.exports = More;\n",
    "lib/fresh/index.js": "const { help } = require('../old/helper');\nmodule.exports = () => help();\n",
    "lib/fresh/part.js": "const More = require('../old/more');\nclass Part extends More {}\nmodule.exports = Part;\n",
    "lib/main.js": "const old = require('./old');\nmodule.exports = old;\n",
    "lib/client.js": "class Client {}\nmodule.exports = Client;\n",
    "lib/postgres/index.js": "const Client = require('../client');\nclass ClientPG extends Client {}\nmodule.exports = ClientPG;\n",
    "lib/mysql/index.js": "const Client = require('../client');\nclass ClientMy extends Client {}\nmodule.exports = ClientMy;\n",
    "lib/red/index.js": "const PG = require('../postgres');\nclass ClientRed extends PG {}\nmodule.exports = ClientRed;\n",
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        (
            "Which types implement the plain Header trait?",
            ("trait header.Header", ": 2 in 4 lines; not taken into account: `plain`"),
        ),
        ("which methods of the Store go through drop_item?", ("in Store: 2 of 4", "Store.up 6", "Store.down 9")),
        ("what methods in Store call drop_item", ("in Store: 2 of 4",)),
        (
            "is set_stream on the open connections called from anywhere or can it go?",
            ("callers of all: none", "`open`"),
        ),
        ("where do we use our own fetch / drop_item helpers, for what", ("usages of fetch and drop_item:", "Store.up")),
        (
            "If I add a storage next to HoleStorage, what else must I touch?",
            ("usages of class shop.storage.HoleStorage",),
        ),
        (
            "where do we construct Result handles?",
            ("with `handles` in the name: 1 of 2", "without `handles`", "shop.api.fetch"),
        ),
    ],
)
async def test_words_around_a_name_do_not_hide_the_relation(atlas: Atlas, asked: str, parts: tuple[str, ...]) -> None:
    answer = await said(atlas, asked)
    assert all(part in answer for part in parts), answer


@pytest.mark.parametrize(
    "asked",
    [
        "every class deriving from BaseStorage directly or through another one",
        "subclasses of BaseStorage, direct or via others",
    ],
)
async def test_those_through_others_are_listed_where_they_are_asked_for(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "storage.py:1: 4\n" in answer and "ExpiringStorage 20" in answer


async def test_callers_come_with_the_conditions_that_they_stand_under(atlas: Atlas) -> None:
    answer = await said(atlas, "who calls drop_item, and in which situations?")
    assert "18: if task.revoked: > drop_item(task)" in answer
    assert "22: except ValueError: > 23: if not task.retries: > drop_item(task)" in answer
    assert "not answered" not in answer and "Store.up 6 " in answer


@pytest.mark.parametrize(
    "asked",
    [
        "which storages bring their own put_new and which one is left with the default of the base class?",
        "who overrides BaseStorage.put_new and which one keeps the base version",
    ],
)
async def test_overriders_come_with_those_that_have_the_method_as_it_is(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "MemoryStorage.put_new 7" in answer and "FileStorage.put_new 12" in answer
    assert "have that of shop.storage.BaseStorage.put_new as it is: HoleStorage shop/storage.py:16" in answer
    assert "2)" not in answer and "not answered" not in answer


@pytest.mark.parametrize(
    "asked",
    [
        "Before I delete the old folder: what in fresh still leans on it?",
        "what in fresh still depends on old",
        "what imports lib/old in lib/fresh",
    ],
)
async def test_what_depends_on_a_folder_imports_any_of_its_files(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "lib/fresh/index.js" in answer and "lib/fresh/part.js" in answer
    assert "of everything in lib/old/ (3 files)" in answer


async def test_what_macros_may_make_is_said_with_the_classes_below_one(atlas: Atlas) -> None:
    answer = await said(atlas, "which header types are generated by that text header macro?")
    assert "classes below Header src/header.rs:1: 2" in answer
    assert "at least: 1 more line may be such, without an edge: src/text.rs:6" in answer


async def test_a_word_tells_the_class_of_a_family_that_others_are_built_on(atlas: Atlas) -> None:
    answer = await said(atlas, "what client classes are built on top of the postgres client")
    assert "classes below ClientPG lib/postgres/index.js:2: 1: lib/red/index.js: ClientRed 2" in answer


async def test_what_happens_to_something_is_not_its_name(atlas: Atlas) -> None:
    answer = await said(atlas, "a value was never assigned. Where is it noticed and where is the exception made?")
    assert "no symbol `made`" not in answer
