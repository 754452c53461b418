"""Everything that rules find in one article. Pure."""

from __future__ import annotations

from dataclasses import replace

from atlas.docs.article import DOCSTRING
from atlas.docs.extract.entities import find_entities
from atlas.docs.extract.facts import find_facts
from atlas.docs.extract.found import Extract
from atlas.docs.extract.relations import find_relations
from atlas.docs.rendering import RenderedArticle


def extract(rendered: RenderedArticle) -> Extract:
    """Return the entities, facts and relations of an article."""
    entities = find_entities(rendered)
    if rendered.article.format == DOCSTRING:
        # headings are the symbols themselves, and inline code of docstrings names arguments
        entities = (replace(one, strategy="docstring") for one in entities if one.strategy == "signature")
    return Extract(tuple(entities), tuple(find_facts(rendered)), tuple(find_relations(rendered)))
