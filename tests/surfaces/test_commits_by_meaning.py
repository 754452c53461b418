"""Commits that a question tells in other words than their messages: by rare words, bodies and what it names."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.atlas import Atlas
from atlas.code.changes.ranked_commits import is_sure, rank_commits, telling_part
from atlas.code.tools.search.search import hybrid_search
from atlas.core.history import CommitSpan
from atlas.runtime.config.load import load_settings
from tests.git.repositories import GitRepository
from tests.surfaces.test_tools_impact import QUICK, indexed

_JOB = "class Job:\n    def save(self, store):\n        store.put({})\n"
_RETRY = (
    "fix: classify retry-exhausted jobs as failed (#7)\n\nThe two dates were equal, and a job counted as completed"
    " due to a strict comparison.\n\nCo-authored-by: Ada <ada@example.org>\n"
)
_LIMIT = (
    "Add a warning threshold to the deadline (#8)\n\n* A nullable int tells zero apart\n* Revert the threshold to a"
    " plain int: attributes take no nullable values\n"
)


@pytest.fixture
async def atlas(tmp_path: Path) -> AsyncIterator[Atlas]:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin", {"shop/job.py": _JOB.format("all"), "shop/point.py": "point = 1\n"})
    repository.commit("Show completed jobs in a page", {"shop/page.py": "def page():\n    return 1\n"})
    repository.commit(_RETRY, {"shop/state.py": "def state():\n    return 2\n"})
    repository.commit(_LIMIT, {"shop/deadline.py": "class Deadline:\n    warning = 3\n"})
    repository.commit("Hash predicates by sha256 and not by md5", {"shop/hash.py": "def digest():\n    return 4\n"})
    repository.commit(
        "fix: a race in saving (#9)\n\nKeeps the fields of the processor where a date is set.",
        {"shop/job.py": _JOB.format("some")},
    )
    repository.commit(
        "Always leave out fields of the processor (#10)", {"shop/job.py": _JOB.format("few").replace("job", "Job")}
    )
    repository.commit('Let the platform "NET" mean the new runtime (#11)', {"shop/names.py": "NET = 'net'\n"})
    repository.commit("Write the fields of a page", {"shop/page.py": "def page():\n    return 5\n"})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        yield opened
    repository.close()


async def _said(atlas: Atlas, asked: str) -> str:
    return (await hybrid_search(atlas, asked)).render()


async def test_what_used_to_be_wrong_leads_to_the_commit_that_mended_it_and_its_cause(atlas: Atlas) -> None:
    for asked in (
        "Jobs whose retries ran out used to show up as completed. Which commit corrected that and what was the cause?",
        "Jobs without retries left counted as completed; who corrected that, and because of what?",
    ):
        said = await _said(atlas, asked)
        assert "classify retry-exhausted jobs as failed" in said, asked
        assert "due to a strict comparison." in said and "ada@example.org" not in said, "the cause, without trailers"
        assert "Show completed jobs" not in said, "it has more common words, but mends nothing"


async def test_a_statement_about_the_past_asks_why_it_was_turned_back(atlas: Atlas) -> None:
    said = await _said(
        atlas,
        "The warning threshold of the deadline was a nullable int at some point in its development; why was it turned"
        " back into a plain int?",
    )
    assert "Add a warning threshold" in said and "attributes take no nullable values" in said
    said = await _said(atlas, "Saving raced at some point; which commit repaired this?")
    assert "`point`" not in said, "no word of when it was is a name"


async def test_a_word_that_git_does_not_know_is_no_revision(atlas: Atlas) -> None:
    for asked in (
        "which commit moved the hash of predicates away from md5?",
        "who moved the hash of predicates from md5 to sha256?",
    ):
        said = await _said(atlas, asked)
        assert "Hash predicates by sha256" in said and "unknown revision" not in said, asked
    said = await _said(atlas, "which commits changed shop/job.py since v9.9.9")
    assert "v9.9.9" in said and "no git history can be asked" in said, "it is written as a revision"


async def test_what_an_answer_has_to_show_is_no_question_of_its_own(atlas: Atlas) -> None:
    said = await _said(atlas, 'When did the platform "NET" stop meaning the old runtime? Give the commit and PR.')
    assert "2)" not in said and "mean the new runtime (#11)" in said


async def test_two_commits_of_one_thing_stand_in_their_order(atlas: Atlas) -> None:
    said = await _said(
        atlas,
        "When did Job.save begin leaving out fields owned by the processor, and in which later commit did that become"
        " unconditional?",
    )
    earlier, later = said.index("earlier:"), said.index("later:\n")
    assert earlier < said.index("a race in saving (#9)") < later < said.index("Always leave out fields")
    assert "2)" not in said and "fields of a page" not in said


async def test_a_program_that_has_authors_asks_nothing_of_git(atlas: Atlas) -> None:
    told = "the page names both an author and a sender. Whose address is used for saving?"
    assert "authors of commits" not in await _said(atlas, told) and "commits" not in await _said(atlas, told)
    assert "Ada Lovelace" in await _said(atlas, "who are the authors of shop/job.py")


async def test_messages_are_compared_by_their_bodies_and_the_rest_is_a_guess(atlas: Atlas) -> None:
    reader = atlas.reader
    assert reader.history is not None
    ranked = await rank_commits(
        reader, reader.history, "strict comparison of dates", ("strict", "comparison", "dates"), CommitSpan()
    )
    assert ranked[0].commit.subject.startswith("fix: classify") and set(ranked[0].words) == {
        "strict",
        "comparison",
        "dates",
    }
    assert is_sure(ranked)
    ranked = await rank_commits(reader, reader.history, "fields", ("fields",), CommitSpan())
    assert not is_sure(ranked), "two subjects have the word"
    long = "Nothing of it. " * 40 + "The strict comparison of dates was wrong. " + "More of it. " * 40
    assert telling_part(reader, long, ("strict", "comparison"), 80).startswith("...The strict comparison of dates")


async def test_the_line_that_a_commit_wrote_tells_more_than_a_message_alike(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "shop")
    repository.commit("Begin", {"shop/drain.py": "def drain():\n    return 1\n"})
    repository.commit("Add draining of sockets", {"shop/pool.py": "def stop():\n    drain_sockets_on_shutdown()\n"})
    repository.commit("Configure draining of sockets", {"shop/options.py": "def options():\n    return 5\n"})
    await indexed(repository.root, tmp_path / "data")
    async with open_atlas(load_settings(str(repository.root), str(tmp_path / "data"), environment=QUICK)) as opened:
        reader = opened.reader
        assert reader.history is not None
        words = ("sockets", "drained", "shutdown")
        ranked = await rank_commits(reader, reader.history, "are sockets drained on shutdown", words, CommitSpan())
        assert ranked[0].commit.subject == "Add draining of sockets"
    repository.close()
