"""Write the model folder of a trained table: `python -m training.code_model.export table.npz --out FOLDER`.

`embedding.npy` int8 [V, dim], `scale.npy` float32 [V] (row = scale * int8 row), `vocab.txt`, `model.json`. Several
tables of the same vocabulary are averaged.
`--golden` refreshes the expected values of the tests.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from training.code_model.bags import MAX_PIECED, MAX_TEXT, MIN_PIECE, WORD
from training.code_model.model import Model

NAME = "atlas-static-code-v2"
FILES = ("embedding.npy", "scale.npy", "vocab.txt")
RULE = (
    "Over ASCII letters and digits only, every other character separates: a run of digits is a token; a run of"
    " upper-case letters U followed by a lower-case run L gives U without its last letter (if not empty) and then"
    " last(U)+L; U alone or L alone is a token; every token is lower-cased."
)
PIECES = (
    f"A token of letters that is not in vocab.txt and has at most {MAX_PIECED} letters is cut from the left into the"
    f" longest words of at least {MIN_PIECE} letters; a letter at which none begins is skipped. Other unknown tokens"
    " are dropped."
)
FORMULA = (
    "weight(word) = sqrt(tf in text) + name_weight * sqrt(tf in name), name = class + ' ' + function; queries have"
    " no name"
)


def export(tables: list[Path], out: Path, metrics: Any) -> None:
    """Quantise the mean of the tables and write the folder."""
    stored = [np.load(path) for path in tables]
    words = str(stored[0]["words"]).split("\n")
    table = np.mean([each["table"].astype(np.float32) for each in stored], axis=0)
    scale = (np.maximum(np.abs(table).max(1), 1e-9) / 127).astype(np.float32)
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "embedding.npy", np.round(table / scale[:, None]).astype(np.int8))
    np.save(out / "scale.npy", scale)
    (out / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    trained = json.loads(str(stored[0]["arguments"]))
    start = "word vectors of all-MiniLM-L6-v2 (Apache-2.0)" if trained.get("start") not in (None, "None") else "random"
    left_out = ("bags", "build", "out", "start", "teacher", "seed")
    meta = {
        "name": NAME,
        "dim": table.shape[1],
        "vocab_size": len(words),
        "licence": "Apache-2.0",
        "trained_on": datetime.date.today().isoformat(),
        "start": start,
        "tokenizer": {"regex": WORD.pattern, "lowercase": True, "rule": RULE, "pieces": PIECES},
        "fields": {
            "name_weight": trained["name_weight"],
            "max_text_chars": MAX_TEXT,
            "formula": FORMULA,
            "file_chunks": "for chunks of a file that are not one symbol: name = the path, name_weight 3",
        },
        "vector": "sum over words of weight * scale[row] * embedding[row]",
        "normalisation": "L2; a text without known words gives the zero vector",
        "similarity": "dot product",
        "sha256": {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in FILES},
        "training": {
            "pairs": int(stored[0]["pairs"]),
            "seeds": [json.loads(str(e["arguments"]))["seed"] for e in stored],
        }
        | {key: value for key, value in trained.items() if key not in left_out},
        "metrics": metrics,
    }
    (out / "model.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")
    size = sum((out / name).stat().st_size for name in FILES)
    print(f"{len(words)} words x {table.shape[1]}, {size / 1e6:.2f} MB")


def refresh(golden: Path, folder: Path) -> None:
    """Write the first values of each golden case."""
    cases, model = json.loads(golden.read_text(encoding="utf-8")), Model(folder)
    cases["model"] = NAME
    for case in cases["cases"]:
        text, name = case["text"], case["name"]
        vector = model.query([text])[0] if name is None else model.encode([text], [name])[0]
        case["first8"] = [round(float(value), 7) for value in vector[:8]]
    golden.write_text(json.dumps(cases, indent=1, ensure_ascii=False), encoding="utf-8")


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--metrics", type=Path, help="JSON that `evaluate` has written")
    parser.add_argument("--golden", type=Path)
    arguments = parser.parse_args()
    export(arguments.tables, arguments.out, json.loads(arguments.metrics.read_text()) if arguments.metrics else {})
    if arguments.golden:
        refresh(arguments.golden, arguments.out)


if __name__ == "__main__":
    main()
