"""Applies the significance gate to deltas: what the store holds against what is about to be written.

Deltas come in just before they are applied; the same deltas with a decision per changed symbol go out, and the keys for
tier 3. The rules are in `significance.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from atlas.code.index.events import WHOLE_PROJECT
from atlas.code.index.project.workspace import Workspace
from atlas.code.index.tiers.significance import BODY_THRESHOLD, decide
from atlas.core.contracts import Store
from atlas.core.model import Decision, GraphDelta, Node, NodeRow, SymbolDigests

NEW_FILES = 64
"""With more new or deleted files in a batch, no symbol is decided alone: the whole tree is embedded."""


@dataclass(frozen=True, slots=True)
class SignificanceGate:
    """The gate of one store."""

    store: Store
    threshold: float = BODY_THRESHOLD
    embeds: bool = True
    """Whether there is a tier 3."""

    async def judge(self, workspace: Workspace, deltas: Sequence[GraphDelta], is_new: bool = False) -> list[GraphDelta]:
        """Return the deltas with their decisions; call it before they are applied.

        `is_new`: their pass began with an empty project, so there is nothing to decide.
        """
        if is_new:
            return list(deltas)
        changed = {delta.path for delta in deltas if _is_changed(workspace, delta)}
        new = {delta.path for delta in deltas if delta.path and delta.path not in workspace.manifest}
        if len(new) > NEW_FILES:
            new = set[str]()
        gone = [delta.path for delta in deltas if delta.record is None]
        asked = [*changed, *(gone if len(gone) <= NEW_FILES else ())]
        if not asked and not new:
            return list(deltas)
        old = await self.store.symbol_digests(workspace.name, asked) if asked else {}
        unclear = [uid for delta in deltas if delta.path in changed for uid in _unclear(delta, old.get(delta.path, {}))]
        before = {node.row.uid: node for node in await self.store.symbols(unclear)} if unclear else {}
        contents = await self.store.content(workspace.name, list({node.row.path for node in before.values()}))
        judged: list[GraphDelta] = []
        for delta in deltas:
            if delta.path in changed or delta.path in new or delta.path in old:
                decisions = self._decisions(delta, old.get(delta.path, {}), before, contents)
                judged.append(replace(delta, decisions=tuple(decisions)))
            else:
                judged.append(delta)
        return judged

    def _decisions(
        self,
        delta: GraphDelta,
        old: Mapping[str, SymbolDigests],
        before: Mapping[str, Node],
        contents: Mapping[str, bytes],
    ) -> Iterator[Decision]:
        rows = {row.uid: row for row in delta.nodes or ()} if delta.record is not None else {}
        for uid, row in rows.items():

            def texts(uid: str = uid, row: NodeRow = row) -> tuple[str, str]:
                was = before[uid].row
                return _text(contents.get(was.path, b""), was), _text(delta.content or b"", row)

            decision = decide(uid, old.get(uid), _digests(row), texts, self.threshold)
            if decision is not None:
                yield decision
        for uid in old.keys() - rows.keys():
            decision = decide(uid, old[uid], None, lambda: ("", ""), self.threshold)
            if decision is not None:
                yield decision

    def wanted(self, workspace: Workspace, deltas: Sequence[GraphDelta], is_new: bool = False) -> list[str]:
        """Return the keys for tier 3; call it before `Workspace.record_written`. `is_new`: see `judge`."""
        if not self.embeds or workspace.is_seeded:
            # the end of such a pass embeds what lacks a vector: to look for it after each batch takes longer
            return []
        new = {delta.path for delta in deltas if delta.path and delta.path not in workspace.manifest}
        if is_new or len(new) > NEW_FILES:
            return [WHOLE_PROJECT]
        return [one.uid for delta in deltas for one in delta.decisions if one.through and one.reason != "deleted"]


def _is_changed(workspace: Workspace, delta: GraphDelta) -> bool:
    known, record = workspace.manifest.get(delta.path), delta.record
    if not delta.path or known is None or record is None or delta.nodes is None:
        return False
    return known.digest != record.digest


def _unclear(delta: GraphDelta, old: Mapping[str, SymbolDigests]) -> Iterator[str]:
    """Yield the symbols whose texts must be compared."""
    for row in delta.nodes or ():
        was = old.get(row.uid)
        if was is None or was.chunk == row.chunk_digest:
            continue
        if was.signature == row.signature_digest and was.docstring == row.docstring_digest:
            yield row.uid


def _digests(row: NodeRow) -> SymbolDigests:
    return SymbolDigests(row.signature_digest, row.body_digest, row.docstring_digest, row.text_digest, row.chunk_digest)


def _text(content: bytes, row: NodeRow) -> str:
    return content[row.start_byte : row.end_byte].decode("utf8", "replace")
