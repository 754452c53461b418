"""Notes, packs and papers of strangers: markup in every name, claim, title, article and abstract."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from tests.surfaces.processes import atlas

from .served import MARKUP, write_hostile


def evil(number: int) -> str:
    """A text that runs a script where it is taken for markup."""
    return f'"><img src=x onerror=alert({number})><script>alert({number})</script>'


PAGES = {
    "cart.md": f"""# Carts {evil(31)}

A cart holds items {evil(32)}. [Click](javascript:alert(33))

## Totals

The total is the sum of the prices.

```python
total(cart)  # </pre><script>alert(34)</script>
```
""",
    "tax.html": "<html><head><title>Tax <script>alert(35)</script></title></head><body><h1>Tax &lt;script&gt;alert(36)"
    "&lt;/script&gt;</h1><p>The rate of tax is seven percent. <img src=x onerror=alert(37)> &lt;img src=x "
    'onerror=alert(38)&gt; <a href="javascript:alert(39)">more</a></p></body></html>',
}
BIBTEX = f"""
@article{{one, title={{Attention {evil(41)}}}, author={{Doe {evil(42)}, Jane}}, year=2017, eprint={{1706.03762}},
  abstract={{We propose attention {evil(43)}. It achieves 28.4 BLEU.}}}}
@article{{two, title={{Deeper Attention}}, author={{Roe, Kim}}, year=2019, eprint={{1901.00001}},
  abstract={{We extend arXiv:1706.03762 and arXiv:1512.03385 by more layers.}}}}
@article{{three, title={{Attention Again}}, author={{Roe, Kim}}, year=2020, eprint={{2001.00001}},
  abstract={{As arXiv:1706.03762 and arXiv:1901.00001 show, more is more.}}}}
"""


@dataclass(frozen=True)
class Library:
    """A project with notes, and the user's packs and papers, in folders of their own."""

    root: Path
    data: Path
    environment: dict[str, str]
    claim: str
    other: str
    suspect: str
    entity: str

    def atlas(self, *arguments: str) -> str:
        """Run a command about the project; return what it prints."""
        done = atlas(*arguments, env=self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout


def make_library(folder: Path) -> Library:
    """Write the hostile repository with notes, two versions of a pack, and three papers."""
    root, data = folder / "shop", folder / "data"
    write_hostile(root)
    own = {f"XDG_{name}_HOME": str(folder / f"xdg-{name.lower()}") for name in ("CONFIG", "CACHE", "DATA")}
    given = {**{name: value for name, value in os.environ.items() if not name.startswith("ATLAS_")}, **own}
    given |= {"ATLAS_MCP_START_DAEMON": "false", "COLUMNS": "200", "PYTHONPATH": str(Path(__file__).parents[2])}
    library = Library(root, data, given, "", "", "", "")
    places = ["--project", str(root), "--data-dir", str(data)]
    library.atlas("index", str(root), "--data-dir", str(data))

    def note(text: str, *more: str) -> str:
        written = json.loads(library.atlas("notes", "add", text, *more, *places, "--json"))
        return str(written["body"]["groups"][0]["items"][0]["data"]["id"])

    claim = note(
        f"The discount is always ten percent {evil(21)}", "--source", evil(22), "--about", "shop.cart.discount"
    )
    other = note(f"The discount is never ten percent {evil(23)}", "--confidence", "0.6")
    suspect = note("A basket weighs one kilogram", "--about", "Basket.weight")
    note("Prices are in cents", "--kind", "decision")
    library.atlas("notes", "link", claim, "contradicts", other, "--reasoning", evil(24), *places)
    library.atlas("notes", "link", suspect, "supports", claim, *places)
    said = library.atlas(
        "memory",
        "remember",
        f"Billing {evil(25)}",
        f"Releases on Thursdays {evil(26)}",
        "--type",
        "team",
        *places,
        "--json",
    )
    entity = str(json.loads(said)["body"]["groups"][0]["items"][0]["data"]["id"])
    cart = root / "shop" / "cart.py"
    cart.write_text(cart.read_text(encoding="utf-8").replace("return 1\n", "return 3\n"), encoding="utf-8")
    docs = folder / "docs"
    docs.mkdir()
    for version in ("1", "2"):
        for name, text in PAGES.items():
            (docs / name).write_text(text if version == "1" else text.replace("seven", "nine"), encoding="utf-8")
        library.atlas("pack", "build", "widget", "--from", str(docs), "--version", version, "--description", MARKUP)
    papers = folder / "papers.bib"
    papers.write_text(BIBTEX, encoding="utf-8")
    library.atlas("papers", "import", str(papers), "--topic", "attention")
    return Library(root, data, given, claim, other, suspect, entity)
