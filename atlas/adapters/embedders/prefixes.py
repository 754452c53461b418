"""Prefixes for queries and documents, as the models were trained with them. Data only."""

from __future__ import annotations

import re
from dataclasses import dataclass

AUTO = "auto"
"""Setting for the prefixes that the model's authors specify; empty for models outside the table."""


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Text to put in front of queries and documents; "" for none."""

    query: str = ""
    document: str = ""


_CODE_RANK = Prefixes("Represent this query for searching relevant code: ")

MODELS = (
    (r"coderankembed|nomic-embed-code", _CODE_RANK),
    (r"nomic-embed-text", Prefixes("search_query: ", "search_document: ")),
    (
        r"qwen3-embedding",
        Prefixes("Instruct: Given a question about a code base, retrieve the code that answers it\nQuery:"),
    ),
    (r"embeddinggemma", Prefixes("task: code retrieval | query: ", "title: none | text: ")),
    (
        r"jina-code-embeddings",
        Prefixes("Find the most relevant code snippet given the following query:\n", "Candidate code snippet:\n"),
    ),
    (r"(^|[-_/])e5-(small|base|large)(?!.*instruct)", Prefixes("query: ", "passage: ")),
)
"""Pattern for the model's name -> its prefixes. gte-modernbert, jina-embeddings-v2-base-code and OpenAI's need none."""


def prefixes(model: str, query: str, document: str) -> Prefixes:
    """Return the prefixes for a model; `query` and `document` are the settings, each of which may be AUTO."""
    name = model.lower()
    known = next((found for pattern, found in MODELS if re.search(pattern, name)), Prefixes())
    return Prefixes(known.query if query == AUTO else query, known.document if document == AUTO else document)
