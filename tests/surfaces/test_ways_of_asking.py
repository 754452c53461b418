"""The order of calls, pages about values, messages with values: what is asked for decides, not the words around it."""

from __future__ import annotations

import pytest

from atlas.code.atlas import Atlas
from atlas.code.tools.relation_answer import RelationAnswer
from atlas.code.tools.search.search import hybrid_search
from atlas.code.tools.search.search_answer import SearchAnswer

FILES = {
    "src/send.py": '''from src.zip import compress
from src.auth import sign

LIMIT = 30


def send_request(request, timeout=20):
    """Send a request."""
    if timeout:
        sign(request)
    body = compress(request)
    sign(body)
    return connect(body)


def connect(body):
    return body
''',
    "src/auth.py": "def sign(request):\n    return request\n",
    "src/zip.py": "def compress(request):\n    return request\n",
    "src/errors.ts": """export class Redirects extends Error {
  constructor(request: { limit: number }) {
    super(`Redirected ${request.limit} times. Aborting.`)
  }
}
""",
    "src/size.rs": """pub fn parse(s: &str) -> Result<u8, String> {
    Err(format!("'{}' is not a valid size constraint. See 'help'.", s))
}
""",
    "src/limits.rb": """def check(history)
  raise "Exceeded #{history.limit} redirects." if history.long?
end
""",
    "src/url.py": """def check(url):
    raise ValueError(
        f"Invalid URL {url!r}: No scheme supplied. "
        f"Perhaps you meant https://{url}?"
    )
""",
    "test/redirects.test.ts": "test('stops', () => { expect(run()).toBe('Redirected 10 times. Aborting.') })\n",
    "docs/timeouts.md": "# Timeouts\n\nThe default timeout of a request is 20 seconds, `timeout` changes it.\n",
}


@pytest.mark.parametrize(
    "question", ["what does send_request call, in what order?", "in which order does send_request call its helpers"]
)
async def test_callees_in_the_order_of_their_lines(atlas: Atlas, question: str) -> None:
    answer = await hybrid_search(atlas, question)
    assert isinstance(answer, RelationAnswer)
    (group,) = answer.files
    assert [(each.name.rpartition(".")[2], each.lines) for each in group.symbols] == [
        ("sign", (10, 12)),
        ("compress", (11,)),
        ("connect", (13,)),
    ]
    said = answer.render()
    assert "in the order of the lines that call them" in said
    assert "not answered" not in said and "not taken into account" not in said


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ('where is "Redirected 10 times. Aborting." raised', "src/errors.ts:2"),
        ("'12x' is not a valid size constraint", "src/size.rs:1"),
        ('where does "Exceeded 30 redirects." come from', "src/limits.rb:1"),
        ("Invalid URL 'shop': No scheme supplied. Perhaps you meant https://shop?", "src/url.py:1"),
    ],
)
async def test_the_line_that_builds_a_message_comes_first(atlas: Atlas, question: str, place: str) -> None:
    answer = await hybrid_search(atlas, question)
    assert isinstance(answer, SearchAnswer)
    assert answer.hits[0].symbol.place == place, answer.render()
    assert not answer.nowhere and not answer.card


@pytest.mark.parametrize(
    "question",
    [
        "which page explains the default timeout",
        "where is the default value of timeout documented",
        "what document lists the default values of timeout",
    ],
)
async def test_a_page_about_a_value_is_a_page(atlas: Atlas, question: str) -> None:
    answer = await hybrid_search(atlas, question)
    said = answer.render()
    assert "docs/timeouts.md" in said, said
    assert not said.partition("\n")[2].startswith("`timeout`"), said
