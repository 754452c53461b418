"""No class is said to be made nowhere while a generic method, a container, a decorator or a base class may make it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from atlas.code.atlas import Atlas
from atlas.code.tools.search.search import hybrid_search
from tests.surfaces.test_none_is_proven import opened
from tests.surfaces.test_tools_impact import indexed

FILES = {
    "cs/Di.cs": (
        "namespace D;\npublic class Maker {\n  public T With<T>() where T : new() { return new T(); }\n"
        "  public object Any(System.Type t) => System.Activator.CreateInstance(t);\n}\n"
        "public class CsGeneric { }\npublic class CsTypeof { }\npublic class CsNeeded { }\n"
        "public class CsContained { public CsContained(CsNeeded g) { } }\npublic class CsNever { }\n"
        "public class CsShortAttribute : System.Attribute { }\n"
        "public class Use {\n  [CsShort] public void Go(Maker m) {\n    m.With<CsGeneric>();\n"
        "    m.Any(typeof(CsTypeof));\n  }\n"
        "  public void Register(IServiceCollection s) { s.AddSingleton<CsContained>(); }\n}\n"
    ),
    "cs/Tested.cs": "namespace D;\npublic class CsTested { }\n",
    "tests/MakerTests.cs": (
        "using Xunit;\nnamespace D;\npublic class MakerTests {\n"
        "  [Fact] public void Makes() {\n    new Maker().With<CsTested>();\n  }\n}\n"
    ),
    "py/registry.py": (
        "import functools\nfrom dataclasses import dataclass\n\nKNOWN = []\n\n\ndef register(cls):\n"
        "    KNOWN.append(cls)\n    return cls\n\n\n@register\nclass PyDecorated:\n    pass\n\n\n"
        "@dataclass\nclass PyDescribed:\n    pass\n\n\n"
        "class PyBase:\n    known = []\n\n    def __init_subclass__(cls):\n        PyBase.known.append(cls)\n\n\n"
        "class PyHooked(PyBase):\n    pass\n\n\nclass PyNever:\n    pass\n\n\ndef takes(x: 'PyNoted'):\n    pass\n\n\n"
        "class PyNoted:\n    pass\n"
    ),
    "py/plugins.py": (
        "from pydantic import BaseModel\n\n\nclass PyPlug:\n    pass\n\n\nclass PyMiddle(PyPlug):\n    pass\n\n\n"
        "class PyLeaf(PyMiddle):\n    pass\n\n\nclass PyForeign(BaseModel):\n    pass\n\n\n"
        "class PyError(ValueError):\n    pass\n\n\n"
        "def plugins():\n    return [each() for each in PyPlug.__subclasses__()]\n"
    ),
    "ts/a.ts": (
        "export class TsInjected { }\nexport class TsHolder { constructor(private a: TsInjected) {} }\n"
        "@Injectable()\nexport class TsDecorated { }\nexport class TsNever { }\n"
    ),
    "java/A.java": (
        "package a;\n@Component\nclass JComponent { }\nclass JWired { }\nclass JHolder { @Autowired JWired wired; }\n"
        "class JNever { }\n"
    ),
    "php/a.php": (
        "<?php\nclass PhpWired {}\nclass PhpHolder { function __construct(private PhpWired $g) {} }\nclass PhpNever {}\n"
    ),
    "rb/a.rb": (
        "class RbBase\n  def self.inherited(kind)\n    (@all ||= []) << kind\n  end\nend\n"
        "class RbLeaf < RbBase\nend\nclass RbNever\nend\n"
    ),
    "rs/Cargo.toml": "[package]\nname='rs'\nversion='0.1.0'\n",
    "rs/src/lib.rs": (
        "#[derive(Default)]\npub struct RsGiven { a: u8 }\n#[derive(Default)]\npub struct RsInner { a: u8 }\n"
        "#[derive(Default)]\npub struct RsOuter { b: RsInner }\npub struct RsNever { a: u8 }\n"
        "pub fn go() { let x: RsGiven = Default::default(); make::<RsOuter>(); }\n"
        "fn make<T: Default>() -> T { T::default() }\n"
    ),
    "py/tested.py": (
        "class PyTyped:\n    pass\n\n\ndef f(x: PyTyped):\n    return x\n\n\n"
        "class PyMade:\n    pass\n\n\ndef make():\n    return PyMade()\n\n\ndef g(x: PyMade):\n    return x\n"
    ),
}  # fmt: skip
MADE = (
    ("CsGeneric", "cs/Di.cs:14"), ("CsTypeof", "cs/Di.cs:15"), ("CsContained", "cs/Di.cs:17"),
    ("CsNeeded", "cs/Di.cs:9"), ("CsShortAttribute", "the bases of `CsShortAttribute` are not resolved"), ("PyDecorated", "its `register`"),
    ("PyHooked", "its base `PyBase` may list it (py/registry.py:25)"), ("PyNoted", "py/registry.py:37"),
    ("PyLeaf", "its base `PyPlug` may list it (py/plugins.py:25)"), ("PyForeign", "`BaseModel` is of another package"),
    ("TsInjected", "ts/a.ts:2"), ("TsDecorated", "its `Injectable`"), ("JComponent", "its `Component`"),
    ("JWired", "java/A.java:5"), ("PhpWired", "php/a.php:3"), ("RbLeaf", "its base `RbBase`"),
    ("RsGiven", "rs/src/lib.rs:8"), ("RsInner", "rs/src/lib.rs:6"), ("RsOuter", "rs/src/lib.rs:8"),
)  # fmt: skip
NEVER = ("CsNever", "PyNever", "PyDescribed", "PyError", "TsNever", "JNever", "PhpNever", "RbNever", "RsNever")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made")


@pytest.fixture
async def tree(folder: Path) -> AsyncIterator[Atlas]:
    root = folder / "tree"
    if not root.exists():
        for path, text in FILES.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        await indexed(root, folder / "data")
    async with opened(root, folder / "data") as atlas:
        yield atlas


async def test_a_class_that_others_may_make_is_not_said_to_be_made_nowhere(tree: Atlas) -> None:
    wrong = {}
    for name, reason in MADE:
        text = (await hybrid_search(tree, f"instantiations of {name}")).render()
        if "unknown rather than none" not in text or reason not in text:
            wrong[name] = text
    assert not wrong


async def test_a_class_that_nothing_can_make_is_made_nowhere(tree: Atlas) -> None:
    wrong = {}
    for name in NEVER:
        text = (await hybrid_search(tree, f"instantiations of {name}")).render()
        if ": none\n" not in text or "unknown" in text:
            wrong[name] = text
    assert not wrong


async def test_callers_are_as_careful_and_a_test_that_has_the_type_is_found(tree: Atlas) -> None:
    assert "cs/Di.cs:14" in (await hybrid_search(tree, "callers of CsGeneric")).render()
    typed = (await hybrid_search(tree, "tests for PyTyped")).render()
    assert ": none\n" in typed and "unknown" not in typed, typed
    tested = (await hybrid_search(tree, "tests for CsTested")).render()
    assert "Makes 5" in tested, tested
    found = (await hybrid_search(tree, "instantiations of PyMade")).render()
    assert "make 14" in found and "at least" not in found, found
