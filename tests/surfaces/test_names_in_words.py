"""Names with words around them: a package before an interface, what a class is besides, remarks in brackets."""

from __future__ import annotations

from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "workers/base.py": "class Worker:\n    def run(self):\n        return 1\n",
    "workers/near.py": "from workers.base import Worker\n\n\nclass Near(Worker):\n    pass\n\n\nclass Nearer(Near):\n    pass\n",
    "tests/test_worker.py": "from workers.base import Worker\n\n\nclass Fake(Worker):\n    pass\n",
    "web/worker.py": "class Worker:\n    pass\n\n\nclass Other(Worker):\n    pass\n",
    "shop/quota.py": "class QuotaError(Exception):\n    pass\n\n\ndef count():\n    raise QuotaError\n\n\ndef get_all():\n    raise QuotaError()\n",
    "shop/entries.py": "class Entries:\n    def process(self):\n        return 1\n\n\ndef feed(entries: Entries, other):\n    entries.process()\n    other.process()\n",
    "shop/stores.py": "class SnapshotStore:\n    pass\n\n\nclass FileSnapshots(SnapshotStore):\n    pass\n",
    "shop/log.py": "class Log:\n    def note(self, text):\n        return text\n\n\ndef use(log):\n    log.note('begun')\n",
}


async def test_a_word_before_a_name_may_be_its_owner(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "what extends the web Worker")).render()
    assert "subclasses of class web.worker.Worker" in said and "Other 5" in said and "Near" not in said
    said = (await hybrid_search(atlas, "list every class that derives from the base Worker")).render()
    assert "Near 4" in said


async def test_those_that_inherit_indirectly_are_included(atlas: Atlas) -> None:
    question = (
        "list all worker classes that derive from workers.base.Worker, including the ones that inherit indirectly"
    )
    said = (await hybrid_search(atlas, question)).render()
    assert "Near 4" in said and "Nearer 8" in said


async def test_a_remark_in_brackets_is_a_scope(atlas: Atlas) -> None:
    said = (
        await hybrid_search(atlas, "List the production (non test) classes deriving from workers.base.Worker")
    ).render()
    assert "outside tests" in said and "Near 4" in said and "Fake" not in said and "not taken into account" not in said


async def test_get_before_a_participle_is_no_name(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "where does QuotaError get thrown in the library")).render()
    assert "count 6" in said and "get_all 10" in said


async def test_a_call_with_its_receiver_is_found_where_it_stands(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "what is the chain of calls from log.note() to the console")).render()
    assert "`log.note(` occurs in no indexed file" not in said


async def test_what_is_committed_in_a_log_is_no_commit(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "which functions call what feeds committed entries (Entries.process)?")).render()
    assert "feed 7" in said and "commits" not in said


async def test_a_card_says_that_its_callers_may_not_be_all(atlas: Atlas) -> None:
    said = (await hybrid_search(atlas, "tell me about `Entries.process`")).render()
    assert "called by 1" in said and "1 unresolved call of this name" in said


async def test_a_type_spelled_as_words_is_its_name(atlas: Atlas) -> None:
    said = (
        await hybrid_search(atlas, "What implementations of the snapshot store interface ship with this module?")
    ).render()
    assert "shop.stores.SnapshotStore" in said and "FileSnapshots 5" in said
    said = (await hybrid_search(atlas, "what does the quota error class say")).render()
    assert "QuotaError" in said
