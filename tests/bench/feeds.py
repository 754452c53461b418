"""Ways in which a conversation can be written down as notes: `python -m tests.bench.recall --feed NAME`.

turns: observations of their speaker; prefixed: the same with "Speaker: " in front; conversation and session: such texts
as observations of one entity for each conversation or session; claims: such texts as claims. For claims that begin with
their subject ("Coffee. Drinking it ..."): sources has it as their source, unsourced leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Case = dict[str, Any]


def _said(turn: dict[str, str]) -> str:
    return f"{turn['speaker']}: {turn['text']}"


def _prefixed(case: Case, _: int) -> Case:
    return {"turns": [{**turn, "text": _said(turn)} for turn in case["turns"]]}


def _conversation(case: Case, number: int) -> Case:
    said = [{"created": turn["created"], "text": _said(turn)} for turn in case["turns"]]
    return {"entities": [{"name": f"conv-{number + 1}", "type": "conversation", "observations": said}]}


def _session(case: Case, number: int) -> Case:
    sessions: dict[str, list[dict[str, str]]] = {}
    for turn in case["turns"]:
        sessions.setdefault(turn["created"], []).append({"created": turn["created"], "text": _said(turn)})
    names = (f"conv-{number + 1} session {at}" for at in range(1, len(sessions) + 1))
    entities = [
        {"name": name, "type": "session", "observations": said}
        for name, said in zip(names, sessions.values(), strict=True)
    ]
    return {"entities": entities}


def _claims(case: Case, _: int) -> Case:
    return {"claims": [{"text": _said(turn)} for turn in case["turns"]]}


FEEDS: dict[str, Callable[[Case, int], Case]] = {
    "prefixed": _prefixed,
    "conversation": _conversation,
    "session": _session,
    "claims": _claims,
}


SOURCES = ("sources", "unsourced")


def fed(cases: list[Case], feed: str) -> list[Case]:
    """Return cases whose turns or claims are written down in another way; cases without these stay as they are."""
    if feed in SOURCES:
        return [_sourced(case, feed) if "claims" in case else case for case in cases]
    if feed not in FEEDS:
        return cases
    return [_fed(case, number, feed) if "turns" in case else case for number, case in enumerate(cases)]


def _fed(case: Case, number: int, feed: str) -> Case:
    said = {turn["text"]: _said(turn) for turn in case["turns"]}
    queries = [{**query, "gold": [said[text] for text in query["gold"]]} for query in case["queries"]]
    return {**FEEDS[feed](case, number), "queries": queries}


def _sourced(case: Case, feed: str) -> Case:
    parts = {claim["text"]: claim["text"].partition(". ")[::2] for claim in case["claims"]}
    claims = [{"text": said, "source": title if feed == "sources" else ""} for title, said in parts.values()]
    queries = [{**query, "gold": [parts[text][1] for text in query["gold"]]} for query in case["queries"]]
    return {**case, "claims": claims, "queries": queries}
