"""The Cypher front end: a query is answered or refused, and a comment changes nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import yaml

from atlas.adapters.stores.sqlite.cypher import run
from atlas.core.errors import AtlasError
from tests.conformance.cypher.shop import build_shop, open_reading
from tests.fuzz.target import Target

QUERIES = Path(__file__).parents[1] / "conformance" / "cypher"


class Cypher(Target):
    name = "cypher"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        build_shop(folder / "shop.db")
        self._graph = open_reading(folder / "shop.db")
        self._seeds = [
            case["query"].encode()
            for path in sorted(QUERIES.glob("*.yaml"))
            if path.name != "graph.yaml"
            for case in yaml.safe_load(path.read_text(encoding="utf-8"))
        ]
        self.words = sorted({word for seed in self._seeds for word in re.findall(rb"\w+|[^\w\s]+", seed)})

    def seeds(self) -> Sequence[bytes]:
        return self._seeds

    def check(self, data: bytes) -> str:
        text = data.decode("utf-8", "surrogateescape" if len(data) % 2 else "replace")
        try:
            found = run(self._graph, text, {"name": "Cart", "list": [1, "a", None]}, 50, 1.0)
        except AtlasError:
            return "refused"
        again = run(self._graph, f"/* the same */ {text}", {"name": "Cart", "list": [1, "a", None]}, 50, 5.0)
        assert again.columns == found.columns
        assert len(again.rows) == len(found.rows)
        return "answered"

    def close(self) -> None:
        self._graph.close()
