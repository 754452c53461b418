"""Whether the value of a flag is applied, and options of a program by what they do."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search

FILES = {
    "package.json": '{"name": "root", "workspaces": ["packages/*"], "devDependencies": {"typescript": "5"}}',
    "packages/rest/package.json": '{"name": "rest", "version": "1.0.0", "dependencies": {"commander": "1"}}',
    "packages/rest/src/cli.ts": (
        "import { Command } from 'commander';\nimport { createServer } from './server';\n\nconst program = new Command();\n\n"
        "program\n\t.option('-t, --timeout <timeout>', 'Request timeout', '5000')\n"
        "\t.option('-k, --api-key <key>', 'API key')\n\t.action(async (options) => {\n"
        "\t\tconst timeout = parseInt(options.timeout, 10);\n\t\tconst app = createServer({\n"
        "\t\t\tapiKey: options.apiKey,\n\t\t\ttimeout\n\t\t});\n\t});\n"
    ),
    "packages/rest/src/server.ts": (
        "export function createServer(config: { apiKey: string }) {\n\tconst { apiKey } = config;\n\treturn apiKey;\n}\n"
    ),
    "packages/other/package.json": '{"name": "other", "version": "1.0.0", "dependencies": {"left": "1"}}',
    "packages/other/src/wait.ts": "export const timeout = 1;\n",
    "lite/Options.cs": (
        "namespace Lite\n{\n    public class Options : OptionSet\n    {\n        public string NamePattern { get; set; }\n\n"
        "        public void Configure()\n        {\n"
        '            Add("name-format=", "Pattern to use in generating test names.",\n'
        "                v => NamePattern = v);\n"
        '            Add("labels=|l=", "Whether to write names of cases to the output.",\n                v => Labels = v);\n'
        "        }\n    }\n}\n"
    ),
    "lite/Names.cs": (
        'namespace Lite\n{\n    public class Names\n    {\n        public static string NamePattern = "{m}{a}";\n    }\n}\n'
    ),
}


async def said(atlas: Atlas, question: str) -> str:
    return (await hybrid_search(atlas, question)).render()


async def test_a_value_that_is_handed_on_and_read_nowhere(atlas: Atlas) -> None:
    answer = await said(atlas, "Is the --timeout value given to rest ever applied to requests?")
    assert "2 other lines of code below packages/rest with `timeout` or `Timeout`" in answer, answer
    assert "cli.ts:10: const timeout = parseInt(options.timeout, 10);" in answer
    assert "handed to createServer packages/rest/src/server.ts:1, which does not name `timeout`" in answer
    assert "(2 const { apiKey } = config;)" in answer and "packages/other" not in answer


async def test_a_value_that_is_read_comes_with_the_lines_that_read_it(atlas: Atlas) -> None:
    answer = await said(atlas, "is --api-key honoured?")
    assert "cli.ts:12: apiKey: options.apiKey," in answer and "server.ts:2: const { apiKey } = config;" in answer
    assert "does not name" not in answer


@pytest.mark.parametrize(
    "asked",
    [
        "Which option of the lite runner changes how test names are generated?",
        "which command line option sets the pattern for generating names of tests?",
    ],
)
async def test_an_option_of_a_program_by_its_help_with_what_holds_its_value(atlas: Atlas, asked: str) -> None:
    answer = await said(atlas, asked)
    assert "--name-format: Add(" in answer and "--labels" not in answer, answer
    assert 'lite/Names.cs:5: public static string NamePattern = "{m}{a}";' in answer
