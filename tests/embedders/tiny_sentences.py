"""A tiny sentence transformer in ONNX format, made here: one vector per known word, the same for words of one meaning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

onnx = pytest.importorskip("onnx")
tokenizers = pytest.importorskip("tokenizers")
numpy = pytest.importorskip("numpy")
pytest.importorskip("onnxruntime")

MEANINGS = (
    ("refund", "repay", "money", "back"),
    ("total", "sum", "adds"),
    ("parcel", "ship", "deliver"),
    ("circle", "round"),
)
DIMENSION = len(MEANINGS) + 1
"""The last component is that of all other words, so that no vector is zero."""


def build_tokenizer(path: Path) -> None:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(word for meaning in MEANINGS for word in meaning)]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [tokenizers.pre_tokenizers.Punctuation("removed"), tokenizers.pre_tokenizers.Whitespace()]
    )
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(path))


def build(folder: Path, *, scale: float = 1.0, pooled: bool = False, first: int = -1) -> Path:
    """Write a model and return its folder. `scale` of the known words makes another model of the same name.

    `pooled`: the graph makes one vector per text. `first`: the meaning of the first token, for pooling by it.
    """
    table = numpy.zeros((4 + sum(map(len, MEANINGS)), DIMENSION), dtype=numpy.float32)
    table[1, -1] = 0.05
    if first >= 0:
        table[2, first] = 1.0
    row = 4
    for at, meaning in enumerate(MEANINGS):
        for _ in meaning:
            table[row, at] = scale
            table[row, -1] = 0.05
            row += 1
    make, kind = onnx.helper.make_node, onnx.TensorProto
    nodes = [make("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    name, shape = "last_hidden_state", ["n", "length", DIMENSION]
    constants = [onnx.numpy_helper.from_array(table, "table")]
    if pooled:
        nodes.append(make("ReduceMax", ["last_hidden_state", "axis"], ["sentence_embedding"], keepdims=0))
        name, shape = "sentence_embedding", ["n", DIMENSION]
        constants.append(onnx.helper.make_tensor("axis", kind.INT64, [1], [1]))
    inputs = [onnx.helper.make_tensor_value_info(each, kind.INT64, ["n", "length"]) for each in ("input_ids",)]
    graph = onnx.helper.make_graph(
        nodes, "words", inputs, [onnx.helper.make_tensor_value_info(name, kind.FLOAT, shape)], constants
    )
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(made)
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    onnx.save(made, str(folder / "model.onnx"))
    build_tokenizer(folder / "tokenizer.json")
    pooling = {"pooling_mode_cls_token": first >= 0, "pooling_mode_mean_tokens": first < 0}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling), encoding="utf-8")
    return folder
