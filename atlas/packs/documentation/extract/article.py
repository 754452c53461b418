"""Everything that rules find in one article. Pure."""

from __future__ import annotations

from dataclasses import replace

from atlas.packs.documentation.article import DOCSTRING
from atlas.packs.documentation.extract.entities import find_entities
from atlas.packs.documentation.extract.facts import find_facts
from atlas.packs.documentation.extract.found import Extract
from atlas.packs.documentation.extract.relations import find_relations
from atlas.packs.documentation.rendering import RenderedArticle


def extract(rendered: RenderedArticle) -> Extract:
    """Return the entities, facts and relations of an article."""
    entities = find_entities(rendered)
    if rendered.article.format == DOCSTRING:
        # headings are the symbols themselves, and inline code of docstrings names arguments
        entities = (replace(one, strategy="docstring") for one in entities if one.strategy == "signature")
    return Extract(tuple(entities), tuple(find_facts(rendered)), tuple(find_relations(rendered)))
