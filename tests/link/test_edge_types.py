"""Every declared edge type has a case that produces it."""

from __future__ import annotations

import sys
from pathlib import Path

from atlas import _parser
from atlas.code.index.detectors import built_in
from atlas.core.model import EdgeType
from atlas.packs.documentation.article import Article, Block, BlockKind, Link, Section
from atlas.packs.documentation.graph import build_graph
from atlas.parsing import load_languages

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from case_files import read_cases  # noqa: E402


def edges_of_packs() -> set[str]:
    """The edge types of two articles about a class."""
    blocks = (
        Block(BlockKind.SIGNATURE, "class widget.Widget(size)", "widget.Widget", "class"),
        Block(BlockKind.SIGNATURE, "spin(speed)", "widget.Widget.spin", "method", depth=1),
        Block(
            BlockKind.PARAGRAPH, "The default of `SPIN_TIMEOUT` is `30` seconds.", links=(Link("b.md", "more", "page"),)
        ),
    )
    articles = [
        Article("a.md", "Widgets", (Section("", "Widgets", 1, blocks),), parents=("Guide",)),
        Article("b.md", "More", (Section("", "More", 1, (Block(BlockKind.PARAGRAPH, "Spinning takes time."),)),)),
    ]
    return {edge.type for unit in build_graph("p", articles).units for edge in unit.edges}


def test_every_edge_type_has_a_case() -> None:
    languages = load_languages(detectors=built_in())
    found: set[str] = set()
    for case in (case for path in sorted((HERE / "cases").glob("*.md")) for case in read_cases(path)):
        linker = _parser.Linker("p", languages)
        linker.set_subprojects(case.subprojects)
        linker.update([_parser.parse_bytes(languages, path, data) for path, data in case.files.items()])
        found |= {edge[2] for path in linker.digests() for edge in linker.unit(path).edges()}
    assert {kind.value for kind in EdgeType} - found - edges_of_packs() == set()
