"""The rankings that are compared: each channel alone, each fusion without ranking, and the whole pipeline.

A variant is a function of an open index and a question. Switches of the pipeline become variants here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from atlas.code.atlas import Atlas
from atlas.code.find import RERANK_LIMIT, Fusion, SearchResult
from atlas.code.question.parse_question import Query, route
from atlas.code.retrieve.channels import Ranking, by_any_meaning, by_meaning, by_words
from atlas.code.retrieve.fuse import fuse_rrf, order, text_scores, weighted
from atlas.code.retrieve.sentence_transformer import by_quality
from atlas.core.model import Filter, Node, Scored
from atlas_bench.search.measures import Hit

Variant = Callable[[Atlas, str], Awaitable[list[Hit]]]
Fuse = Callable[[Sequence[Scored], Sequence[Scored]], Sequence[Scored]]
Channel = Callable[[Atlas, Query, Filter], Awaitable[Ranking]]

FILES = "BM25 of whole files"
PIPELINE = "pipeline"


def _where(atlas: Atlas) -> Filter:
    return Filter(project=atlas.reader.project)


def _hits(nodes: Sequence[Node]) -> list[Hit]:
    return [Hit(node.row.path, node.row.line) for node in nodes if node.row.path]


def channel(run: Channel) -> Variant:
    """Return the ranking of one channel."""

    async def ask(atlas: Atlas, text: str) -> list[Hit]:
        query = route(text, atlas.reader.split_words, atlas.reader.languages)
        found = await run(atlas, query, _where(atlas))
        return _hits(await atlas.reader.store.symbols([hit.uid for hit in found.hits[:RERANK_LIMIT]]))

    return ask


def fusion(fuse: Fuse) -> Variant:
    """Return words and meaning fused by a function, without ranking."""

    async def ask(atlas: Atlas, text: str) -> list[Hit]:
        query, where = route(text, atlas.reader.split_words, atlas.reader.languages), _where(atlas)
        words, meaning = await asyncio.gather(
            by_words(atlas.reader, query, where), by_meaning(atlas.reader, query, where)
        )
        fused = fuse(words.hits, meaning.hits)[:RERANK_LIMIT]
        return _hits(await atlas.reader.store.symbols([hit.uid for hit in fused]))

    return ask


def pipeline(fusion: Fusion = Fusion.WEIGHTED) -> Variant:
    """Return the product's own search; a question that the graph answers counts by the symbols of its answer."""

    async def ask(atlas: Atlas, text: str) -> list[Hit]:
        return await hits_of(atlas, await atlas.search(text, _where(atlas), fusion=fusion))

    return ask


def without_quality(variant: Variant) -> Variant:
    """Return a ranking without the sentence transformer."""

    async def ask(atlas: Atlas, text: str) -> list[Hit]:
        return await variant(Atlas(replace(atlas.reader, quality_embedder=None)), text)

    return ask


async def hits_of(atlas: Atlas, found: SearchResult) -> list[Hit]:
    """Return the places of a search, with those that were merged into them."""
    if found.relation is not None:
        return _hits(
            [each.node for each in found.relation.related] or [each.node for each in found.relation.targets.targets]
        )
    merged = [uid for each in found.ranked for uid in each.also]
    rows = {node.row.uid: node.row for node in await atlas.reader.store.symbols(merged)} if merged else {}
    return [
        Hit(
            each.node.row.path,
            each.node.row.line,
            tuple((rows[uid].path, rows[uid].line) for uid in each.also if uid in rows),
        )
        for each in found.ranked
        if each.node.row.path
    ]


VARIANTS: Mapping[str, Variant] = {
    "BM25": channel(lambda atlas, query, where: by_words(atlas.reader, query, where)),
    "vectors": channel(lambda atlas, query, where: by_any_meaning(atlas.reader, query, where)),
    "RRF 60": fusion(lambda words, meaning: fuse_rrf((words, meaning))),
    "RRF 10": fusion(lambda words, meaning: fuse_rrf((words, meaning), 10)),
    "weighted by maximum": fusion(lambda words, meaning: order(weighted((words, meaning), (0.4, 0.6)))),
    "weighted from the floor": fusion(lambda words, meaning: order(text_scores(words, meaning))),
    "pipeline, RRF": pipeline(Fusion.RRF),
    PIPELINE: pipeline(),
}
"""Name -> ranking. `BM25 of whole files` is added by the run, because it needs the tree."""

QUALITY_VARIANTS: Mapping[str, Variant] = {
    "sentence transformer": channel(lambda atlas, query, where: by_quality(atlas.reader, query, where)),
    "pipeline without it": without_quality(VARIANTS[PIPELINE]),
}
"""Further rankings of a run with a sentence transformer, which is then part of the pipeline."""
