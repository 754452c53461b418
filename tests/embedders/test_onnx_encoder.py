"""The sentence transformer in this process: what it makes of texts, what names its vectors, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import math
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from atlas.adapters.embedders.onnx_encoder import EncoderOptions, OnnxEncoder
from atlas.adapters.embedders.sentence_transformer import PAUSE_SECONDS, QualityEmbedder
from atlas.core.errors import ConfigError, Unavailable
from atlas.core.model import QUALITY, Chunk, EmbeddingStats, ModelInfo

from .tiny_sentences import DIMENSION, MEANINGS, build


def chunk(text: str, name: str = "") -> Chunk:
    return Chunk(f"p:{text}", "0" * 16, name, text, False)


def numbers(data: bytes, kind: str = "e") -> tuple[float, ...]:
    return struct.unpack(f"<{DIMENSION}{kind}", data)


async def vectors(folder: Path, texts: list[str], options: EncoderOptions | None = None) -> list[tuple[float, ...]]:
    encoder = OnnxEncoder(folder, options or EncoderOptions())
    try:
        return [numbers(each) for each in await encoder.embed_chunks([chunk(text) for text in texts])]
    finally:
        await encoder.aclose()


async def info(folder: Path, options: EncoderOptions | None = None) -> ModelInfo:
    encoder = OnnxEncoder(folder, options or EncoderOptions())
    try:
        return await encoder.info()
    finally:
        await encoder.aclose()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return build(tmp_path / "tiny-sentences")


async def test_vectors_are_normalised_in_order_and_do_not_depend_on_their_batch(folder: Path) -> None:
    texts = [f"{word} " * (1 + at % 7) for at, word in enumerate(word for meaning in MEANINGS for word in meaning)]
    together = await vectors(folder, texts, EncoderOptions(batch=5))
    for text, vector in zip(texts, together, strict=True):
        (alone,) = await vectors(folder, [text])
        assert vector == pytest.approx(alone, abs=1e-3)
        assert math.hypot(*vector) == pytest.approx(1, abs=1e-2)
        assert max(range(DIMENSION), key=vector.__getitem__) == next(
            at for at, words in enumerate(MEANINGS) if text.split()[0] in words
        )


async def test_a_question_and_a_text_of_the_same_meaning_are_near(folder: Path) -> None:
    encoder = OnnxEncoder(folder, EncoderOptions(in_background=True))
    asked = numbers(await encoder.embed_query("how do customers get their money back"), "f")
    said = [numbers(each) for each in await encoder.embed_chunks([chunk("refund", "shop.py"), chunk("circle")])]
    await encoder.aclose()
    near, far = (sum(map(float.__mul__, asked, each)) for each in said)
    assert near > 0.9 > 0.3 > far


async def test_pooling_is_as_the_models_files_say_or_the_settings(tmp_path: Path) -> None:
    first = build(tmp_path / "first", first=3)
    (by_first,) = await vectors(first, ["refund"])
    (by_mean,) = await vectors(first, ["refund"], EncoderOptions(pooling="mean"))
    assert by_first[3] == pytest.approx(1, abs=1e-3) and by_mean[0] > 0.5
    (pooled,) = await vectors(build(tmp_path / "pooled", pooled=True), ["refund circle"])
    assert pooled[0] == pytest.approx(pooled[3]) == pytest.approx(0.7, abs=0.02)


async def test_the_vectors_are_named_by_all_that_they_depend_on(folder: Path, tmp_path: Path) -> None:
    usual = await info(folder)
    assert (usual.provider, usual.model, usual.dimension, usual.space) == ("onnx", folder.name, DIMENSION, QUALITY)
    options = EncoderOptions()
    for other in (
        replace(options, pooling="cls"),
        replace(options, max_tokens=9),
        replace(options, document_prefix="a"),
    ):
        assert (await info(folder, other)).fingerprint != usual.fingerprint
    for same in (replace(options, query_prefix="q"), replace(options, batch=1, threads=2)):
        assert await info(folder, same) == usual
    assert (await info(build(tmp_path / "again" / folder.name, scale=2.0))).fingerprint != usual.fingerprint
    (folder / "model.onnx.data").write_bytes(b"weights in a file beside the graph")
    assert (await info(folder)).fingerprint != usual.fingerprint


async def test_long_texts_are_cut_and_counted(folder: Path) -> None:
    encoder = OnnxEncoder(folder, EncoderOptions(max_tokens=8))
    long, short = await encoder.embed_chunks([chunk("total " * 6 + "circle " * 50), chunk("total")])
    assert numbers(long)[3] == 0 and encoder.embedding_stats == EmbeddingStats(1, 0)
    assert numbers(short)[1] > 0.9
    await encoder.aclose()
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 8}))
    (cut,) = await vectors(folder, ["total " * 6 + "circle " * 50])
    assert cut[3] == 0


async def test_prefixes_of_the_models_files_are_used_unless_the_settings_name_others(folder: Path) -> None:
    prompts = {"prompts": {"query": "circle circle circle ", "document": "total total total "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    encoder = OnnxEncoder(folder, EncoderOptions())
    assert numbers(await encoder.embed_query("refund"), "f")[3] > 0.5
    await encoder.aclose()
    assert (await vectors(folder, ["refund"]))[0][1] > 0.5
    assert (await vectors(folder, ["refund"], EncoderOptions(document_prefix="")))[0][1] == 0


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
async def test_a_folder_without_a_model_is_said(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(Unavailable, match="no model for the sentence transformer"):
        await info(folder)


async def test_damaged_files_and_other_kinds_of_models_are_refused(folder: Path) -> None:
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense" / "config.json").write_text("{}")
    with pytest.raises(ConfigError, match="dense layer"):
        await info(folder)
    (folder / "model.onnx").write_bytes(b"\x08\x09 no model")
    with pytest.raises(Unavailable, match="cannot be loaded"):
        await info(folder)


class Failing:
    """An embedder whose questions fail or hang."""

    place = "http://somewhere"
    embedding_stats = EmbeddingStats()

    def __init__(self) -> None:
        self.asked, self.hangs, self.fails = 0, False, True

    async def info(self) -> ModelInfo:
        return ModelInfo("test", "m", 2, "")

    async def embed_query(self, text: str) -> bytes:
        self.asked += 1
        if self.hangs:
            await asyncio.sleep(60)
        if self.fails:
            raise Unavailable("no answer")
        return b"\0\0\x80?\0\0\0\0"

    async def embed_chunks(self, chunks: list[Chunk]) -> list[bytes]:
        return [b"" for _ in chunks]

    async def aclose(self) -> None: ...


async def test_after_a_failure_questions_do_not_wait_for_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Failing()
    embedder = QualityEmbedder(failing, 0.05)  # pyright: ignore[reportArgumentType]
    now = 1000.0
    monkeypatch.setattr("atlas.adapters.embedders.sentence_transformer.monotonic", lambda: now)
    for _ in range(3):
        with pytest.raises(Unavailable, match="no answer"):
            await embedder.embed_query("a")
    assert failing.asked == 1
    now += PAUSE_SECONDS + 1
    failing.hangs = True
    with pytest.raises(Unavailable, match=r"within 0\.05 s"):
        await embedder.embed_query("a")
    now += PAUSE_SECONDS + 1
    failing.hangs = failing.fails = False
    assert await embedder.embed_query("a") == await embedder.embed_query("a")
    assert (failing.asked, (await embedder.info()).space) == (4, QUALITY)


def test_nothing_of_the_extra_is_imported_before_a_model_is_used(tmp_path: Path) -> None:
    code = (
        "import sys; from atlas.adapters.opening.sentence_transformer import make_quality_reader, make_quality_writer;"
        "from atlas.runtime.config.load import load_settings;"
        f"settings = load_settings({str(tmp_path)!r}, environment={{'ATLAS_QUALITY_MODEL': {str(tmp_path)!r}}});"
        "assert make_quality_reader(settings) is not None;"
        "assert not {'onnxruntime', 'tokenizers', 'numpy'} & sys.modules.keys()"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
