"""Small projects in several languages, alike in shape: four parts that use one another, with tests and an entry."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

PARTS = ("catalog", "cart", "billing", "orders")
"""Each but the first one uses the one before it."""
THINGS = ("price", "item", "store", "rules")


@dataclass(frozen=True)
class Tree:
    """The files of a project, and names in it that a person would look for."""

    files: dict[str, str]
    symbol: str
    """Called from several places."""
    caller: str
    folder: str
    start: str
    """Leads to the symbol by calls."""


def typescript() -> Tree:
    files = {"package.json": '{"name": "shop", "private": true, "workspaces": ["packages/*"]}\n', "README.md": README}
    for before, part in zip(("", *PARTS), PARTS, strict=False):
        base, title = f"packages/{part}", part.capitalize()
        files[f"{base}/package.json"] = f'{{"name": "@shop/{part}", "version": "1.0.0"}}\n'
        for thing in THINGS:
            use = (
                f"import {{ {thing}Of{before.capitalize()} }} from '../../{before}/src/{thing}';\n\n" if before else ""
            )
            inner = f"{thing}Of{before.capitalize()}(amount) + 1" if before else "rounded(amount)"
            own = "" if before else "import { rounded } from './round';\n\n"
            files[f"{base}/src/{thing}.ts"] = (
                f"{use}{own}/** The {thing} of the {part}. */\nexport function {thing}Of{title}(amount: number): number {{\n"
                f"  if (amount > 0) {{\n    return {inner};\n  }}\n  return 0;\n}}\n"
            )
        files[f"{base}/src/index.ts"] = "".join(f"export {{ {one}Of{title} }} from './{one}';\n" for one in THINGS)
    files["packages/catalog/src/round.ts"] = (
        "/** Rounds an amount to whole cents. */\nexport function rounded(amount: number): number {\n  return Math.round(amount);\n}\n"
    )
    files["packages/orders/src/main.ts"] = (
        "import { priceOfOrders } from './price';\nimport { itemOfOrders } from './item';\n\n"
        "/** Answers a request for an order. */\nexport function main(amount: number): number {\n"
        "  return priceOfOrders(amount) + itemOfOrders(amount);\n}\n"
    )
    files["packages/catalog/test/round.test.ts"] = (
        "import { rounded } from '../src/round';\n\ntest('rounds', () => {\n  expect(rounded(1.2)).toBe(1);\n});\n"
    )
    return Tree(files, "rounded", "priceOfCatalog", "packages", "main")


def go() -> Tree:
    files = {"go.mod": "module example.org/shop\n\ngo 1.22\n", "README.md": README}
    for before, part in zip(("", *PARTS), PARTS, strict=False):
        for thing in THINGS:
            name, use = thing.capitalize(), f'import "example.org/shop/{before}"\n\n' if before else ""
            inner = f"{before}.{name}(amount) + 1" if before else "Rounded(amount)"
            files[f"{part}/{thing}.go"] = (
                f"package {part}\n\n{use}// {name} is the {thing} of the {part}.\nfunc {name}(amount float64) float64 {{\n"
                f"\tif amount > 0 {{\n\t\treturn {inner}\n\t}}\n\treturn 0\n}}\n"
            )
    files["catalog/round.go"] = (
        'package catalog\n\nimport "math"\n\n// Rounded rounds an amount to whole cents.\n'
        "func Rounded(amount float64) float64 {\n\treturn math.Round(amount)\n}\n"
    )
    files["catalog/round_test.go"] = (
        'package catalog\n\nimport "testing"\n\nfunc TestRounded(t *testing.T) {\n\tif Rounded(1.2) != 1 {\n\t\tt.Fail()\n\t}\n}\n'
    )
    files["cmd/shop/main.go"] = (
        'package main\n\nimport "example.org/shop/orders"\n\nfunc main() {\n\tprintln(orders.Price(3) + orders.Item(4))\n}\n'
    )
    return Tree(files, "catalog.Rounded", "Price", ".", "main")


def c() -> Tree:
    files = {"Makefile": "shop:\n\tcc -o shop src/*.c\n", "README.md": README}
    for before, part in zip(("", *PARTS), PARTS, strict=False):
        names = [f"{part}_{thing}" for thing in THINGS]
        declared = "".join(f"double {name}(double amount);\n" for name in names)
        guard = f"SHOP_{part.upper()}_H"
        files[f"src/{part}/{part}.h"] = f"#ifndef {guard}\n#define {guard}\n\n{declared}\n#endif\n"
        for thing in THINGS:
            inner = f"{before}_{thing}(amount) + 1" if before else "rounded(amount)"
            include = f"../{before}/{before}.h" if before else "round.h"
            files[f"src/{part}/{thing}.c"] = (
                f'#include "{part}.h"\n#include "{include}"\n\n/* The {thing} of the {part}. */\n'
                f"double {part}_{thing}(double amount) {{\n  if (amount > 0) {{\n    return {inner};\n  }}\n  return 0;\n}}\n"
            )
    files["src/catalog/round.h"] = (
        "#ifndef SHOP_ROUND_H\n#define SHOP_ROUND_H\n\ndouble rounded(double amount);\n\n#endif\n"
    )
    files["src/catalog/round.c"] = (
        '#include "round.h"\n\n/* Rounds an amount to whole cents. */\ndouble rounded(double amount) {\n  return (long)(amount + 0.5);\n}\n'
    )
    files["src/main.c"] = (
        '#include "orders/orders.h"\n\nint main(void) {\n  return (int)(orders_price(3) + orders_item(4));\n}\n'
    )
    return Tree(files, "rounded", "catalog_price", "src", "main")


README = "# Shop\n\nSells things: a catalog, carts, bills and orders, each in a part of its own.\n"
TREES = {"typescript": typescript, "go": go, "c": c}


def write_tree(root: Path, tree: Tree) -> None:
    """Write the files, with a history of two authors."""
    git = ["git", "-c", "user.email=a@example.org"]
    for path, text in tree.files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True, capture_output=True)
    for author, paths in (("Ada", sorted(tree.files)[::2]), ("Grace", sorted(tree.files))):
        subprocess.run(["git", "add", *paths], cwd=root, check=True, capture_output=True)
        commit = [*git, "-c", f"user.name={author}", "commit", "-q", "-m", f"Work of {author}"]
        subprocess.run(commit, cwd=root, check=True, capture_output=True)
