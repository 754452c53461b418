"""The static prose model: golden values, the published rule in plain Python, and the stems of prose for word search."""

import hashlib
import json
import math
import re
import struct
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas._parser import ProseEncoder, stem_words
from atlas.adapters.embedders.static import PROSE_FOLDER, StaticEmbedder
from atlas.core.model import PROSE, Chunk

GOLDEN = json.loads((Path(__file__).parent / "data" / "prose_golden.json").read_text(encoding="utf-8"))
WORD = re.compile(r"[^\W_]+")
CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
WORDS = [
    "the",
    "Café",
    "getUserName",
    "XMLHttpRequest",
    "snake_case",
    "Ångström",
    "你好",
    "2nd",
    "ΣΊΣΥΦΟΣ",
    "½",
    "don't",
    "x" * 70,
]


@pytest.fixture(scope="module")
def encoder() -> ProseEncoder:
    return ProseEncoder(str(PROSE_FOLDER))


class Reference:
    """The rule of model.json, slow and plain."""

    def __init__(self) -> None:
        self.table = memoryview((PROSE_FOLDER / "embedding.npy").read_bytes()[128:]).cast("b")
        self.scale = memoryview((PROSE_FOLDER / "scale.npy").read_bytes()[128:]).cast("f")
        words = (PROSE_FOLDER / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
        self.row = {word: row for row, word in enumerate(words)}

    def tokens(self, text: str) -> list[int]:
        out: list[int] = []
        for word in WORD.findall(text[:4000]):
            row = self.row.get(fold(word))
            if row is not None:
                out.append(row)
            elif len(word) <= 64:
                for part in CASE.split(word):
                    out += self.pieces(fold(part))
        return out

    def pieces(self, word: str) -> list[int]:
        out, at = [], 0
        while at < len(word):
            prefix = "##" if at else ""
            ends = (end for end in range(len(word), at, -1) if prefix + word[at:end] in self.row)
            end = next(ends, 0)
            if not end:
                return []
            out.append(self.row[prefix + word[at:end]])
            at = end
        return out

    def vector(self, text: str) -> list[float]:
        total = [0.0] * 256
        for row, count in Counter(self.tokens(text)).items():
            weight = math.sqrt(count) * self.scale[row]
            for column in range(256):
                total[column] += weight * self.table[row * 256 + column]
        norm = math.sqrt(sum(value * value for value in total)) or 1.0
        return [value / norm for value in total]


def fold(word: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFD", word.lower()) if unicodedata.category(each) != "Mn")


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference()


def test_model_files_are_the_ones_that_were_published() -> None:
    stated = json.loads((PROSE_FOLDER / "model.json").read_text(encoding="utf-8"))["sha256"]
    assert {name: hashlib.sha256((PROSE_FOLDER / name).read_bytes()).hexdigest() for name in stated} == stated


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=[str(number) for number in range(1, 21)])
def test_golden_values(encoder: ProseEncoder, case: dict[str, object]) -> None:
    text = str(case["text"])
    query = struct.unpack("<256f", encoder.query(text))
    assert encoder.tokens(text) == case["rows"]
    assert query[:8] == pytest.approx(case["first8"], abs=GOLDEN["tolerance"])
    assert encoder.encode([text]) == [struct.pack("<256e", *query)]


ASSIGNED = st.text(st.characters(exclude_categories=("Cs", "Cn")), max_size=40)
"""Characters of the interpreter's version of Unicode: the extension may know later ones."""


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=20), ASSIGNED)
def test_any_text_follows_the_published_rule(
    encoder: ProseEncoder, reference: Reference, words: list[str], more: str
) -> None:
    text = " ".join([*words, more])
    assert encoder.tokens(text) == reference.tokens(text)
    assert struct.unpack("<256f", encoder.query(text)) == pytest.approx(reference.vector(text), abs=1e-5)


def test_text_is_cut_at_4000_code_points(encoder: ProseEncoder) -> None:
    head = "é" * 3990 + " database "
    assert encoder.tokens(head + "connection") == encoder.tokens(head) != []


def test_unknown_words_give_the_zero_vector(encoder: ProseEncoder) -> None:
    assert encoder.query("你好 ???") == bytes(1024)
    assert encoder.encode(["", "你好"]) == [bytes(512)] * 2


def test_a_vector_depends_on_nothing_but_its_text(encoder: ProseEncoder) -> None:
    texts = [f"Claim {number}: the cache of {number} users is stale." for number in range(500)]
    together = encoder.encode(texts)
    assert [together[at] for at in (0, 63, 64, 499)] == [encoder.encode([texts[at]])[0] for at in (0, 63, 64, 499)]


@pytest.mark.parametrize("name", ["embedding.npy", "vocab.txt", "model.json"])
def test_a_damaged_model_is_named(tmp_path: Path, name: str) -> None:
    for path in PROSE_FOLDER.iterdir():
        if path.name != name:
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / name).write_bytes((PROSE_FOLDER / name).read_bytes()[:1000])
    with pytest.raises(ValueError, match=re.escape(str(tmp_path))):
        ProseEncoder(str(tmp_path))


async def test_the_embedder_puts_the_name_in_front_and_leaves_marks_out() -> None:
    embedder = StaticEmbedder(PROSE_FOLDER, PROSE)
    info = await embedder.info()
    assert (info.model, info.dimension, info.space) == ("atlas-static-prose-v1", 256, "prose")
    item = "- 2026-11-20T09:00:00Z [o-01JD2V9Q7K0000000000000001] Releases on Thursdays. (client: cursor)\n"
    chunks = [
        Chunk("p:o", "1", "Billing team", item, False),
        Chunk("p:c", "2", "", "Releases.", False),
    ]
    queries = [await embedder.embed_query(text) for text in ("Billing team. Releases on Thursdays.", "Releases.")]
    assert await embedder.embed_chunks(chunks) == [
        struct.pack("<256e", *struct.unpack("<256f", query)) for query in queries
    ]


def test_forms_of_a_word_share_a_stem() -> None:
    assert stem_words("They were painting the cities") == stem_words("painted a city") == "0paint 0citi"
    assert stem_words("What is that?") == ""


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_stems_never_fail_and_have_one_space_between_them(text: str) -> None:
    stems = stem_words(text)
    assert stems == " ".join(stems.split())
