"""Everything that rules find in one article. Pure."""

from __future__ import annotations

from atlas.docs.extract.entities import find_entities
from atlas.docs.extract.facts import find_facts
from atlas.docs.extract.found import Extract
from atlas.docs.extract.relations import find_relations
from atlas.docs.rendering import RenderedArticle


def extract(rendered: RenderedArticle) -> Extract:
    """Return the entities, facts and relations of an article."""
    return Extract(tuple(find_entities(rendered)), tuple(find_facts(rendered)), tuple(find_relations(rendered)))
