"""What a question asks for, and that an answer says which of it the sections do not speak of."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from atlas.packs.build import BuildRequest, build_pack
from atlas.packs.opening import OpenPack, open_pack
from atlas.packs.questions.answer import ask
from atlas.packs.questions.asked import LACKS, NEAREST, NOT_MENTIONED, asked_phrases, said_to_lack
from atlas.packs.questions.evaluation import evaluate
from atlas.packs.questions.questions import EvalQuestion, GoldSection
from atlas.packs.questions.retrieval.search import find
from atlas.packs.questions.values import BALANCED, BASELINE
from tests.packs.library import write_tree

PAGES = {
    "build.md": (
        "# Building\n\n## Wheels\n\nRun `make-wheel` to build a package as a wheel. The wheel is written to `dist`.\n\n"
        "## Source archives\n\nRun `make-archive` to build a source archive of the package.\n"
    ),
    "publish.md": "# Publishing\n\n## Upload\n\nRun `upload` to send a package to the index with a token.\n",
    "settings.md": "# Settings\n\n## Cache\n\n`CACHE_DIR` is the folder of the cache. Default: `~/.cache/x`.\n",
}


@pytest_asyncio.fixture
async def pack(tmp_path: Path) -> AsyncIterator[OpenPack]:
    source = write_tree(tmp_path / "docs", PAGES)
    await build_pack(BuildRequest("tool", (str(source),), "1.0", ""), tmp_path / "pack")
    opened = open_pack(tmp_path / "pack")
    yield opened
    await opened.aclose()


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ("How do I build a conda package?", ["conda package"]),
        ("How do I unlock a repository with a hardware token?", ["repository", "hardware token"]),
        ("How do I restrict rows to their owners with row-level security?", ["rows", "owners", "row-level security"]),
        ("How do I write my backups to tape?", ["backups", "tape"]),
        ("How do I turn off compression when the disk of my colleague is full?", ["compression"]),
        ("How can I leave out every large file?", ["file"]),
        ("Write resolvers for GraphQL queries", ["resolvers", "graphql queries"]),
        ("How do I avoid downloading complete wheels to read their metadata?", ["downloading wheels", "metadata"]),
        ("Which graphical program shows the snapshots?", ["graphical program", "snapshots"]),
        ("What port does it use?", ["port"]),
        ("How do I see how much disk space is left?", ["disk space"]),
        ("What happens if no row fits?", []),
        ("", []),
        ("?!", []),
    ],
)
def test_phrases_are_objects_outside_of_clauses(question: str, phrases: list[str]) -> None:
    assert asked_phrases(question) == phrases


def test_phrases_of_a_long_text_take_linear_time() -> None:
    assert len(asked_phrases("to the in " * 5_000)) == 0
    assert asked_phrases("a-" * 50_000) == []


@pytest.mark.parametrize(
    ("question", "lacks"),
    [
        ("How do I build a conda package?", ("conda package",)),
        ("How do I upload a package with a hardware token?", ("hardware token",)),
        ("How do I build a package as a wheel?", ()),
        ("How do I upload a package with a token?", ()),
    ],
)
async def test_an_answer_names_what_the_sections_lack(pack: OpenPack, question: str, lacks: tuple[str, ...]) -> None:
    answer = await ask(pack.reader, question, BALANCED)
    assert not answer.is_refused
    assert answer.lacks == lacks
    first, _, rest = answer.text.partition("\n\n")
    assert (NEAREST in first) == bool(lacks)
    assert NEAREST not in rest
    assert all(f"“{phrase}”" in first for phrase in lacks)
    assert answer.tokens <= BALANCED.max_tokens


async def test_what_stands_nowhere_is_told_from_what_stands_elsewhere(pack: OpenPack) -> None:
    found = await find(pack.reader, "How do I put a conda package into the archive folder?", BALANCED)
    said = said_to_lack(found.question, ("conda package", "archive folder"), found.vocabulary)
    assert said == " ".join(
        (NOT_MENTIONED.format(phrases="“conda package”"), LACKS.format(phrases="“archive folder”"), NEAREST)
    )
    assert said_to_lack(found.question, (), found.vocabulary) == ""


@pytest.mark.parametrize(("sections", "lacks"), [(("tasks",) * 6, ()), (("tasks", *("hooks",) * 9), ("job",))])
async def test_what_the_pack_is_about_stands_for_another_word(
    tmp_path: Path, sections: tuple[str, ...], lacks: tuple[str, ...]
) -> None:
    text = "".join(
        f"## Cancel {subject} number {at}\n\n`cancel_{at}()` cancels {subject}.\n\n"
        for at, subject in enumerate(sections)
    )
    source = write_tree(tmp_path / "docs", {"guide.md": f"# Guide\n\n{text}"})
    await build_pack(BuildRequest("tool", (str(source),), "1.0", ""), tmp_path / "pack")
    opened = open_pack(tmp_path / "pack")
    answer = await ask(opened.reader, "How do I cancel a job?", BALANCED)
    await opened.aclose()
    assert answer.lacks == lacks


async def test_without_the_gate_nothing_is_named(pack: OpenPack) -> None:
    answer = await ask(pack.reader, "How do I build a conda package?", BASELINE)
    assert (answer.lacks, answer.notes) == ((), ())
    assert NEAREST not in answer.text


async def test_an_evaluation_counts_what_is_named(pack: OpenPack) -> None:
    questions = [
        EvalQuestion("1", "hand", "How do I build a conda package?"),
        EvalQuestion("2", "hand", "How do I build a package as a wheel?", gold=(GoldSection("build.md", "Wheels"),)),
    ]
    (found,) = (await evaluate(pack.reader, questions, [BALANCED])).summaries()[:1]
    assert (found.refused_unanswerable, found.named_unanswerable, found.named_answerable) == (0.0, 1.0, 0.0)
