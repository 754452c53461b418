"""Every Markdown case of this folder: the facts of its files are as written."""

from pathlib import Path

import pytest

from atlas._parser import Languages

from .cases import LANGUAGES, Case, facts_of, read_cases, render

CASES = [case for path in sorted(Path(__file__).parent.glob("*.md")) for case in read_cases(path)]


@pytest.fixture(scope="module")
def languages() -> Languages:
    return Languages([str(LANGUAGES)], ".knowledge")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_case(languages: Languages, case: Case) -> None:
    for expectation in case.expectations:
        facts = facts_of(languages, expectation.path, case.files[expectation.path])
        found = render(facts, expectation.view)
        assert found == list(expectation.lines), f"{expectation.view} (line {expectation.line} of the case's file)"
