"""The emotion model: golden values, and what it says about plain sentences."""

import json
import re
import struct
from pathlib import Path

import pytest

from atlas._parser import EmotionEncoder
from atlas.adapters.embedders.static import EMOTION_FOLDER

GOLDEN = json.loads((Path(__file__).parent / "data" / "emotion_golden.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def encoder() -> EmotionEncoder:
    return EmotionEncoder(str(EMOTION_FOLDER))


def vector(encoder: EmotionEncoder, text: str) -> tuple[float, ...]:
    return struct.unpack("<27f", encoder.encode([text])[0])


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=[str(number) for number in range(1, 11)])
def test_golden_values(encoder: EmotionEncoder, case: dict[str, object]) -> None:
    text = str(case["text"])
    assert encoder.probabilities(text) == pytest.approx(case["probabilities"], abs=GOLDEN["tolerance"])
    assert vector(encoder, text) == pytest.approx(case["vector"], abs=GOLDEN["tolerance"])


@pytest.mark.parametrize(
    ("text", "label"),
    [("Thank you so much!", "gratitude"), ("I am furious about this outage", "anger"), ("I love this <3", "love")],
)
def test_the_strongest_emotion(encoder: EmotionEncoder, text: str, label: str) -> None:
    strengths = vector(encoder, text)
    assert encoder.labels[strengths.index(max(strengths))] == label


def test_a_text_without_emotion_has_no_neighbours(encoder: EmotionEncoder) -> None:
    assert encoder.encode(["The build uses maturin."]) == [bytes(4 * 27)]


def test_texts_are_encoded_in_order(encoder: EmotionEncoder) -> None:
    texts = [case["text"] for case in GOLDEN["cases"]] * 20
    assert encoder.encode(texts) == [encoder.encode([text])[0] for text in texts]


@pytest.mark.parametrize("name", ["weights.npy", "idf.npy", "vocab.txt", "model.json"])
def test_a_damaged_model_is_named(tmp_path: Path, name: str) -> None:
    for path in EMOTION_FOLDER.iterdir():
        if path.name != name:
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / name).write_bytes((EMOTION_FOLDER / name).read_bytes()[:900])
    with pytest.raises(ValueError, match=re.escape(str(tmp_path))):
        EmotionEncoder(str(tmp_path))
