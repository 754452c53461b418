"""The commit by which a package left one group of a manifest that still declares it in another.

`Which commit got rid of X as a runtime dependency` may be about a package that tests still need: the name stands in the
manifest before and after. Compares the groups of the manifest in its last commits.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import cast

from atlas.code.changes.commit_rows import commit_row, day_of
from atlas.code.changes.told_topics import MOST_REASONS, releases_of
from atlas.code.lines.line_report import LineReport, TextLine
from atlas.core.history import Commit, History

MOST_COMMITS = 200
MOST_SHOWN = 4
_WITH_GROUPS = ("package.json", "composer.json", "Cargo.toml")
Groups = Mapping[str, Mapping[str, str]]


async def find_left_group(history: History, name: str, paths: Sequence[str]) -> LineReport | None:
    """Return the last commit that took a package out of a group of a manifest, with what it added there; else None."""
    for path in (each for each in paths if each.rpartition("/")[2] in _WITH_GROUPS):
        after: Groups = {}
        newer: Commit | None = None
        for commit in (await history.log(MOST_COMMITS, path=path)).commits:
            now = _groups(path, await history.content(commit.id, [path]))
            if newer is not None and _left(now, after, name):
                before = _groups(path, await history.content(f"{newer.id}^", [path]))
                if left := _left(before, after, name):
                    return await _told(history, name, path, newer, left, before, after)
            after, newer = now, commit
    return None


def _groups(path: str, texts: Mapping[str, bytes]) -> Groups:
    """Return what the tables of a manifest declare, by table and name."""
    text = texts.get(path, b"").decode("utf-8", "replace")
    try:
        read: object = json.loads(text or "{}") if path.endswith(".json") else tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}
    tables = cast("dict[str, object]", read) if isinstance(read, dict) else {}
    return {
        group: {key: said if isinstance(said, str) else "" for key, said in cast("dict[str, object]", table).items()}
        for group, table in tables.items()
        if isinstance(table, dict) and ("depend" in group.lower() or group.startswith("require"))
    }


def _left(before: Groups, after: Groups, name: str) -> list[str]:
    """Return the groups that had a package, while afterwards another one has it."""
    return [group for group in before if name in before[group] and name not in after.get(group, {})] if after else []


async def _told(
    history: History, name: str, path: str, commit: Commit, left: Sequence[str], before: Groups, after: Groups
) -> LineReport:
    row = commit_row(commit, (await releases_of(history, [commit])).get(commit.id, ""))
    rows = [f"- {name} {before[group][name]} [{group}]" for group in left]
    came = [
        f"+ {each} {said} [{group}]"
        for group in after
        for each, said in after[group].items()
        if each not in before.get(group, {}) and (group in left or each == name)
    ]
    lines = [TextLine("removed", row.place, row.text)]
    lines += [TextLine("manifest", path, " ".join(each.split())) for each in (*rows, *came[:MOST_SHOWN])]
    said = await history.messages([commit.id])
    lines += [TextLine("messages", key[:10], " ".join(said[key].split())[:MOST_REASONS]) for key in said]
    groups = " and ".join(f"`{group}`" for group in left)
    title = f"`{name}` left {groups} of {path} on {day_of(commit)}"
    return LineReport("changes", title, tuple(lines))
