"""Tests that are found by their titles, which nearly repeat a question."""

from __future__ import annotations

from pathlib import Path

from atlas.app.main import open_atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

_STORE = """export function disposeStore(store) {
  store.stop()
}
"""
_SPEC = """import { disposeStore } from '../store'

describe('Store lifespan', () => {
  it('dispose stops reactivity', () => {
    disposeStore({ stop() {} })
  })

  it.skip(
    'keeps the state of a mounted component',
    () => {}
  )

  const said = 'dispose stops reactivity twice'
})
"""
_RUBY = """class LockableTest < Minitest::Test
  test "sends instructions when email is a strategy" do
    assert true
  end
end
"""
_GO = """package shop

import "testing"

func TestParse(t *testing.T) {
\tt.Run("rejects a trailing comma in lists", func(t *testing.T) {})
}
"""


async def test_tests_are_found_by_their_titles(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    files = {
        "src/store.js": _STORE,
        "__tests__/lifespan.spec.js": _SPEC,
        "test/lockable_test.rb": _RUBY,
        "parse_test.go": _GO,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    settings = load_settings(str(root), str(tmp_path / "data"), environment=QUICK)
    asked = {
        "is there a test that disposing the whole store stops its reactivity? where": (
            "__tests__/lifespan.spec.js:4: dispose stops reactivity"
        ),
        "which test checks that a mounted component keeps its state": (
            "__tests__/lifespan.spec.js:9: keeps the state of a mounted component"
        ),
        "do any tests cover lockable instructions for the email strategy": (
            "test/lockable_test.rb:2: sends instructions when email is a strategy"
        ),
        "is there a test for trailing commas in lists?": "parse_test.go:6: rejects a trailing comma in lists",
    }
    async with open_atlas(settings) as atlas:
        for question, place in asked.items():
            said = (await hybrid_search(atlas, question)).render()
            assert "tests whose titles have most of the words: 1" in said and place in said, (question, said)
        said = (await hybrid_search(atlas, next(iter(asked)))).render()
        assert "the first is without `whole`" in said and "twice" not in said
        for question in (
            "which tests cover disposeStore",
            "is there a test that an expired session is renewed in the store",
            "how does disposing a store stop reactivity",
        ):
            assert "whose titles" not in (await hybrid_search(atlas, question)).render(), question
