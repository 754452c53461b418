"""The static embedding model: golden values, the reference formula, and the embedder over it."""

import hashlib
import json
import math
import re
import struct
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas._parser import StaticEncoder
from atlas.adapters.embedders.static import MODEL_FOLDER, StaticEmbedder
from atlas.core.errors import ConfigError
from atlas.core.model import Chunk

GOLDEN = json.loads((Path(__file__).parent / "data" / "embedding_golden.json").read_text(encoding="utf-8"))
WORD = re.compile("[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
WORDS = ["get", "user", "connectionPool", "HTTPServer", "parse_header", "数据", "2nd", "é", "sha256", "_", "\n"]
HALF_STEP = 0.0005
"""Half precision has a step of 2^-11 just below 1."""


@pytest.fixture(scope="module")
def encoder() -> StaticEncoder:
    return StaticEncoder(str(MODEL_FOLDER))


class Reference:
    """The formula of model.json, slow and plain."""

    def __init__(self) -> None:
        self.table = memoryview((MODEL_FOLDER / "embedding.npy").read_bytes()[128:]).cast("b")
        self.scale = memoryview((MODEL_FOLDER / "scale.npy").read_bytes()[128:]).cast("f")
        words = (MODEL_FOLDER / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
        self.row = {word: row for row, word in enumerate(words)}

    def counts(self, text: str) -> Counter[int]:
        rows = (self.row.get(word.lower()) for word in WORD.findall(text))
        return Counter(row for row in rows if row is not None)

    def vector(self, text: str, name: str, name_weight: float) -> list[float]:
        weights: Counter[int] = Counter()
        for field, factor in ((self.counts(text[:3000]), 1.0), (self.counts(name), name_weight)):
            for row, count in field.items():
                weights[row] += factor * math.sqrt(count)
        total = [0.0] * 256
        for row, weight in weights.items():
            for column in range(256):
                total[column] += weight * self.scale[row] * self.table[row * 256 + column]
        norm = math.sqrt(sum(value * value for value in total)) or 1.0
        return [value / norm for value in total]


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference()


def floats(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 2}e", vector)


def test_model_files_are_the_ones_that_were_published() -> None:
    stated = json.loads((MODEL_FOLDER / "model.json").read_text(encoding="utf-8"))["sha256"]
    assert {name: hashlib.sha256((MODEL_FOLDER / name).read_bytes()).hexdigest() for name in stated} == stated


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=[str(number) for number in range(1, 21)])
def test_golden_values(encoder: StaticEncoder, case: dict[str, object]) -> None:
    text, name = str(case["text"]), case["name"]
    if name is None:
        vector = struct.unpack("<256f", encoder.query(text))
        tolerance = GOLDEN["tolerance"]
    else:
        vector = floats(encoder.encode([text], [str(name)], [False])[0])
        tolerance = HALF_STEP
    assert vector[:8] == pytest.approx(case["first8"], abs=tolerance)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), max_size=30),
    st.text(st.sampled_from("getHTTPaB2_ é/."), max_size=30),
    st.booleans(),
)
def test_any_text_follows_the_reference_formula(
    encoder: StaticEncoder, reference: Reference, words: list[str], name: str, is_file: bool
) -> None:
    text = " ".join(words)
    expected = reference.vector(text, name, 3.0 if is_file else 4.0)
    assert floats(encoder.encode([text], [name], [is_file])[0]) == pytest.approx(expected, abs=HALF_STEP)


def test_path_names_weigh_less_than_function_names(encoder: StaticEncoder) -> None:
    as_file, as_function = encoder.encode(["open a file"] * 2, ["database/connection.py"] * 2, [True, False])
    assert as_file != as_function


def test_text_is_cut_at_3000_code_points(encoder: StaticEncoder) -> None:
    head = "数" * 2990 + " database "
    cut = encoder.query(head + "connection")
    assert cut == encoder.query(head)
    assert cut != encoder.query(head[1:10] + " connection")


def test_unknown_words_give_the_zero_vector(encoder: StaticEncoder) -> None:
    assert encoder.query("数据 zzqqxxyy") == bytes(1024)
    assert encoder.encode([""], [""], [False]) == [bytes(512)]


def test_a_vector_depends_on_nothing_but_its_text(encoder: StaticEncoder) -> None:
    texts = [f"def read_{word}(self): return {word}" for word in ("file", "socket", "cache", "user")] * 500
    names = [text.split("(")[0] for text in texts]
    together = encoder.encode(texts, names, [False] * len(texts))
    for index in (0, 1, 2, 3, 1999):
        assert together[index] == encoder.encode([texts[index]], [names[index]], [False])[0]


def test_lengths_must_agree(encoder: StaticEncoder) -> None:
    with pytest.raises(ValueError, match="same length"):
        encoder.encode(["a"], [], [False])


def test_words_of_a_question_move_towards_their_neighbours(encoder: StaticEncoder, reference: Reference) -> None:
    asked, code = (f"def {word}_data(data): return data" for word in ("compress", "compression"))
    plain = reference.vector("compress", "", 0)
    vectors = [floats(vector) for vector in encoder.encode([asked, code], ["", ""], [False, False])]
    moved = struct.unpack("<256f", encoder.query("compress"))
    assert _cosine(moved, vectors[1]) > _cosine(plain, vectors[1]) + 0.02
    assert _cosine(moved, plain) > 0.7


def test_words_of_a_long_text_stay(encoder: StaticEncoder, reference: Reference) -> None:
    words = list(reference.row)[3000:3041]
    text = " ".join(words)
    assert struct.unpack("<256f", encoder.query(text)) == pytest.approx(reference.vector(text, "", 0), abs=0.0001)
    short = " ".join(words[:40])
    assert struct.unpack("<256f", encoder.query(short)) != pytest.approx(reference.vector(short, "", 0), abs=0.001)


def test_a_model_without_neighbours_sums_the_words(tmp_path: Path, reference: Reference) -> None:
    for name in ("embedding.npy", "scale.npy", "vocab.txt"):
        (tmp_path / name).symlink_to(MODEL_FOLDER / name)
    meta = json.loads((MODEL_FOLDER / "model.json").read_text(encoding="utf-8"))
    del meta["neighbours"]
    (tmp_path / "model.json").write_text(json.dumps(meta), encoding="utf-8")
    vector = struct.unpack("<256f", StaticEncoder(str(tmp_path)).query("open a connection"))
    assert vector == pytest.approx(reference.vector("open a connection", "", 0), abs=0.0001)


def test_a_neighbour_outside_of_the_vocabulary_is_damage(tmp_path: Path) -> None:
    for path in MODEL_FOLDER.iterdir():
        if path.name != "neighbours.npy":
            (tmp_path / path.name).symlink_to(path)
    data = bytearray((MODEL_FOLDER / "neighbours.npy").read_bytes())
    data[-2:] = b"\xff\xff"
    (tmp_path / "neighbours.npy").write_bytes(data)
    with pytest.raises(ValueError, match="do not match"):
        StaticEncoder(str(tmp_path))


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(map(float.__mul__, one, other))


FILES = ["embedding.npy", "scale.npy", "vocab.txt", "model.json", "neighbours.npy", "shares.npy"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["missing", "truncated", "empty"])
def test_a_damaged_model_is_named(tmp_path: Path, name: str, damage: str) -> None:
    for path in MODEL_FOLDER.iterdir():
        if path.name != name:
            (tmp_path / path.name).symlink_to(path)
    if damage != "missing":
        content = (MODEL_FOLDER / name).read_bytes()
        (tmp_path / name).write_bytes(content[: len(content) // 2] if damage == "truncated" else b"")
    with pytest.raises(ValueError, match=re.escape(str(tmp_path))):
        StaticEncoder(str(tmp_path))


async def test_embedder_gives_vectors_of_the_stated_model() -> None:
    embedder = StaticEmbedder()
    assert ((await embedder.info()).provider, (await embedder.info()).dimension) == ("static", 256)
    near = Chunk("p:a", "1", "Pool connect", "def connect(self): return self.open_connection()", False)
    far = Chunk("p:b", "2", "render_template", "def render_template(html): return html.render()", False)
    vectors = [floats(vector) for vector in await embedder.embed_chunks([near, far])]
    query = struct.unpack("<256f", await embedder.embed_query("open a connection"))
    scores = [sum(map(float.__mul__, query, vector)) for vector in vectors]
    assert scores[0] > scores[1]


async def test_a_question_that_was_embedded_last_has_the_vector_of_its_own_text() -> None:
    embedder, texts = StaticEmbedder(), ("open a connection", "render a page", "render a page", "open a connection", "")
    assert [await embedder.embed_query(text) for text in texts] == [
        await StaticEmbedder().embed_query(text) for text in texts
    ]


def test_embedder_refuses_a_folder_without_model(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="embedding model"):
        StaticEmbedder(tmp_path)


async def test_embedder_reports_a_damaged_model_on_first_use(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_bytes((MODEL_FOLDER / "model.json").read_bytes())
    with pytest.raises(ConfigError, match=r"embedding\.npy"):
        await StaticEmbedder(tmp_path).embed_query("x")
