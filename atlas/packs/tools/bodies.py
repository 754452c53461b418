"""Answers about packs as groups of items. What documentation says is escaped, in lines and in fields for programs.

It never controls a terminal and hides nothing from who reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from atlas.answers.items import Action, Item, ItemGroup, ItemsBody
from atlas.core.invisible import escaped, escaped_text
from atlas.core.lazy_regex import lazy_regex
from atlas.core.wording import counted
from atlas.packs.documentation.pack.folder import InstalledPack
from atlas.packs.questions.values import EXTRACT, Fact, Hit, PackAnswer

_FENCE = lazy_regex(r"(`{3,})")
EXCERPT = 240
MARK = "- "


def packs_body(packs: Sequence[InstalledPack]) -> ItemsBody:
    """Return the installed packs."""
    items: list[Item] = []
    for one in packs:
        manifest = one.manifest
        if manifest is None:
            items.append(Item(escaped(f"{one.folder.parent.name}@{one.folder.name}: damaged: {one.problem}")))
            continue
        subject = f"{manifest.library} {manifest.library_version}".strip() or manifest.description
        articles = manifest.counts.get("Article", 0)
        said = f"{escaped(subject)}, " if subject else ""
        line = f"{manifest.name}@{manifest.version}: {said}{counted(articles, 'article')}"
        data = {"name": manifest.name, "version": manifest.version, "library": manifest.library, "articles": articles}
        items.append(Item(line, {**data, "library_version": manifest.library_version}))
    if not items:
        return ItemsBody("none", "no pack is installed; build one: atlas pack build NAME --from pypi:NAME==VERSION")
    return ItemsBody("ok", counted(len(items), "pack"), (ItemGroup.of("packs", items),))


def answer_body(pack: str, answer: PackAnswer) -> ItemsBody:
    """Return an answer: its text in parts, its facts and sources."""
    parts = [Item(part_line(part), visible({"text": part})) for part in parts_of(answer.text)]
    facts = [
        Item(
            f"{fact.kind}: {escaped(' '.join(fact.text.split()))} [{fact.source}]{_by_model(fact)}",
            visible(asdict(fact)),
        )
        for fact in answer.facts
    ]
    sources = [
        Item(
            f"[{one.number}] {escaped(f'{place(one.title, one.section)} ({one.url or one.article})')}",
            visible(asdict(one)),
        )
        for one in answer.sources
    ]
    groups = (
        ItemGroup.of("answer", parts),
        ItemGroup.of("facts", facts, is_quoted=answer.by == EXTRACT),
        ItemGroup.of("sources", sources, is_quoted=True),
        ItemGroup.of("withheld", [Item(escaped(one), visible({"text": one})) for one in answer.withheld]),
    )
    status = "not_found" if answer.is_refused else "ok"
    title = f"{pack}, confidence {answer.confidence:.2f}, {'quoted' if answer.by == EXTRACT else f'by {answer.by}'}"
    return ItemsBody(status, title, groups)


def _by_model(fact: Fact) -> str:
    return " (found by a language model)" if fact.origin == "model" else ""


def hits_body(pack: str, hits: Sequence[Hit]) -> ItemsBody:
    """Return found sections."""
    items = [
        Item(
            f"{escaped(place(hit.title, hit.section))} ({escaped(hit.url or f'{hit.article}#{hit.anchor}')}): "
            f"{escaped(excerpt(hit.text))}",
            visible(
                {
                    **{"article": hit.article, "anchor": hit.anchor, "title": hit.title, "section": hit.section},
                    **{"url": hit.url, "score": hit.score, "text": excerpt(hit.text)},
                }
            ),
        )
        for hit in hits
    ]
    if not items:
        return ItemsBody("none", f"{pack} has nothing about this")
    first = hits[0]
    read = Action("pack_article", {"article": f"{first.article}#{first.anchor}", "pack": pack}, "read the section")
    return ItemsBody("ok", f"{pack}, {counted(len(items), 'section')}", (ItemGroup.of("sections", items),), (read,))


def article_body(pack: str, title: str, url: str, text: str) -> ItemsBody:
    """Return an article in parts, so that a budget cuts it between them."""
    parts = [Item(part_line(part), visible({"text": part})) for part in parts_of(text)]
    return ItemsBody(
        "ok", f"{pack}: {escaped(title)}{f' ({escaped(url)})' if url else ''}", (ItemGroup.of("text", parts),)
    )


def parts_of(text: str) -> list[str]:
    """Return the paragraphs of a text; a fenced block of code is one, whatever blank lines it has."""
    parts: list[str] = []
    fence = ""
    for part in text.split("\n\n"):
        if fence:
            parts[-1] += f"\n\n{part}"
        elif part.strip():
            parts.append(part)
        for line in part.split("\n"):
            marks = _FENCE.match(line)
            if marks and not fence:
                fence = marks[1]
            elif fence and line.strip() == fence:
                fence = ""
    return parts


def place(title: str, section: str) -> str:
    """Return where a text stands: "Title > Section"."""
    return f"{title} > {section}" if section else title


def excerpt(text: str) -> str:
    """Return the start of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT else f"{line[: EXCERPT - 1].rsplit(' ', 1)[0]}…"


def part_line(part: str) -> str:
    """Return a part of a text as the line of an item, which gets a mark: a list has marks already."""
    if not part.startswith(MARK):
        return escaped_lines(part)
    lines = part.removeprefix(MARK).split("\n")
    is_list = all(line.startswith((MARK, "  ")) for line in lines[1:])
    return "\n".join(map(escaped, lines)) if is_list else escaped_lines("\n".join(lines))


def visible(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields whose texts have invisible characters and those that change the direction of text escaped."""
    return {name: escaped_text(value) if isinstance(value, str) else value for name, value in data.items()}


def escaped_lines(text: str) -> str:
    """Return a text with the characters escaped that control a terminal; its lines stay."""
    return "\n  ".join(escaped(line) for line in text.split("\n"))
