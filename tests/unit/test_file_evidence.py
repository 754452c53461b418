"""What speaks for whole files: their own vectors, mentions in documents, the words that they cover."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atlas._parser import split_words
from atlas.code.question.languages import LanguageRow, language_terms
from atlas.code.question.parse_question import Query, route
from atlas.code.rank.features import QuestionEvidence
from atlas.code.rank.rank import Candidate, rank
from atlas.code.rank.titles import lift_titles
from atlas.code.retrieve.file_evidence import asks_for_files, file_weight, mentioned_files, nearest_files
from atlas.core.model import Edge, EdgeRow, Node, Scored, WordCounts
from atlas.parsing import candidate_features, search_terms

from .test_rank import node

LANGUAGES = language_terms(map(LanguageRow._make, search_terms()))
PAGE = node("docs.pool", "DocSection", "docs/pool.md")
OTHER_PAGE = node("docs.retries", "DocSection", "docs/retries.md")


def ask(text: str) -> Query:
    return route(text, split_words, LANGUAGES)


def mention(section: Node, target: Node, confidence: float = 1.0) -> Edge:
    return Edge(EdgeRow(section.row.uid, target.row.uid, "DOCUMENTS", 3, "mention", confidence), target)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("keep connections open and hand them out again", True),
        ("What happens when no route matches?", True),
        ("Return the connection to the pool that it came from.", True),
        ("Connection pools", False),
        ("Using the pool", False),
        ("QueuePool.checkout", False),
        ("queue_pool", False),
    ],
)
def test_names_and_headings_ask_for_no_file(text: str, asks: bool) -> None:
    assert asks_for_files(ask(text)) is asks


def test_files_by_meaning_are_scaled_from_the_last_to_the_best() -> None:
    pool, net, log = (node(name, "Module", f"app/{name}.py") for name in ("pool", "net", "log"))
    hits = [Scored(each.row.uid, score) for each, score in ((pool, 0.6), (net, 0.5), (log, 0.4))]
    found = nearest_files(hits, {each.row.uid: each.row.path for each in (log, net, pool)})
    assert {uid: round(score, 6) for uid, score in found.hits} == {"app/pool.py": 1.0, "app/net.py": 0.5}
    assert nearest_files([], {pool.row.uid: pool.row.path}).hits == ()


def test_a_section_gives_its_score_to_what_it_mentions() -> None:
    one, two = node("pool.QueuePool", path="app/pool.py"), node("pool.checkout", path="app/pool.py")
    log = node("log.echo", path="app/log.py")
    test = node("test_pool.test_checkout", path="tests/test_pool.py", is_test=True)
    candidates = [Candidate(PAGE, 0.8), Candidate(OTHER_PAGE, 0.4), Candidate(log, 1.0)]
    mentions = [
        mention(PAGE, one),
        mention(PAGE, two),
        mention(PAGE, log),
        mention(PAGE, test),
        mention(PAGE, OTHER_PAGE),
    ]
    scores = dict(mentioned_files(candidates, [*mentions, mention(OTHER_PAGE, log, 0.7)]).hits)
    assert scores == {"app/pool.py": pytest.approx(0.8 * 2 / 3), "app/log.py": pytest.approx(0.8 / 3 + 0.4)}


def test_mentions_of_other_nodes_count_nothing_and_many_sections_at_most_one() -> None:
    pool = node("pool.QueuePool", path="app/pool.py")
    code = node("net.send", path="app/net.py")
    assert mentioned_files([Candidate(code, 1.0)], [mention(code, pool)]).hits == ()
    pages = [node(f"docs.page{number}", "DocSection", f"docs/{number}.md") for number in range(4)]
    found = mentioned_files([Candidate(page, 0.5) for page in pages], [mention(page, pool) for page in pages])
    assert found.hits == (Scored("app/pool.py", 1.0),)


def test_a_title_that_is_the_question_leaves_no_weight() -> None:
    query = ask("pool of connections for threads")
    pages = [
        Candidate(node("docs.x", "DocSection", "docs/x.md", name=name), 0.5) for name in ("Releases", "Other things")
    ]
    assert file_weight(query, pages, lift_titles(pages, query)) == 1.0
    same = [Candidate(node("docs.x", "DocSection", "docs/x.md", name="Pool of connections for threads"), 0.5)]
    assert file_weight(query, same, lift_titles(same, query)) == 0.0
    assert file_weight(ask("Connection pools"), pages, pages) == 0.0


def test_the_file_that_is_near_mentioned_and_covered_comes_first() -> None:
    query = ask("keep connections open and hand them out again")
    pool, net = (
        Candidate(node("pool.Queue", path="app/pool.py"), 0.5),
        Candidate(node("net.send", path="app/net.py"), 0.55),
    )
    counts = WordCounts({"app/pool.py": 3, "app/net.py": 3}, {"open": {"app/pool.py": 1}, "hand": {"app/net.py": 1}})
    evidence = QuestionEvidence(counts, 1.0, {"app/pool.py": 1.0}, {"app/pool.py": 0.5})

    def first(evidence: QuestionEvidence) -> str:
        return rank([pool, net], query, LANGUAGES, evidence)[0].node.row.path

    assert first(evidence) == "app/pool.py"
    assert first(replace(evidence, file_weight=0.0)) == "app/net.py"
    (known,) = candidate_features([pool], query, False, LANGUAGES, evidence, frozenset())
    assert known["coverage"] == 0.5 and known["file_meaning"] == 1.0 and known["file"] == 1.0
