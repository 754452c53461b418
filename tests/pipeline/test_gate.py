"""The significance gate, row by row: what an edit does to a symbol's vector at once, and that it is right in the end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from atlas.app.main import open_atlas
from atlas.code.index.tiers.significance import changed_share
from atlas.core.model import Decision
from atlas.runtime.config.load import load_settings
from tests.pipeline.trees import dump, index, write_tree

BEFORE = '''def total(prices, tax):
    """Sum of the prices with tax."""
    result = 0
    for price in prices:
        result = result + price + price * tax
    if result < 0:
        raise ValueError("a negative sum of prices", result)
    return round(result, 2)
'''

ROWS = {
    "layout": (BEFORE.replace("result + price + price * tax", "result  +  price + price*tax"), False),
    "comment": (BEFORE.replace("    result = 0\n", "    result = 0  # nothing bought yet\n"), False),
    "docstring": (BEFORE.replace("Sum of the prices with tax.", "Gross amount of an order."), True),
    "body": (BEFORE.replace("round(result, 2)", "self.currency.rounded(result, digits=2, mode='half-even')"), True),
    "small-body": (BEFORE.replace("result = 0", "result = 1"), False),
    "signature": (BEFORE.replace("prices, tax)", "prices, tax=0.19)"), True),
}


async def decision_of(data: Path, root: Path, uid: str) -> list[Decision]:
    async with open_atlas(load_settings(project=str(root), data_dir=str(data))) as atlas:
        return await atlas.reader.store.decisions([uid])


@pytest.mark.parametrize(("reason", "row"), ROWS.items(), ids=list(ROWS))
async def test_every_row_of_the_table(tmp_path: Path, reason: str, row: tuple[str, bool]) -> None:
    after, through = row
    root, data = tmp_path / "p", tmp_path / "d"
    write_tree(root, {"shop.py": BEFORE})
    await index(root, data)
    (root / "shop.py").write_text(after)
    await index(root, data)
    assert await decision_of(data, root, "p:shop.total") == [Decision("p:shop.total", through, reason)]
    await index(root, tmp_path / "fresh")
    assert dump(data) == dump(tmp_path / "fresh"), "a stopped change must still end at the clean vectors"


async def test_added_and_deleted_symbols_pass(tmp_path: Path) -> None:
    root, data = tmp_path / "p", tmp_path / "d"
    write_tree(root, {"shop.py": BEFORE})
    await index(root, data)
    (root / "shop.py").write_text(BEFORE + "\n\ndef discount(price):\n    return price / 2\n")
    await index(root, data)
    assert await decision_of(data, root, "p:shop.discount") == [Decision("p:shop.discount", True, "added")]
    (root / "shop.py").write_text(BEFORE)
    await index(root, data)
    assert await decision_of(data, root, "p:shop.discount") == []
    async with open_atlas(load_settings(project=str(root), data_dir=str(data))) as atlas:
        (stats,) = await atlas.reader.store.stats("p")
    assert stats.decisions["deleted"] == 1


async def test_an_untouched_symbol_beside_a_changed_one_is_not_decided(tmp_path: Path) -> None:
    root, data = tmp_path / "p", tmp_path / "d"
    other = "\n\ndef other():\n    return 'something else'\n"
    write_tree(root, {"shop.py": BEFORE + other})
    await index(root, data)
    (root / "shop.py").write_text(ROWS["docstring"][0] + other)
    await index(root, data)
    assert await decision_of(data, root, "p:shop.other") == await decision_of(data, root, "p:shop.nothing") == []


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        ("", "", 0.0),
        ("a b c d", "a b c d", 0.0),
        ("a b c d", "d c b a", 0.0),
        ("a b c d", "a b c x", 0.25),
        ("a b", "a b c d", 0.5),
        ("a", "", 1.0),
    ],
)
def test_the_share_of_changed_words(before: str, after: str, share: float) -> None:
    assert changed_share(before, after) == pytest.approx(share)
    assert changed_share(after, before) == pytest.approx(share)


def test_a_first_index_is_not_decided_symbol_by_symbol(tmp_path: Path) -> None:
    write_tree(tmp_path / "p", {"shop.py": BEFORE})
    assert asyncio.run(index(tmp_path / "p", tmp_path / "d")).vectors == 2
    assert asyncio.run(decision_of(tmp_path / "d", tmp_path / "p", "p:shop.total")) == []
