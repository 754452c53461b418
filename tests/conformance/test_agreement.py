"""Words and vectors are ranked alike by the embedded store and by a real Neo4j, on one tree: five packages of Django.

What is held to, and why not to more (adr/0012 has what was measured):

* Vectors: nine of the first ten, and the same best hit, for every question. Scores are cosines of the same vectors in
  both (equal to 1e-5), but the server's index is approximate.
* Words: 8.5 of the first ten on average, six for every question; the best of one is among the first twenty of the
  other, and the best of both for seven questions of ten. Both score by BM25 with the same weights of texts; a
  server counts repeated words into a text's length and keeps that in one byte, and SQLite gives nothing for a word
  that is in more than half of all rows.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from atlas.adapters.stores.sqlite.store import EmbeddedStore
from atlas.code.atlas import Atlas
from atlas.code.question.parse_question import route
from atlas.code.retrieve.channels import by_meaning, by_words
from atlas.core.model import Filter, Scored
from atlas.parsing import VectorIndex
from atlas.runtime.config.load import load_settings
from tests.bench.bolt_speed import atlas_on
from tests.neo4j.empty import empty_neo4j

EVERYTHING, NARROW = Filter(), Filter(path="django/core")
PACKAGES = ("core", "http", "middleware", "urls", "utils")
"""Some two hundred files are enough."""
QUESTIONS = """\
how is a request routed to a view
parse a date from a string
resolve a path to a view function
reverse a named url with arguments
read cookies of a request
set a cookie on a response
stream a file as response
check the host header of a request
csrf token of a form
redirect to https
gzip the content of a response
conditional get with etag
cache key of a request
store a value in memcached
cache in the database
cache in files
lock a file
save an uploaded file
parse multipart form data
validate an email address
validate a url
validate ip addresses
minimum value of a number
send an email message
attach a file to a mail
email backend that writes to the console
serialize objects to json
deserialize objects from xml
natural keys of foreign objects
run a management command
parse arguments of the command line
create a new project from a template
start the development server
reload when code changes
load data from fixtures
check the settings for security
sign a value with a timestamp
constant time comparison of strings
hash of a password
paginate a list of objects
escape html
slug of a string
format a number with thousand separators
translate a message
activate a time zone
parse a duration
lazy evaluation of a function
cached property
import a module by dotted path
encode a url with unicode characters
""".splitlines()


@pytest.fixture
async def both(django_parts: Path, tmp_path: Path) -> AsyncIterator[tuple[Atlas, Atlas]]:
    """One tree in both stores."""
    tree = tmp_path / "tree"
    for name in PACKAGES:
        shutil.copytree(django_parts / "django" / name, tree / "django" / name)
    settings = load_settings(str(tree), str(tmp_path / "data"))
    embedded = atlas_on(EmbeddedStore.open(settings.data_dir, writing=True, vector_index=VectorIndex), settings)
    server = atlas_on(await empty_neo4j(), settings)
    for one in (embedded, server):
        assert (await one.index(full=True)).vectors > 1_500
    yield embedded, server
    await embedded.aclose()
    await server.aclose()


def shared(mine: Sequence[Scored], other: Sequence[Scored]) -> float:
    """Share of the longer list that is in both."""
    found = {hit.uid for hit in mine} & {hit.uid for hit in other}
    return len(found) / max(len(mine), len(other), 1) if mine or other else 1.0


def check_vectors(question: str, mine: Sequence[Scored], other: Sequence[Scored]) -> None:
    assert shared(mine, other) >= 0.9, question
    assert mine[0].uid == other[0].uid, question
    scores = {hit.uid: hit.score for hit in other}
    assert all(abs(hit.score - scores[hit.uid]) < 1e-5 for hit in mine if hit.uid in scores), question


async def test_rankings_agree(both: tuple[Atlas, Atlas]) -> None:
    embedded, server = (one.reader for one in both)
    for where in (EVERYTHING, NARROW):
        overlaps: list[float] = []
        same = 0
        for question in QUESTIONS:
            query = route(question, embedded.split_words, embedded.languages)
            nearest = [(await by_meaning(reader, query, where, 10)).hits for reader in (embedded, server)]
            check_vectors(question, *nearest)
            mine, other = [(await by_words(reader, query, where, 20)).hits for reader in (embedded, server)]
            assert mine and other, question
            overlaps.append(shared(mine[:10], other[:10]))
            same += mine[0].uid == other[0].uid
            for best, ranked in ((mine[0], other), (other[0], mine)):
                assert best.uid in {hit.uid for hit in ranked}, question
        assert min(overlaps) >= 0.6, QUESTIONS[overlaps.index(min(overlaps))]
        assert sum(overlaps) / len(overlaps) >= 0.85
        assert same >= 0.7 * len(QUESTIONS)
