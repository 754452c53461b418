"""Jupyter notebooks: Markdown cells as Markdown, code cells as code; outputs are left out, nothing is executed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from atlas.packs.documentation.article import BlockKind
from atlas.packs.documentation.formats.markdown import read_markdown

if TYPE_CHECKING:
    from atlas.packs.documentation.formats.draft import Draft

MAX_CELLS = 20_000


def read_notebook(text: str, draft: Draft) -> None:
    """Read a notebook into a draft."""
    try:
        content: object = json.loads(text)
    except (ValueError, RecursionError):
        draft.problem(0, "not-json", "the notebook is not valid JSON")
        return
    cells = _member(content, "cells")
    if not isinstance(cells, list):
        draft.problem(0, "no-cells", "the notebook has no list of cells")
        return
    language = _language(_member(content, "metadata"))
    for cell in cast("list[object]", cells)[:MAX_CELLS]:
        kind, source = _member(cell, "cell_type"), _text(_member(cell, "source"))
        if kind == "markdown":
            read_markdown(source, draft)
        elif kind == "code":
            draft.add(BlockKind.CODE, source, language)
        elif kind == "raw":
            draft.add(BlockKind.PARAGRAPH, source)


def _language(metadata: object) -> str:
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        name = _member(_member(metadata, part), key)
        if isinstance(name, str):
            return name[:40]
    return ""


def _member(value: object, key: str) -> object:
    return cast("dict[object, object]", value).get(key) if isinstance(value, dict) else None


def _text(source: object) -> str:
    if isinstance(source, list):
        return "".join(part for part in cast("list[object]", source) if isinstance(part, str))
    return source if isinstance(source, str) else ""
