"""Modules that a question tells in words, what tests load them, and what each importer takes from them."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "src/index.js": "export default function main() {\n  return 1;\n}\n",
    "src/plugin/span/index.js": "import { unit, names } from './words';\n\nexport default () => unit(names);\n",
    "src/plugin/span/words.js": (
        "export const names = ['day'];\nexport const unit = (name) => name;\nexport const rest = () => 1;\n"
    ),
    "src/plugin/zone/index.js": "import { unit } from '../span/words';\n\nexport default () => unit('zone');\n",
    "types/plugin/span.d.ts": "declare const plugin: string;\nexport = plugin;\n",
    "test/plugin/span.test.js": "import span from '../../src/plugin/span';\n\ntest('span', () => span());\n",
    "test/issues/order.test.js": "import span from '../../src/plugin/span';\n\ntest('order', () => span());\n",
    "test/plugin/zone.test.js": "import zone from '../../src/plugin/zone';\n\ntest('zone', () => zone());\n",
    "src/config.js": "export function loadConfig() {\n  return 1;\n}\n",
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


@pytest.mark.parametrize(
    "asked",
    [
        "test files that load the span plugin?",
        "which tests import the span plugin",
        "which test files load src/plugin/span?",
    ],
)
async def test_tests_that_load_a_module_are_all_of_its_importers_among_tests(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "importers of module src.plugin.span src/plugin/span/index.js:1 in tests: 2 of 3\n" in answer, answer
    assert "test/issues/order.test.js\n  module 1" in answer and "test/plugin/span.test.js\n  module 1" in answer
    assert "zone.test.js" not in answer


@pytest.mark.parametrize(
    "asked",
    [
        "Which modules import from span's words file, and which of its exports does each take?",
        "which files import src/plugin/span/words.js and what does each of them take from it",
        "what imports src/plugin/span/words.js, and which names each takes",
    ],
)
async def test_importers_come_with_the_names_that_each_takes(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "src/plugin/span/index.js\n  module 1 (import 0.99): import { unit, names } from './words'" in answer, answer
    assert "src/plugin/zone/index.js\n  module 1 (import 0.99): import { unit } from '../span/words'" in answer
    assert ": 2" in answer and "2)" not in answer


async def test_to_load_what_is_no_module_is_no_import(atlas: Atlas) -> None:
    answer = await said(atlas, "where is the config loaded")
    assert "importers" not in answer and "loadConfig" in answer, answer
