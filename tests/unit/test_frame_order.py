"""The check before a frame's pattern: it lets every question pass that the pattern matches, and few others."""

from __future__ import annotations

import random

import pytest

from atlas.code.question.frame_order import read_words
from atlas.code.question.frames import RelationFrame, frame_groups

_OF_CLASS = {
    "SUBJECT": ("", "other test code"),
    "THINGS": ("functions", "all the test classes", "places"),
    "BE": ("is", "does"),
    "CHANGE": ("rename",),
    "CHANGING": ("renaming", "a change to"),
    "CHANGED": ("added",),
    "TIME": ("since", "in the last two weeks", "between main and this branch"),
    "ANY": ("", "two words"),
    "ANYONE": ("anything",),
    "X": ("save", "the save method of class User", "class User", "User 's save", "abstract class User"),
    "Y": ("load", "the load function"),
    "'s": ("the class User 's",),
}


def _question(frame: RelationFrame, chooser: random.Random) -> str:
    """Return a question that the frame is meant for."""
    said: list[str] = []
    for element in frame.text.split():
        if element.startswith("[") and chooser.random() < 0.5:
            continue
        choice = chooser.choice(element.strip("[]").split("|"))
        if element == "'s" or (choice in _OF_CLASS and (choice != "'s")):
            said.append(chooser.choice(_OF_CLASS[choice]))
        elif choice in frame.words:
            said.append(chooser.choice(frame.words[choice].split("|")))
        else:
            said.append(choice.replace("_", " "))
    return " ".join(" ".join(said).split()) + " "


def test_what_a_pattern_matches_passes_the_check() -> None:
    """For questions made from every frame, also against the frames of the same relation."""
    chooser = random.Random(1)
    for group in frame_groups():
        asked = [_question(frame, chooser) for frame in group.frames for _ in range(2)]
        for frame in group.frames:
            for question in chooser.sample(asked, min(6, len(asked))):
                expected = frame.pattern.fullmatch(question)
                found = frame.match(question, read_words(question))
                assert (found and found.groupdict()) == (expected and expected.groupdict()), (frame.text, question)


@pytest.mark.parametrize(
    "question", ["where is a session removed ", "which function parses the header of a request ", "how it works "]
)
def test_patterns_that_cannot_match_are_not_compiled(question: str) -> None:
    """Their words stand in another order, or not next to each other."""
    frames = [RelationFrame(frame.kind, frame.text, frame.words) for group in frame_groups() for frame in group.frames]
    words = read_words(question)
    for frame in frames:
        frame.match(question, words)
    assert sum("pattern" in vars(frame) for frame in frames) <= 20


def test_frames_match_the_questions_that_they_are_meant_for() -> None:
    """Every element can be read: a question made from a frame matches it."""
    chooser = random.Random(2)
    missed = [
        (frame.text, question)
        for group in frame_groups()
        for frame in group.frames[:2]
        if (question := _question(frame, chooser)) and not frame.match(question, read_words(question))
    ]
    assert not missed
