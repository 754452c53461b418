"""An impact as a Mermaid flow chart that a pull request renders: bounded nodes, escaped labels. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

MAX_NODES = 40
MAX_LABEL = 60
_ESCAPED = {ord(sign): f"#{ord(sign)};" for sign in '"#<>&`\\[](){}|'}


def flow_chart(changed: Iterable[str], chains: Sequence[Sequence[str]], tests: Iterable[str], left: int) -> str:
    """Return a chart of chains of names, each from a changed symbol to an affected one.

    `tests` are the names among them that are tests, `left` the affected symbols without a chain here.
    """
    ids: dict[str, str] = {}
    edges: dict[tuple[str, str], None] = {}
    changed, is_test = list(changed), set(tests)
    for name in changed[:MAX_NODES]:
        ids.setdefault(name, f"n{len(ids)}")
    for chain in chains:
        new = [name for name in dict.fromkeys(chain) if name not in ids]
        if len(ids) + len(new) > MAX_NODES:
            left += 1
            continue
        for name in new:
            ids[name] = f"n{len(ids)}"
        edges.update(((ids[one], ids[other]), None) for one, other in pairwise(chain))
    lines = ["flowchart LR"]
    for name, node in ids.items():
        style = ":::changed" if name in changed else ":::test" if name in is_test else ""
        lines.append(f'  {node}["{mermaid_label(name)}"]{style}')
    lines += [f"  {one} --> {other}" for one, other in edges]
    if left:
        lines.append(f'  more["{left} more"]')
    lines += ["  classDef changed fill:#fde68a,stroke:#92400e,color:#000", "  classDef test fill:#bbf7d0,color:#000"]
    return "\n".join(lines)


def mermaid_label(name: str) -> str:
    """Return a name as the text of a node: printable, bounded, escaped."""
    printable = "".join(sign if sign.isprintable() else " " for sign in name)
    if len(printable) > MAX_LABEL:
        printable = "..." + printable[3 - MAX_LABEL :]
    return printable.translate(_ESCAPED)
