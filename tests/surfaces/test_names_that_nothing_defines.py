"""Questions about commands, backends and options that do not exist, or that only speak of a test or a product."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\ndependencies = ["attrs"]\n',
    "packages/mongo/pyproject.toml": '[project]\nname = "shop-mongo"\nversion = "1"\ndependencies = ["shop"]\n',
    "shop/__init__.py": "",
    "shop/scripts.py": (
        "class ServeCommand:\n    def run(self):\n        return 'served'\n\n\n"
        "class ShellCommand:\n    def run(self):\n        # once `pmake` did this\n        return 'a project from a scaffold'\n"
    ),
    "packages/mongo/backend.py": "class MongoBackend:\n    def holds(self, job):\n        return job\n",
    "shop/retry.py": (
        "class RetryAttribute:\n    tries = 3\n\n    def attempts(self, test):\n        return [test] * self.tries\n"
    ),
    "tests/test_retry.py": "from shop.retry import RetryAttribute\n\n\ndef test_tries():\n    assert RetryAttribute.tries == 3\n",
    "web/types.ts": "export interface Config {\n\tchannelName?: string;\n}\n\nexport interface Resolved {\n\tchannelName: string;\n}\n",
    "web/channel.ts": (
        "export class Channel {\n\tconstructor(config: Config) {\n\t\tthis.use({ ...config });\n"
        "\t\tlog('created with %O', {\n\t\t\tchannelName: config.channelName || 'shop_jobs',\n\t\t});\n"
        "\t\tthis.config = {\n\t\t\tchannelName: config.channelName ?? 'shop:jobs',\n\t\t};\n\t}\n}\n"
    ),
    "lib/transports/long_poll.ex": "defmodule Shop.Transports.LongPoll do\n  def isRpc(job), do: job\nend\n",
    "web/http.ts": "export class HttpTransport {\n\tlongPoll() {\n\t\treturn 1;\n\t}\n}\n",
    "docs/backends.md": (
        "# Backends\n\nIf you need SQLite, write a backend of your own.\n\nOpen a test in Visual Studio to step through it.\n"
    ),
    "HISTORY.rst": (
        "1.1\n===\n\n- ``pmake`` learned to ask before it overwrites a file.\n\n"
        "2.0\n===\n\n- ``pmake`` and the scaffolds have been removed in favor of\n  using the ``cutter`` tool.\n"
    ),
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


@pytest.mark.parametrize(
    "asked",
    [
        "Where is the pmake command implemented that generates a project from a scaffold?",
        "how does the `pmake` script make a project?",
        "which class runs the pmake subcommand?",
    ],
)
async def test_a_command_that_nothing_defines_is_said_first_with_what_became_of_it(atlas: Atlas, asked: str) -> None:
    first, *others = (await said(atlas, asked)).splitlines()[1:]
    assert first.startswith("`pmake` is defined nowhere: it occurs in no indexed code, only in "), first
    assert first.index("removed in favor of using the ``cutter`` tool") < first.index("learned"), first
    assert sum(line[:1].isdigit() for line in others) <= 3, "the hits are merely the nearest"


async def test_what_there_is_of_the_kind_and_which_projects_there_are(atlas: Atlas) -> None:
    answer = await said(atlas, "Which package in the monorepo holds the SQLite backend?")
    assert "`SQLite` is defined nowhere: it occurs in no indexed code, only in docs/backends.md:3" in answer
    assert "what is called so: MongoBackend packages/mongo/backend.py:1" in answer
    assert "projects that declare dependencies: shop (.), shop-mongo (packages/mongo)" in answer, answer
    assert "`CouchDB` is defined nowhere: it occurs in no indexed file" in await said(
        atlas, "where is the CouchDB backend?"
    )


async def test_a_name_of_several_words_with_its_abbreviation(atlas: Atlas) -> None:
    answer = await said(atlas, "Where is the server-sent events (SSE) transport for jobs implemented?")
    assert answer.split("\n")[1] == "`server-sent events` or `SSE` is defined nowhere: it occurs in no indexed file"
    transports = "Shop.Transports.LongPoll lib/transports/long_poll.ex:1, HttpTransport web/http.ts:1"
    assert answer.split("\n")[2] == f"what is called so: {transports}", answer
    for asked in ("where is the long polling (POLL) transport", "where is the remote call (RPC) transport done?"):
        assert "defined nowhere" not in await said(atlas, asked), asked


@pytest.mark.parametrize(
    "asked", ["where is the Mongo backend?", "how does the shell command run?", "where is the scaffold option handled?"]
)
async def test_words_that_code_has_and_words_of_english_are_no_missing_names(atlas: Atlas, asked: str) -> None:
    assert "defined nowhere" not in await said(atlas, asked)


@pytest.mark.parametrize(
    "asked",
    [
        "What's the default number of attempts of a test marked with Retry, and which property changes it?",
        "I'm stepping through a test in Visual Studio and it goes over its time: is it still tried again?",
    ],
)
async def test_a_test_that_a_question_speaks_of_is_not_asked_for(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "that can have tests" not in answer and "no symbol" not in answer, answer
    assert "test_tries" in await said(atlas, "is there a test for RetryAttribute?")


async def test_a_default_that_a_mark_has_no_option_for_comes_with_those_it_has(atlas: Atlas) -> None:
    answer = await said(atlas, "What's the default pause between attempts of a test marked with Retry?")
    assert "no field of class shop.retry.RetryAttribute shop/retry.py:1 has `pause`; fields: tries 2" in answer, answer
    answer = await said(atlas, "What is the default number of tries of a test marked with Retry?")
    assert "no field" not in answer and "tries = 3" in answer, answer


async def test_a_value_that_is_only_logged_is_no_assignment(atlas: Atlas) -> None:
    answer = await said(atlas, "where does channelName get its value?")
    assert "channelName: config.channelName || 'shop_jobs', (only handed to log :4)" in answer, answer
    assert "channelName: config.channelName ?? 'shop:jobs'," in answer and "shop:jobs', (only" not in answer
