"""Commits that a question tells in its own words: by rare words, changelogs and the code that is found, with releases."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository
from tests.surfaces.test_tools_impact import QUICK, indexed

_CHANGES = """# 2.0.0 (May 1st, 2024)

* Remove `StartAsMaster` configuration option [[GH-7](https://example.org/pull/9)]
* Keep more sockets open for slow peers
"""
_CODE = '''"""Queues."""


class Queue:
    """Holds what is to be sent."""

    limit = 3

    def refuse_unpicklable(self, item):
        """Refuse an item of the queue that pickle cannot store."""
        raise TypeError(item)
'''


@pytest.fixture
async def atlas(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin with configuration options", {"shop/queue.py": _CODE, "shop/a.py": "A = 1\n"})
    repository.tag("v1.0.0")
    repository.commit("Fix TestQueue_StartAsMaster (#9)", {"shop/a.py": "A = 2\n"})
    repository.commit("Forbid traversal ('.' and '..') of paths", {"shop/a.py": "A = 3\n"})
    repository.commit("Add CHANGES", {"CHANGES.md": _CHANGES})
    repository.tag("v2.0.0")
    body = "Make window of sends configurable, default to 2 in flight\n\nA larger window\nhurts latency.\n"
    repository.commit(body, {"shop/a.py": "A = 4\n"})
    repository.commit("Add a window for paths", {"shop/a.py": "A = 5\n"})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        yield opened
    repository.close()


async def test_the_rarest_words_tell_the_commit_with_its_release_and_reason(atlas: Atlas) -> None:
    asked = "When did the number of sends in flight become configurable, by whom, and what was the reason for that?"
    said = (await hybrid_search(atlas, asked)).render()
    assert "2)" not in said, "the commit says who made it and why"
    assert "Make window of sends configurable" in said and "Add a window" not in said
    assert "A larger window hurts latency." in said and "first in" not in said, "no tag contains it"
    said = (await hybrid_search(atlas, 'Since when are "." and ".." refused in path arguments? Who added it?')).render()
    assert "Forbid traversal" in said and "; first in v2.0.0" in said and "window" not in said


async def test_a_line_of_a_changelog_leads_to_the_commit_by_its_identifier(atlas: Atlas) -> None:
    asked = "There used to be a configuration option to start as the master. Which commit dropped it, in which release?"
    said = (await hybrid_search(atlas, asked)).render()
    assert "commits that name `StartAsMaster`: 1" in said and "Fix TestQueue_StartAsMaster (#9)" in said
    assert "CHANGES.md:3: [2.0.0]" in said and "first in v2.0.0" in said


async def test_a_line_of_a_changelog_without_a_commit_is_said_alone(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "which commit taught it to keep sockets open for slow peers")).render()
    assert (
        "no message of a commit was found that tells it" in said
        and "Keep more sockets open" in said
        and "commits:" not in said
    )


async def test_the_commit_leads_where_the_question_asks_who_or_when(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "post")
    repository.commit(
        "Begin", {"post/pool.py": "class Pool:\n    size = 1\n", "CHANGES.md": "# 1.0.0\n\n* First release\n"}
    )
    transport = "class Transport:\n    attempts = 3\n"
    lines = (
        "# 1.1.0\n\n* Retry failed deliveries of letters\n* Add a transport for parcels\n\n# 1.0.0\n\n* First release\n"
    )
    repository.commit("Be patient", {"post/transport.py": transport, "CHANGES.md": lines})
    repository.commit("Support zstd decoding (#7)", {"post/pool.py": "class Pool:\n    size = 2\n"})
    lines = f"# 1.2.0\n\n* Support for zstd decoding is added. (#7)\n\n{lines}"
    repository.commit("Release", {"CHANGES.md": lines, "post/__init__.py": '__version__ = "1.2.0"\n'})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        for asked in (
            "which commit taught it to retry failed deliveries of letters",
            "who added the retries of failed deliveries of letters?",
        ):
            said = (await hybrid_search(atlas, asked)).render()
            assert "the commit that wrote CHANGES.md:7" in said and "commits:" in said, said
            assert said.index("Be patient") < said.index("Retry failed deliveries of letters")
        said = (await hybrid_search(atlas, "when did we add support for zstd decoding")).render()
        assert said.index("Support zstd decoding (#7)") < said.index("CHANGES.md:3: "), said
        said = (await hybrid_search(atlas, "which release added zstd decoding")).render()
        assert said.index("CHANGES.md:3: ") < said.index("Support zstd decoding (#7)"), said
        said = (await hybrid_search(atlas, "who added the retries to the transport")).render()
        assert "has most of the words" not in said, "the line about a transport has no word of what was added to it"
    repository.close()


async def test_without_a_message_the_commits_of_the_best_hit_are_a_guess(atlas: Atlas) -> None:
    asked = "In which commit did the queue begin to refuse what pickle cannot store?"
    said = (await hybrid_search(atlas, asked)).render()
    assert "no message of a commit was found that tells it; of the best hit, a guess" in said, said
    assert "refuse_unpicklable" in said and "Begin with configuration options; first in v1.0.0" in said


async def test_a_verb_and_its_particle_are_one_word_of_messages(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "post")
    files: dict[str, str | None] = {
        "post/transport/__init__.py": "class Pool:\n    pass\n",
        "post/util/nanoid.py": "def make():\n    return 1\n",
    }
    repository.commit("Begin with a transport", files)
    repository.commit("Fix slow shutdowns of the pool", {"post/a.py": "A = 1\n"})
    repository.commit("Add orderly shutdown", {"post/b.py": "B = 1\n"})
    repository.commit("Replace uuid with a copy", {"post/util/idmaker.py": "def make_id():\n    return 2\n"})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        asked = "Who added the possibility to shut a transport / its pool down, which PR?"
        said = (await hybrid_search(atlas, asked)).render()
        assert "Add orderly shutdown" in said and "was added" not in said, "a slash between words is no path"
        assert "Fix slow shutdowns" not in said, "what mends it did not add it"
        said = (await hybrid_search(atlas, "when did the idmaker copy in post/util come in")).render()
        assert "post/util/idmaker.py was added" in said and "Replace uuid" in said, "the folder is where it is"
        said = (await hybrid_search(atlas, "who added the retries in post/util")).render()
        assert "post/util was added" not in said
        said = (await hybrid_search(atlas, "who added the zebra transport")).render()
        assert "was added" not in said, "the file of one word lacks the other"
        said = (await hybrid_search(atlas, "who added post/util")).render()
        assert "Begin with a transport" in said
    repository.close()


async def test_the_commit_that_deleted_what_another_added_and_the_reason_of_a_release(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "work")
    repository.commit("Begin", {"work/storage.py": "class Storage:\n    pass\n"})
    repository.commit("Add kyototycoon backend", {"work/contrib/kyoto.py": "class Kyoto:\n    pass\n"})
    repository.commit("Start workers", {"work/start.py": "def start():\n    set_start_method('fork')\n"})
    repository.commit("Use get_context() rather than set_start_method()", {"work/start.py": "def start():\n    pass\n"})
    changes = "# 2.0\n\n* Faster storage\n* Use an own context rather than the start-method, as the script failed\n"
    repository.commit("Kill the kt thing", {"work/contrib/kyoto.py": None, "CHANGELOG.md": changes})
    repository.tag("v2.0")
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        for asked in (
            "when was the Kyoto Tycoon backend thrown out and in what commit? how long had it been around",
            "who ditched the kyoto storage, and when",
        ):
            said = (await hybrid_search(atlas, asked)).render()
            assert "Kill the kt thing (deletes work/contrib/kyoto.py, there since " in said and "2)" not in said, asked
            assert "Add kyototycoon backend" in said and "was added" not in said, asked
        asked = "Why did the workers stop using set_start_method, and since which commit?"
        said = (await hybrid_search(atlas, asked)).render()
        assert "CHANGELOG.md:4: [2.0] * Use an own context" in said and "Faster storage" not in said
    repository.close()
