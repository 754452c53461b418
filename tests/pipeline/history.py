"""A small git history with everything that happens to code: moves, renames, merges, deletions, broken syntax, new rules."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

FIRST = {
    ".gitignore": "build/\n*.log\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
    "README.md": "# Shop\n\nStart at `shop.cart.Cart.add`; prices are in [pricing](shop/pricing.py).\n",
    "shop/__init__.py": "from shop.cart import Cart\nfrom .pricing import *\n",
    "shop/cart.py": '''from shop.pricing import price_of, Discount


class Cart:
    """Holds lines until they are paid."""

    def __init__(self, discount: Discount | None = None):
        self.lines = []
        self.discount = discount or Discount()

    def add(self, name, count=1):
        self.lines.append((name, price_of(name) * count))
        return self

    def total(self):
        return self.discount.apply(sum(price for _, price in self.lines))
''',
    "shop/pricing.py": '''__all__ = ["price_of", "Discount"]


def price_of(name: str) -> int:
    """Price in cents."""
    return len(name)


class Discount:
    def apply(self, total):
        return total
''',
    "shop/report.py": "import shop.cart as basket\nfrom shop import *\n\n\ndef report():\n    cart = basket.Cart()\n    cart.add('tea').total()\n    return price_of('tea')\n",
    "tests/test_cart.py": "from shop import Cart\n\n\ndef test_total():\n    assert Cart().add('tea').total() == 3\n",
    "web/index.ts": "export * from './cart';\nexport { render as show } from './view';\n",
    "web/cart.ts": "import { render } from './view';\n\nexport class CartView {\n  open(): void {\n    render(this);\n  }\n}\n",
    "web/view.ts": "export function render(what: unknown): string {\n  return String(what);\n}\n",
    "web/app.ts": "import { CartView, show } from './index';\n\nexport function main(): void {\n  new CartView().open();\n  show(1);\n}\n",
    "svc/go.mod": "module example.org/svc\n\ngo 1.22\n",
    "svc/main.go": 'package main\n\nimport "example.org/svc/stock"\n\nfunc main() {\n\ts := stock.New()\n\ts.Take("tea")\n}\n',
    "svc/stock/stock.go": "package stock\n\ntype Stock struct{ left map[string]int }\n\nfunc New() *Stock { return &Stock{} }\n\nfunc (s *Stock) Take(name string) int { return s.count(name) }\n\nfunc (s *Stock) count(name string) int { return s.left[name] }\n",
}


class History:
    """A repository under construction."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.commits = 0
        root.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        subprocess.run(["git", *arguments], cwd=self.root, env=environment, check=True, capture_output=True)

    def commit(self, subject: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        self.commits += 1

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def replace(self, path: str, old: str, new: str) -> None:
        text = self.read(path)
        assert old in text, f"{old!r} is not in {path}"
        self.write(path, text.replace(old, new))

    def move(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)

    def merge(self, branch: str) -> None:
        self.git("merge", "--quiet", "--no-ff", "--message", f"merge {branch}", branch)
        self.commits += 1


def write_history(root: Path) -> int:
    """Make a repository and return how many commits it has."""
    history = History(root)
    for path, text in FIRST.items():
        history.write(path, text)
    history.commit("first")
    for step in (_names, _modules, _branches, _folders, _files, _rules):
        step(history)
    return history.commits


def _names(history: History) -> None:
    history.replace("shop/pricing.py", "price_of", "cost_of")
    history.commit("a function is renamed where it is defined only")
    history.replace("shop/cart.py", "price_of", "cost_of")
    history.replace("shop/report.py", "price_of", "cost_of")
    history.commit("its callers follow")
    history.replace("shop/pricing.py", '"Discount"', "")
    history.commit("a class is no longer exported by a star")
    history.write(
        "shop/sale.py",
        "from .pricing import Discount\n\n\nclass Sale(Discount):\n    def apply(self, total):\n        return super().apply(total) // 2\n",
    )
    history.commit("a derived class, overriding")
    history.replace("shop/cart.py", "discount or Discount()", "discount or Sale()")
    history.replace("shop/cart.py", "import cost_of, Discount", "import cost_of, Discount\nfrom shop.sale import Sale")
    history.commit("another type in a field")
    history.replace("shop/cart.py", "def add(self, name, count=1):", "def add(self, name, count=1, *, note=''):")
    history.commit("a signature changes")
    history.replace("shop/cart.py", '"""Holds lines until they are paid."""', '"""Lines that were chosen."""')
    history.commit("a docstring changes")
    history.replace("shop/cart.py", "        return self\n", "        # for chaining\n        return  self\n")
    history.commit("comment and layout only")
    history.write("web/view.ts", "function draw() {}\n\nexport const render = draw;\n")
    history.replace("shop/pricing.py", "def cost_of", "def cents_of")
    history.replace("shop/pricing.py", "class Discount:", "cost_of = cents_of\n\n\nclass Discount:")
    history.commit("functions become other names of functions")
    history.write("web/view.ts", FIRST["web/view.ts"])
    history.replace("shop/pricing.py", "cost_of = cents_of\n\n\n", "")
    history.replace("shop/pricing.py", "def cents_of", "def cost_of")
    history.commit("and functions again")


def _modules(history: History) -> None:
    history.replace("shop/pricing.py", "class Discount:", "class Discount(:")
    history.commit("syntax broken")
    history.write("web/view.ts", "export function render(what: unknown): string {\n  return String(what;\n")
    history.commit("syntax broken elsewhere")
    history.replace("shop/pricing.py", "class Discount(:", "class Discount:")
    history.write("web/view.ts", FIRST["web/view.ts"])
    history.commit("syntax repaired")
    history.move("shop/pricing.py", "shop/pricing/__init__.py")
    history.write("shop/pricing/tax.py", "from . import cost_of\n\n\ndef taxed(name):\n    return cost_of(name) * 2\n")
    history.commit("a module becomes a package")
    history.write(
        "shop/pricing/__init__.py",
        history.read("shop/pricing/__init__.py")
        + "\n\ndef tax():\n    from .tax import taxed\n    return taxed('x')\n",
    )
    history.write("shop/pricing.py", "def cost_of(name):\n    return 0\n")
    history.commit("module and package of one name")
    (history.root / "shop/pricing.py").unlink()
    history.commit("only the package again")


def _branches(history: History) -> None:
    history.git("checkout", "--quiet", "-b", "go-names")
    history.replace("svc/stock/stock.go", "Take", "Remove")
    history.commit("a method is renamed on a branch")
    history.move("svc/stock/stock.go", "svc/stock/shelf.go")
    history.write("svc/stock/new.go", "package stock\n\nfunc Default() *Stock { return New() }\n")
    history.commit("a Go file is renamed, another joins the package")
    history.git("checkout", "--quiet", "main")
    history.replace("web/view.ts", "render", "draw")
    history.commit("meanwhile a TypeScript function is renamed")
    history.replace("web/index.ts", "render as show", "draw as show")
    history.replace("web/cart.ts", "render", "draw")
    history.commit("its importers follow")
    history.merge("go-names")
    history.replace("svc/main.go", "Take", "Remove")
    history.commit("the caller follows after the merge")


def _folders(history: History) -> None:
    history.move("web", "front/web")
    history.commit("a folder moves")
    shutil.rmtree(history.root / "svc/stock")
    history.commit("a package is deleted")
    history.write("svc/stock", "this was a folder\n")
    history.commit("a file where a folder was")
    (history.root / "svc/stock").unlink()
    history.write("svc/stock/stock.go", FIRST["svc/stock/stock.go"])
    history.commit("a folder where a file was")
    for path in ("shop/cart.py", "shop/sale.py"):
        history.move(path, f"{path}.moved")
    history.move("shop/cart.py.moved", "shop/sale.py")
    history.move("shop/sale.py.moved", "shop/cart.py")
    history.commit("two files swap their names")
    history.move("README.md", "readme.md")
    history.commit("a name changes its case only")


def _files(history: History) -> None:
    history.write("shop/data.py", "PRICES = {'tea': 3}\n\n\ndef lookup(name):\n    return PRICES[name]\n")
    history.write("shop/Übersicht.py", "from shop.data import lookup\n\n\ndef übersicht():\n    return lookup('tea')\n")
    history.commit("a file whose name is not ASCII")
    (history.root / "shop/data.py").write_bytes(b"\x00\x01binary now\x00")
    history.commit("text becomes binary")
    history.write("shop/data.py", "def lookup(name):\n    return 1\n\n\ndef lookup(name, other=2):\n    return 2\n")
    history.commit("text again, with a redefinition")
    (history.root / "shop/alias.py").symlink_to("data.py")
    history.commit("a symlink")
    (history.root / "shop/alias.py").unlink()
    history.write("shop/alias.py", "from shop.data import lookup as find\n\nfind(1)\n")
    history.commit("a file in its place")
    history.write("shop/empty.py", "")
    history.commit("an empty file")
    history.commit("nothing at all")


def _rules(history: History) -> None:
    history.write(".gitignore", "build/\n*.log\nshop/pricing/tax.py\n")
    history.git("rm", "--quiet", "--cached", "shop/pricing/tax.py")
    history.commit("a file becomes ignored")
    history.write(".gitignore", "build/\n")
    history.write("shop/pricing/tax.py", "def taxed(name):\n    return 0\n")
    history.commit("and is back")
    history.write(".atlasignore", "tests/\n")
    history.commit("tests are left out")
    history.write("pyproject.toml", '[project]\nname = "store"\nversion = "2"\n')
    history.write("front/package.json", '{"name": "@store/front", "version": "1.0.0"}\n')
    history.commit("sub-projects are named anew")
    (history.root / ".atlasignore").unlink()
    shutil.rmtree(history.root / "shop/pricing")
    history.commit("a package vanishes and tests are back")
