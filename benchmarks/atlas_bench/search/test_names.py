"""Test -> tested file: the words of a test's name ask for the file that the test's file is named after."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from atlas_bench.search.facts import CALLABLE, TreeFile
from atlas_bench.search.questions import SearchQuestion, Target

MIN_WORDS = 3
_TEST_FILE = re.compile(r"(?:tests?_(?P<after>\w+)|(?P<before>\w+?)[._-]?(?:tests?|spec|Tests?|Spec))")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def ask_tests(files: Iterable[TreeFile]) -> Iterator[SearchQuestion]:
    """Yield a question for each test with a telling name whose file names one file of the tree."""
    listed = list(files)
    stems: dict[str, list[str]] = {}
    for file in listed:
        if file.usable:
            stems.setdefault(_stem(file.path).casefold(), []).append(file.path)
    for file in (each for each in listed if each.is_test):
        match = _TEST_FILE.fullmatch(_stem(file.path))
        subject = (match["after"] or match["before"] or "").casefold() if match else ""
        tested = stems.get(subject, [])
        if len(tested) == 1:
            yield from _ask(file, tested[0])


def _ask(file: TreeFile, tested: str) -> Iterator[SearchQuestion]:
    for definition in file.definitions:
        words = [word.lower() for word in _WORDS.findall(definition.name)]
        if definition.kind in CALLABLE and words[:1] == ["test"] and len(words) > MIN_WORDS:
            yield SearchQuestion("test", " ".join(words[1:]), (Target(tested),))


def _stem(path: str) -> str:
    return (
        path.rpartition("/")[2].partition(".")[0]
        if path.count(".") == 1
        else path.rpartition("/")[2].rpartition(".")[0]
    )
