"""Questions whose words sound like another kind of question: what is answered, and what is not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.reports import ReportAnswer
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES = {
    "package.json": '{"name": "shop", "dependencies": {"left-pad": "^1"}}\n',
    "src/unwrap.js": "export function unwrap(x) {\n  return x;\n}\n",
    "src/load.js": "import { unwrap } from './unwrap';\n\nexport function load(x) {\n  return unwrap(x);\n}\n",
    "src/tabs.js": "export class Action {\n  value = 1;\n}\n",
    "shop/config.py": 'def arguments(orig):\n    if "SHOP_ARGS" in orig:\n        return orig["SHOP_ARGS"]\n    return ""\n',
    "shop/worker.py": "class Worker:\n    pass\n",
    "tests/test_config.py": 'import os\n\n\ndef test_it():\n    os.environ["SHOP_ARGS"] = "x"\n',
    "CHANGES.md": "# Changes\n\n## 2.0\n\n- unwrap is deprecated.\n",
}


@pytest.fixture
async def atlas(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin", {**FILES, "shop/eventlet.py": "A = 1\n"})
    repository.commit(
        "Deprecate unwrap", {"src/unwrap.js": "// deprecated\n" + FILES["src/unwrap.js"].replace("x)", "y)")}
    )
    repository.commit("Remove the eventlet worker", {"shop/eventlet.py": ""})
    repository.commit("Name the worker", {"shop/worker.py": "class Worker:\n    name = 1\n"})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        yield opened
    repository.close()


async def test_a_variable_whose_read_has_no_known_form_is_not_read_nowhere(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "environment variable SHOP_ARGS")).render()
    assert "no read is known, 2 lines of code name it" in said
    assert "shop/config.py:2" in said and "shop/config.py:3" in said and "tests/test_config.py:5" in said


async def test_what_depends_on_a_symbol_is_no_question_about_packages(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "what depends on the unwrap utility inside the library itself?")).render()
    assert "src/load.js" in said and "left-pad" not in said
    assert "left-pad" in (await hybrid_search(atlas, "what does the library depend on")).render()


async def test_what_changes_at_run_time_is_no_question_to_git(atlas: Atlas) -> None:
    for question in (
        "a persisted value changes in another tab; how does this one notice",
        "the value changes in a tab",
    ):
        found = await hybrid_search(atlas, question)
        assert not isinstance(found, ReportAnswer), question
    for question in ("recent changes to unwrap.js", "the changes in src/unwrap.js"):
        assert "Deprecate unwrap" in (await hybrid_search(atlas, question)).render(), question


async def test_who_did_it_is_known_to_git_and_to_no_changelog(atlas: Atlas) -> None:
    assert "Deprecate unwrap" in (await hybrid_search(atlas, "when was unwrap deprecated and by whom?")).render()
    assert "CHANGES.md" in (await hybrid_search(atlas, "when was unwrap deprecated?")).render()


async def test_what_was_dropped_is_a_topic_before_a_file_of_its_last_word(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "when was the eventlet worker dropped and in which commit?")).render()
    assert "Remove the eventlet worker" in said and "Name the worker" not in said
