"""`atlas/_parser.pyi` says what the compiled module really offers: names, members, parameters, defaults."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from atlas import _parser

STUB = ast.parse((Path(__file__).parents[2] / "atlas" / "_parser.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}


def is_property(node: ast.FunctionDef) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)


def parameters_of_stub(node: ast.FunctionDef) -> list[tuple[str, str, object]]:
    """(name, kind, default) of each parameter but self."""
    arguments = node.args
    required = len(arguments.args) - len(arguments.defaults)
    found: list[tuple[str, str, object]] = []
    for position, argument in enumerate(arguments.args):
        default = ast.literal_eval(arguments.defaults[position - required]) if position >= required else None
        found.append((argument.arg, "either", (default,) if position >= required else None))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append((argument.arg, "keyword", None if default is None else (ast.literal_eval(default),)))
    return [one for one in found if one[0] != "self"]


def parameters_of_module(function: object) -> list[tuple[str, str, object]]:
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD: "either", inspect.Parameter.KEYWORD_ONLY: "keyword"}
    return [
        (one.name, kinds.get(one.kind, str(one.kind)), None if one.default is one.empty else (one.default,))
        for one in inspect.signature(function).parameters.values()  # type: ignore[arg-type]
        if one.name != "self"
    ]


def same(stub: list[tuple[str, str, object]], module: list[tuple[str, str, object]]) -> bool:
    def plain(found: list[tuple[str, str, object]]) -> list[tuple[str, str, object]]:
        # an immutable sequence as default may be a tuple in the stub and a list in Rust
        return [
            (name, kind, (list(default[0]),) if default and isinstance(default[0], tuple | list) else default)  # type: ignore[index]
            for name, kind, default in found
        ]

    return plain(stub) == plain(module)


def public(names: object) -> set[str]:
    return {name for name in names if not name.startswith("_")}  # type: ignore[attr-defined]


def test_same_names() -> None:
    assigned = [target for node in STUB.body if isinstance(node, ast.Assign) for target in node.targets]
    assigned += [node.target for node in STUB.body if isinstance(node, ast.AnnAssign)]
    constants = {target.id for target in assigned if isinstance(target, ast.Name) and target.id.isupper()}
    assert public(dir(_parser)) == {*CLASSES, *FUNCTIONS, *constants}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name: str) -> None:
    assert same(parameters_of_stub(FUNCTIONS[name]), parameters_of_module(getattr(_parser, name)))


@pytest.mark.parametrize("name", CLASSES)
def test_class(name: str) -> None:
    compiled = getattr(_parser, name)
    members = {node.name: node for node in CLASSES[name].body if isinstance(node, ast.FunctionDef)}
    assert public(vars(compiled)) == public(members)
    for member, node in members.items():
        actual = inspect.getattr_static(compiled, member)
        if is_property(node):
            assert inspect.isgetsetdescriptor(actual), f"{name}.{member} is not a property"
        elif member == "__init__":
            assert same(parameters_of_stub(node), parameters_of_module(compiled)), f"{name}.__init__"
        elif not member.startswith("__"):
            assert same(parameters_of_stub(node), parameters_of_module(getattr(compiled, member))), f"{name}.{member}"
        else:
            assert member in vars(compiled), f"{name}.{member} is missing"
