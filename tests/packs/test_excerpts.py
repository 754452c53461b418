"""What an answer quotes of a section."""

from __future__ import annotations

import pytest

from atlas.packs.questions.excerpts import LONGEST_ITEM, _spans  # type: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("One. Two.", ["One.", "Two."]),
        (
            "The options:\n\n- `a` - Waits. Defaults to 5.\n- `b` - Stops.",
            ["The options:", "- `a` - Waits. Defaults to 5.", "- `b` - Stops."],
        ),
        ("- Waits. Stops.\n\nThen it ends. Really.", ["- Waits. Stops.", "Then it ends.", "Really."]),
        (f"- Long. {'X' + 'x' * LONGEST_ITEM}", ["- Long.", "X" + "x" * LONGEST_ITEM]),
        ("- One. Two.\n\n```py\na. b\n```\n\n- C. D.", ["- One. Two.", "```py\na. b\n```", "- C. D."]),
    ],
)
def test_units_are_sentences_items_and_blocks(text: str, units: list[str]) -> None:
    assert [text[start:end].strip() for start, end, _ in _spans(text)] == units
