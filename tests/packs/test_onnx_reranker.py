"""The local cross-encoder: onnxruntime and tokenizers run a small model that is built here.

The model scores a pair by the number of tokens of the text that the question has, so that its order is known.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atlas.adapters.embedders.encoder_reranker import EncoderReranker, is_sentence_transformer
from atlas.adapters.embedders.onnx_model import model_file
from atlas.adapters.embedders.onnx_reranker import OnnxReranker
from atlas.adapters.opening.models import make_reranker
from atlas.core.errors import ConfigError, Unavailable
from atlas.packs.build import BuildRequest, build_pack
from atlas.packs.opening import open_pack
from atlas.packs.questions.retrieval.search import find
from atlas.packs.questions.values import MAXIMUM
from atlas.runtime.config.load import load_settings
from tests.embedders.tiny_sentences import build as build_sentences
from tests.packs.library import write_tree

pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")
tokenizers = pytest.importorskip("tokenizers")

WORDS = ["how", "do", "i", "stop", "the", "crash", "beans", "rockets", "tea", "tomatoes", "spin", "brake", "widget"]


def build_tokenizer(path: Path) -> None:
    vocabulary = {word: at for at, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(path))


def build_model(path: Path, outputs: int = 1, *, extra_input: bool = False) -> None:
    """Write a model that counts the tokens of the second text, but special and unknown ones, that the first has."""
    make, kind = onnx.helper.make_node, onnx.TensorProto
    names = ["input_ids", "attention_mask", "token_type_ids", *(["pixels"] if extra_input else [])]
    inputs = [onnx.helper.make_tensor_value_info(name, kind.INT64, ["n", "length"]) for name in names]
    shape = ["n", outputs] if outputs else ["n", "length"]
    constants = [
        onnx.helper.make_tensor(name, kind.INT64, [1], [value])
        for name, value in (("last", 3), ("row", 2), ("column", 1), ("all", 1))
    ]
    nodes = [
        make("Greater", ["input_ids", "last"], ["is_word"]),
        make("Cast", ["token_type_ids"], ["is_second"], to=kind.BOOL),
        make("Not", ["is_second"], ["is_first"]),
        make("And", ["is_word", "is_first"], ["asked"]),
        make("And", ["is_word", "is_second"], ["said"]),
        make("Unsqueeze", ["input_ids", "row"], ["rows"]),
        make("Unsqueeze", ["input_ids", "column"], ["columns"]),
        make("Equal", ["rows", "columns"], ["same"]),
        make("Unsqueeze", ["said", "row"], ["said_rows"]),
        make("Unsqueeze", ["asked", "column"], ["asked_columns"]),
        make("And", ["said_rows", "asked_columns"], ["pairs"]),
        make("And", ["same", "pairs"], ["matches"]),
        make("Cast", ["matches"], ["counted"], to=kind.FLOAT),
        make("ReduceMax", ["counted", "row"], ["found"], keepdims=0),
    ]
    if outputs:
        nodes.append(make("ReduceSum", ["found", "all"], ["score"], keepdims=1))
    if outputs == 2:
        nodes += [make("Neg", ["score"], ["against"]), make("Concat", ["against", "score"], ["scores"], axis=1)]
    last = {0: "found", 1: "score", 2: "scores"}[outputs]
    graph = onnx.helper.make_graph(
        nodes, "overlap", inputs, [onnx.helper.make_tensor_value_info(last, kind.FLOAT, shape)], constants
    )
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(made)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(made, str(path))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "encoder"
    build_model(place / "onnx" / "model.onnx")
    build_tokenizer(place / "tokenizer.json")
    return place


async def test_scores_are_in_the_order_of_the_texts(folder: Path) -> None:
    reranker = OnnxReranker(folder)
    texts = ["tea beans", "the crash", "how do i stop the crash", "rockets " * 40, ""] * 5
    assert await reranker.rerank("how do I stop the crash", texts) == [0.0, 2.0, 6.0, 0.0, 0.0] * 5
    await reranker.aclose()
    assert await reranker.rerank("tea", []) == []


async def test_two_outputs_are_whether_a_pair_matches(folder: Path) -> None:
    build_model(folder / "onnx" / "model.onnx", 2)
    assert await OnnxReranker(folder / "onnx" / "model.onnx").rerank("stop tea", ["tea", "beans"]) == [2.0, 0.0]


async def test_the_text_is_cut_and_the_question_kept(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 13}))
    question = "how do i stop"
    assert await OnnxReranker(folder).rerank(question, ["beans beans beans how do i stop", "how do beans"]) == [
        3.0,
        2.0,
    ]


@pytest.mark.parametrize("broken", ["no model", "no tokenizer", "bad model", "bad tokenizer", "shape", "input"])
async def test_what_is_no_cross_encoder_is_unavailable(folder: Path, broken: str) -> None:
    model, tokenizer = folder / "onnx" / "model.onnx", folder / "tokenizer.json"
    match broken:
        case "no model":
            model.unlink()
        case "no tokenizer":
            tokenizer.unlink()
        case "bad model":
            model.write_bytes(b"\x08\x09not a model")
        case "bad tokenizer":
            tokenizer.write_text("{}")
        case "shape":
            build_model(model, 0)
        case _:
            build_model(model, extra_input=True)
    with pytest.raises(Unavailable) as raised:
        await OnnxReranker(folder).rerank("tea", ["tea", "beans tea"])
    assert str(folder) in raised.value.message or "model" in raised.value.message or "inputs" in raised.value.message
    assert (model_file(folder) is None) == broken.startswith("no ")


async def test_settings_name_it_and_a_question_is_reordered(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {
        "one.md": "# Brakes\n\nThe widget has a brake. The brake is a part of the widget that needs oil.\n",
        "two.md": "# Errors\n\nThe crash is how we stop. Stop the crash with the handler of the widget.\n",
    }
    monkeypatch.setenv("ATLAS_PACKS_RERANKER_MODEL", str(folder))
    root = write_tree(tmp_path / "project", {"a.py": ""})
    reranker = make_reranker(load_settings(str(root)))
    assert isinstance(reranker, OnnxReranker)
    docs = write_tree(tmp_path / "docs", pages)
    built = await build_pack(BuildRequest("widget", (str(docs),), "1"), tmp_path / "pack")
    for chosen, state in ((reranker, "on"), (OnnxReranker(tmp_path / "nowhere"), "failed")):
        pack = open_pack(built.folder, reranker=chosen)
        found = await find(pack.reader, "how do i stop the crash", MAXIMUM)
        await pack.aclose()
        assert {stage.name: stage.state for stage in found.stages}["cross-encoder"] == state
        assert found.sections[0].article == "widget:two.md"
        assert bool(found.notes) == (state == "failed")


async def test_a_missing_folder_is_no_error_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATLAS_PACKS_RERANKER_MODEL", "/nowhere/at/all")
    reranker = make_reranker(load_settings(str(tmp_path)))
    docs = write_tree(tmp_path / "docs", {"two.md": "# Errors\n\nStop the crash with the handler of the widget.\n"})
    built = await build_pack(BuildRequest("widget", (str(docs),), "1"), tmp_path / "pack")
    pack = open_pack(built.folder, reranker=reranker)
    found = await find(pack.reader, "how do i stop the crash", MAXIMUM)
    await pack.aclose()
    assert found.sections[0].article == "widget:two.md"
    assert "no such folder: /nowhere/at/all" in " ".join(found.notes)


def test_a_wrong_path_is_an_error_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATLAS_PACKS_RERANKER_MODEL", "relative/folder")
    with pytest.raises(ConfigError, match="reranker_model"):
        load_settings(str(tmp_path))
    monkeypatch.setenv("ATLAS_PACKS_RERANKER_MODEL", str(tmp_path))
    monkeypatch.setenv("ATLAS_PACKS_RERANKER_URL", "http://127.0.0.1:1")
    with pytest.raises(ConfigError, match="exclude each other"):
        load_settings(str(tmp_path))


async def test_a_sentence_transformer_reranks_by_cosines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = build_sentences(tmp_path / "tiny-sentences")
    write_tree(sentences, {"modules.json": "[]"})
    assert is_sentence_transformer(sentences)
    assert is_sentence_transformer(sentences / "onnx" / "model.onnx")
    assert not is_sentence_transformer(tmp_path)
    monkeypatch.setenv("ATLAS_PACKS_RERANKER_MODEL", str(sentences))
    reranker = make_reranker(load_settings(str(write_tree(tmp_path / "project", {"a.py": ""}))))
    assert isinstance(reranker, EncoderReranker)
    far, near, none = await reranker.rerank("how do customers get their money back", ["circle", "refund", "zzz"])
    assert near > 0.5 > far
    assert none == none  # a text without a known word has no vector
    assert await reranker.rerank("tea", []) == []
    await reranker.aclose()


def test_a_project_cannot_name_a_model(tmp_path: Path, folder: Path) -> None:
    write_tree(tmp_path, {"atlas.toml": f"[packs]\nreranker_model = {str(folder)!r}\n"})
    settings = load_settings(str(tmp_path))
    assert settings.packs.reranker_model == ""
    assert "cannot be set by a project" in settings.ignored[0].why
