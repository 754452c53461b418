"""Files of a clone that cost most for their size: `cases(size)` gives them by name, each as files of about `size` bytes.

They aim at what readers do badly: deep nesting, long chains, one name defined or imported often, unterminated texts,
and repetitions that make a pattern try every start. `python -m tests.bench.worst_inputs` measures them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.fuzz.worst_pdfs import PDFS


@dataclass(frozen=True)
class Case:
    """One tree: `files` by path. `pack` is built as documentation, everything else is indexed."""

    name: str
    files: dict[str, bytes]
    pack: bool = False


EXTENSIONS = (
    *("sh", "c", "cpp", "cs", "ex", "go", "java", "js", "kt", "lua", "php", "py", "rb", "rs", "scala", "swift"),
    *("tsx", "ts"),
)
OPENED = {"php": "<?php\n"}
"""What stands at the start of a file of a language."""

TOKENS = {
    "parens": "(",
    "brackets": "[",
    "braces": "{",
    "angles": "a<",
    "calls": "a(",
    "closures": "f(x=>{",
    "members": "a.",
    "assignments": "a=",
    "sums": "'a'+",
    "not": "!",
    "minus": "- ",
    "if-else": "if a {} else ",
    "ternaries": "a?b:",
    "quotes": '"',
    "templates": "`${",
    "comments": "/*",
    "hashes": "#",
    "at": "@a ",
    "backslashes": "\\\n",
    "heredocs": "<<A\n",
    "colons": "::a",
    "commas": "a,",
    "strings": '"a" ',
    "one-name": "a",
    "spaces": " ",
    "lines": "\n",
    "semicolons": ";",
    "unicode": "é",
}

FUNCTIONS = {
    "sh": "f() { f; }\n",
    "c": "int f(int a) { return f(a); }\n",
    "cpp": "struct A { int f(int a) { return f(a); } };\n",
    "cs": "class A { int F(int a) { return F(a); } }\n",
    "ex": "def f(a), do: f(a)\n",
    "go": "func f(a int) int { return f(a) }\n",
    "java": "class A { int f(int a) { return f(a); } }\n",
    "js": "function f(a) { return f(a) }\n",
    "kt": "fun f(a: Int): Int = f(a)\n",
    "lua": "function f(a) return f(a) end\n",
    "php": "function f($a) { return f($a); }\n",
    "py": "def f(a): return f(a)\n",
    "rb": "def f(a) f(a) end\n",
    "rs": "fn f(a: i32) -> i32 { f(a) }\n",
    "scala": "def f(a: Int): Int = f(a)\n",
    "swift": "func f(a: Int) -> Int { return f(a: a) }\n",
    "tsx": "function f(a: number): number { return f(a) }\n",
    "ts": "function f(a: number): number { return f(a) }\n",
}
NUMBERED = {
    "c": "struct S{0} {{ struct S{1} *next; }}; int f{0}(void) {{ return f{1}(); }}\n",
    "cpp": "class A{0} : public A{1} {{ void m() {{ m(); }} }};\n",
    "cs": "class A{0} : A{1} {{ void M() {{ M(); }} }}\n",
    "go": "type A{0} struct {{ A{1} }}\nfunc (a A{0}) m() {{ a.m() }}\n",
    "java": "class A{0} extends A{1} {{ void m() {{ m(); }} }}\n",
    "js": "class A{0} extends A{1} {{ m() {{ this.m() }} }}\n",
    "kt": "open class A{0} : A{1}() {{ fun m() {{ m() }} }}\n",
    "php": "class A{0} extends A{1} {{ function m() {{ $this->m(); }} }}\n",
    "py": "class A{0}(A{1}):\n    def m(self): self.m()\n",
    "rb": "class A{0} < A{1}\n def m() m() end\nend\n",
    "rs": "struct A{0}; impl T{1} for A{0} {{ fn m(&self) {{ self.m() }} }} trait T{0}: T{1} {{}}\n",
    "scala": "class A{0} extends A{1} {{ def m(): Unit = m() }}\n",
    "swift": "class A{0}: A{1} {{ func m() {{ m() }} }}\n",
    "ts": "class A{0} extends A{1} {{ m() {{ this.m() }} }}\n",
}
"""Classes that inherit from each other in a chain."""

Make = Callable[[int], dict[str, bytes]]


def cases(size: int) -> Iterator[Case]:
    """Yield every case, with files of about `size` bytes."""
    for extension in EXTENSIONS:
        opened = OPENED.get(extension, "")
        for name, token in TOKENS.items():
            yield Case(f"{extension} {name}", {f"a.{extension}": (opened + filled(token, size)).encode()})
        yield Case(f"{extension} same name", {f"a.{extension}": (opened + filled(FUNCTIONS[extension], size)).encode()})
        if extension in NUMBERED:
            yield Case(f"{extension} chain", {f"a.{extension}": (opened + counted(NUMBERED[extension], size)).encode()})
    for name, make in TREES.items():
        yield Case(name, make(size))
    for name, make in DOCUMENTS.items():
        files = make(size)
        yield Case(f"index {name}", files)
        yield Case(f"pack {name}", files, pack=True)
    for name, make_pdf in PDFS.items():
        yield Case(f"pack {name}", {"docs/a.pdf": make_pdf(size)}, pack=True)


def filled(token: str, size: int) -> str:
    return token * (size // len(token.encode()))


def counted(form: str, size: int) -> str:
    """Repeat `form` with {0} as its number and {1} as the one before."""
    lines: list[str] = []
    length = number = 0
    while length < size:
        lines.append(form.format(number + 1, number))
        length += len(lines[-1])
        number += 1
    return "".join(lines)[:size]


def nested(before: str, middle: str, after: str, size: int) -> str:
    depth = size // (len(before) + len(after))
    return before * depth + middle + after * depth


def _file(path: str, make: Callable[[int], str]) -> Make:
    return lambda size: {path: make(size).encode()}


def _repeated(path: str, token: str, before: str = "", after: str = "") -> Make:
    return lambda size: {path: (before + filled(token, size) + after).encode()}


def _numbered(path: str, form: str, before: str = "", after: str = "") -> Make:
    return lambda size: {path: (before + counted(form, size) + after).encode()}


def _diamond(size: int) -> dict[str, bytes]:
    pairs = (
        f"class A{number}(A{number - 1}, B{number - 1}): pass\nclass B{number}(B{number - 1}, A{number - 1}): pass\n"
        for number in range(1, size // 60)
    )
    return {"a.py": ("class A0: pass\nclass B0: pass\n" + "".join(pairs))[:size].encode()}


def _levels(path: str, form: str, end: str, head: str = "") -> Make:
    """Make levels, each of which inherits from all of the next one: form of a level, and its number and the next."""

    def make(size: int) -> dict[str, bytes]:
        count = min(9_900, size // (len(form) + 16))  # a file of more than 20,000 definitions is skipped
        return {path: (head + "".join(form.format(n, n + 1) for n in range(count)) + end.format(count)).encode()}

    return make


def _wide(size: int) -> dict[str, bytes]:
    bases = ", ".join(f"B{number}" for number in range(size // 40))
    return {"a.py": f"class A({bases}): pass\n".encode() + counted("class B{0}(A): pass\n", size // 2).encode()}


def _stars(size: int) -> dict[str, bytes]:
    """Modules that import everything from each other."""
    count = 300
    every = "".join(f"from m{number} import *\n" for number in range(count))
    return {f"m{number}.py": (every + f"def f{number}(): g()\n").encode() for number in range(count)} | {
        "g.py": b"def g(): f0()\n" * (size // 100)
    }


def _reexports(size: int) -> dict[str, bytes]:
    files = {f"m{number}.ts": f"export * from './m{number + 1}'\n".encode() for number in range(500)}
    return files | {"m500.ts": b"export * from './m0'\n" + counted("export const a{0} = 1\n", size // 2).encode()}


def _extends(size: int) -> dict[str, bytes]:
    files = {
        f"tsconfig.{number}.json": json.dumps({"extends": f"./tsconfig.{(number + 1) % 500}.json"}).encode()
        for number in range(500)
    }
    paths = {f"@a{number}/*": [f"src{number}/*"] for number in range(size // 40)}
    return files | {
        "tsconfig.json": json.dumps({"extends": "./tsconfig.1.json", "compilerOptions": {"paths": paths}}).encode(),
        "a.ts": counted("import {{a}} from '@a{0}/x'\n", size // 2).encode(),
    }


def _git(path: str, make: Callable[[int], str]) -> Make:
    return lambda size: {
        ".git/HEAD": b"ref: refs/heads/main\n",
        ".git/config": b"[core]\n",
        "a.py": b"def f(): pass\n",
        ".git/objects/x": b"",
        ".git/refs/x": b"",
        path: make(size).encode("latin-1"),
    }


def _with_code(path: str, make: Callable[[int], str]) -> Make:
    return lambda size: {"src/a.py": b"def f(): pass\n", path: make(size).encode()}


MANIFESTS = {
    "package.json deep": ("package.json", lambda size: nested('{"a":', "1", "}", size)),
    "package.json keys": ("package.json", lambda size: '{"name":"a","dependencies":{' + counted('"p{0}":"^{0}.0",', size) + '"z":"1"}}'),
    "package.json brackets": ("package.json", lambda size: "[" * size),
    "package.json versions": ("package.json", lambda size: '{"dependencies":{"a":"' + filled("||>=1 ", size) + '"}}'),
    "package-lock deep": ("package-lock.json", lambda size: nested('{"dependencies":{"a":', "{}", "}}", size)),
    "package-lock keys": ("package-lock.json", lambda size: '{"lockfileVersion":3,"packages":{' + counted('"node_modules/p{0}":{{"version":"1.0.{1}"}},', size) + '"":{}}}'),
    "pom entities": ("pom.xml", lambda size: '<!DOCTYPE a [<!ENTITY a0 "' + "a" * 1000 + '">' + counted('<!ENTITY a{0} "&a{1};&a{1};&a{1};&a{1};">', size) + "]><project>&a900;</project>"),
    "pom deep": ("pom.xml", lambda size: nested("<a>", "", "</a>", size)),
    "pom properties": ("pom.xml", lambda size: "<project><properties>" + counted("<p{0}>${{p{1}}}${{p{1}}}</p{0}>", size) + "</properties><dependencies><dependency><groupId>${p9000}</groupId><artifactId>${p9000}</artifactId><version>${p9000}</version></dependency></dependencies></project>"),
    "pom dependencies": ("pom.xml", lambda size: "<project><dependencies>" + counted("<dependency><groupId>g</groupId><artifactId>a{0}</artifactId><version>{1}</version></dependency>", size) + "</dependencies></project>"),
    "pom attributes": ("pom.xml", lambda size: "<project " + counted('a{0}="" ', size) + "/>"),
    "pom same attributes": ("pom.xml", lambda size: "<project " + filled('a="" ', size) + "/>"),
    "pom open": ("pom.xml", lambda size: filled("<!--", size)),
    "pom cdata": ("pom.xml", lambda size: filled("<![CDATA[", size)),
    "go.mod": ("go.mod", lambda size: "module a\nrequire (\n" + counted("\texample.com/p{0} v1.0.{1}\n", size) + ")\n"),
    "go.mod replaces": ("go.mod", lambda size: "module a\n" + counted("replace a/b{0} => a/b{1} v1.0.0\n", size)),
    "go.sum": ("go.sum", lambda size: counted("example.com/p{0} v1.0.{1} h1:abc=\n", size)),
    "Cargo.toml keys": ("Cargo.toml", lambda size: "[package]\nname='a'\n[dependencies]\n" + counted("p{0}='{1}'\n", size)),
    "Cargo.toml dotted": ("Cargo.toml", lambda size: filled("a.", size) + "a=1\n"),
    "Cargo.toml tables": ("Cargo.toml", lambda size: counted("[a.b{0}.c.d.e.f.g.h]\n", size)),
    "Cargo.toml arrays": ("Cargo.toml", lambda size: "a=" + "[" * size),
    "Cargo.toml arrays of tables": ("Cargo.toml", lambda size: filled("[[a]]\n", size)),
    "Cargo.toml header": ("Cargo.toml", lambda size: "[" + filled("a.", size) + "a]\n"),
    "Cargo.lock": ("Cargo.lock", lambda size: "version = 3\n" + counted('[[package]]\nname = "p{0}"\nversion = "1.0.{1}"\ndependencies = ["p{1}"]\n', size)),
    "requirements": ("requirements.txt", lambda size: counted("p{0}=={1}.0\n", size)),
    "requirements specifiers": ("requirements.txt", lambda size: "a" + filled(">=1,", size)),
    "requirements extras": ("requirements.txt", lambda size: "a[" + filled("a,", size)),
    "requirements markers": ("requirements.txt", lambda size: "a; " + filled("(", size)),
    "requirements continued": ("requirements.txt", lambda size: filled("a\\\n", size)),
    "requirements included": ("requirements.txt", lambda size: filled("-r requirements.txt\n", size)),
    "pyproject dependencies": ("pyproject.toml", lambda size: "[project]\nname='a'\ndependencies=[" + counted("'p{0}>={1}',", size) + "]\n"),
    "pyproject one dependency": ("pyproject.toml", lambda size: "[project]\nname='a'\ndependencies=['a" + " " * size + "']\n"),
    "poetry.lock": ("poetry.lock", lambda size: counted('[[package]]\nname = "p{0}"\nversion = "1.{1}"\n', size)),
    "setup.cfg": ("setup.cfg", lambda size: "[metadata]\nname=a\n[options]\ninstall_requires=\n" + counted("  p{0}>={1}\n", size)),
    "setup.cfg spaces": ("setup.cfg", lambda size: "[metadata]\n" + " " * size),
    "setup.py": ("setup.py", lambda size: "setup(name='a', install_requires=[" + counted("'p{0}',", size) + "])"),
    "setup.py calls": ("setup.py", lambda size: filled("setup(", size)),
    "csproj": ("a.csproj", lambda size: "<Project><ItemGroup>" + counted('<PackageReference Include="P{0}" Version="{1}"/>', size) + "</ItemGroup></Project>"),
    "composer.json": ("composer.json", lambda size: '{"name":"a/a","require":{' + counted('"a/p{0}":"^{0}",', size) + '"z/z":"1"}}'),
    "composer.lock": ("composer.lock", lambda size: '{"packages":[' + counted('{{"name":"a/p{0}","version":"{1}"}},', size) + "{}]}"),
    "gemspec": ("a.gemspec", lambda size: "Gem::Specification.new do |s|\n" + counted("  s.add_dependency 'p{0}', '{1}'\n", size) + "end\n"),
    "Gemfile": ("Gemfile", lambda size: counted("gem 'p{0}', '~> {1}'\n", size)),
    "Gemfile.lock": ("Gemfile.lock", lambda size: "GEM\n  specs:\n" + counted("    p{0} (1.0)\n      p{1}\n", size)),
    "mix.exs": ("mix.exs", lambda size: "defp deps do [" + counted('{{:p{0}, "{1}"}},', size) + "] end"),
    "build.gradle": ("build.gradle", lambda size: "dependencies {\n" + counted("  implementation 'g:a{0}:{1}'\n", size) + "}\n"),
    "build.gradle braces": ("build.gradle", lambda size: filled("dependencies {", size)),
    "Pipfile": ("Pipfile", lambda size: "[packages]\n" + counted("p{0}='*'\n", size)),
    "yarn.lock": ("yarn.lock", lambda size: counted('p{0}@^1:\n  version "1.{1}"\n', size)),
    "pnpm-lock": ("pnpm-lock.yaml", lambda size: "packages:\n" + counted("  p{0}@1.{1}:\n    resolution: {{}}\n", size)),
    "yaml aliases": ("pnpm-lock.yaml", lambda size: "a0: &a0 [x,x,x]\n" + counted("a{0}: &a{0} [*a{1},*a{1},*a{1},*a{1}]\n", size)),
    "yaml deep": ("pnpm-lock.yaml", lambda size: "[" * size),
}  # fmt: skip

IGNORES = {
    "gitignore patterns": (".gitignore", lambda size: counted("/x{0}\n", size)),
    "gitignore stars": (".gitignore", lambda size: "*a" * 100 + "\n" + filled("**/*a*b*c*d\n", size)),
    "gitignore long": (".gitignore", lambda size: filled("*a", size) + "\n"),
    "gitignore braces": (".gitignore", lambda size: "{a,b}" * (size // 5) + "\n"),
    "gitignore classes": (".gitignore", lambda size: filled("[a-z]", size) + "\n"),
    "gitignore open class": (".gitignore", lambda size: filled("[", size) + "\n"),
    "gitignore negations": (".gitignore", lambda size: counted("!/x{0}\n", size)),
    "atlasignore patterns": (".atlasignore", lambda size: counted("x{0}/**\n", size)),
    "gitattributes": (".gitattributes", lambda size: counted("x{0} linguist-generated\n", size)),
    "atlas.toml key": ("atlas.toml", lambda size: "a" * 65_000),
    "atlas.toml spaces": ("atlas.toml", lambda size: " " * 65_000 + "="),
    "atlas.toml brackets": ("atlas.toml", lambda size: "[" * 65_000),
    "atlas.toml header": ("atlas.toml", lambda size: "[" + " " * 65_000),
    "atlas.toml quotes": ("atlas.toml", lambda size: '"' * 65_000),
    "atlas.toml dots": ("atlas.toml", lambda size: "a . " * 16_000),
    "atlas.toml quoted keys": ("atlas.toml", lambda size: "'a'" * 21_000),
    "atlas.toml unknown": ("atlas.toml", lambda size: "[search]\n" + counted("limti{0} = 1\n", 60_000)),
    "atlas.toml tables": ("atlas.toml", lambda size: counted("[a{0}]\n", 60_000)),
    "atlas.toml inline": ("atlas.toml", lambda size: "a=" + "{a=" * 20_000),
    "atlas.toml integer": ("atlas.toml", lambda size: "[search]\nlimit = " + "9" * 65_000),
    "atlas.toml excludes": ("atlas.toml", lambda size: "[scope]\nexclude = [" + counted("'**/*a*b{0}*',", 60_000) + "]\n"),
    "atlas.toml one exclude": ("atlas.toml", lambda size: "[scope]\nexclude = ['" + "*a" * 30_000 + "']\n"),
    "atlas.toml braces": ("atlas.toml", lambda size: "[scope]\nexclude = ['" + "{a,b}" * 12_000 + "']\n"),
    "atlas.toml too large": ("atlas.toml", lambda size: "a" * size),
}  # fmt: skip

GIT = {
    "git packed-refs": (".git/packed-refs", lambda size: "# pack-refs with: peeled\n" + counted("0123456789012345678901234567890123456789 refs/heads/b{0}\n", size)),
    "git config": (".git/config", lambda size: counted('[branch "b{0}"]\n remote = origin\n', size)),
    "git config one line": (".git/config", lambda size: "[" * size),
    "git config continued": (".git/config", lambda size: "[a]\n b = " + filled("\\\n", size)),
    "git includes": (".git/config", lambda size: filled("[include]\n path = config\n", size)),
    "git index": (".git/index", lambda size: "DIRC\0\0\0\2\0\1\0\0" + "\0" * size),
    "git HEAD": (".git/HEAD", lambda size: "ref: " + "a/" * (size // 2)),
    "git exclude": (".git/info/exclude", lambda size: counted("x{0}\n", size)),
}  # fmt: skip

TREES: dict[str, Make] = {
    **{name: _with_code(*given) for name, given in {**MANIFESTS, **IGNORES}.items()},
    **{name: _git(*given) for name, given in GIT.items()},
    "py diamond": _diamond,
    "py wide": _wide,
    "py import stars": _stars,
    "ts re-exports": _reexports,
    "ts extends": _extends,
    "py imports": _numbered("a.py", "from m import a{0}\n", after="def f(): a1()\n"),
    "py import aliases": _numbered("a.py", "import m as a{0}\n"),
    "py decorators": _repeated("a.py", "@a\n", after="def f(): pass\n"),
    "py many decorated": _numbered("a.py", "@app.route('/a{0}')\ndef f{0}(): return f{1}()\n"),
    "py overloads": _repeated("a.py", "@overload\ndef f(a: int): ...\n", before="from typing import overload\n"),
    "py long name": _file("a.py", lambda size: f"def {'a' * size}(): pass\n"),
    "py long parameter list": _numbered("a.py", "a{0}=1,", before="def f(", after="): pass\n"),
    "py long call": _numbered("a.py", "a{0}(),", before="f(", after=")\n"),
    "py docstring": _file("a.py", lambda size: f'def f():\n    """{"a`b` " * (size // 5)}"""\n'),
    "py nested functions": _file("a.py", lambda size: "".join(f"{' ' * number}def f{number}():\n" for number in range(1400))[:size]),
    "py nested classes": _file("a.py", lambda size: "".join(f"{' ' * number}class A{number}(A{number - 1}):\n" for number in range(1400))[:size]),
    "py rebinding": _numbered("a.py", "a = f{0}(a)\n", before="def g(a):\n  pass\n"),
    "py one variable": _repeated("a.py", "    a = a.b()\n", before="def g(a):\n"),
    "py alias chain": _numbered("a.py", "a{0} = a{1}\n", after="def f(): a9000()\n"),
    "py return chain": _numbered("a.py", "def f{0}(): return f{1}().x\n"),
    "py one caller": _numbered("a.py", "    f{0}()\n", before="def g():\n"),
    "py __all__": _numbered("a.py", "'a{0}',", before="__all__ = [", after="]\n"),
    "py methods of one": _numbered("a.py", "    def m{0}(self): self.m{1}().m{0}()\n", before="class A:\n"),
    "py isinstance": _repeated("a.py", "    if isinstance(a, B): a.b()\n", before="def g(a):\n"),
    "py union types": _numbered("a.py", "A{0} | ", before="def f(a: ", after="int): a.b()\n"),
    "py type strings": _repeated("a.py", "List['", before="def f(a: '", after="'): pass\n"),
    "py f-strings": _repeated("a.py", "f'{", before="a = "),
    "py secrets": _numbered("a.py", "password{0} = 'hunter2xK9{1}vQ8zL'\n"),
    "py almost secrets": _repeated("a.py", "password=", before="a = '"),
    "py base64": _repeated("a.py", "QUJDRA", before="api_key = '"),
    "py urls": _repeated("a.py", "http://a:", before="a = '"),
    "py private key": _repeated("a.py", "-----BEGIN PRIVATE KEY-----\n"),
    "js minified": _numbered("a.js", "function f{0}(a){{return f{1}(a)}}"),
    "js jsdoc": _repeated("a.js", "/** @param {a|b} c */\n", after="function f(c) {}\n"),
    "js one jsdoc": _repeated("a.js", " * @typedef {Object} A\n", before="/**\n", after="*/\nfunction f(c) {}\n"),
    "js require": _numbered("a.js", "const a{0} = require('./a{1}')\n"),
    "js promise chain": _repeated("a.js", ".then(a => b(a))", before="f()"),
    "js builder": _repeated("a.js", ".get('/a', f)", before="app"),
    "js express routes": _numbered("a.js", "app.get('/a{0}', f{1})\n", before="const app = require('express')()\n"),
    "js mounts": _numbered("a.js", "const r{0} = express.Router(); r{0}.use('/a', r{1}); r{0}.get('/x', f)\n", before="const express = require('express')\n"),
    "js objects": _repeated("a.js", "{a:", before="x = "),
    "jsx elements": _repeated("a.jsx", "<a>", before="x = "),
    "jsx attributes": _numbered("a.jsx", "a{0}={{b}} ", before="x = <a ", after="/>"),
    "c defines": _numbered("a.c", "#define A{0} A{1} A{1}\n"),
    "c ifdefs": _repeated("a.c", "#ifdef A\nint a(\n#else\n"),
    "c macros": _numbered("a.c", "M{0}(a)\n"),
    "c includes": _numbered("a.c", '#include "a{0}.h"\n'),
    "c pointers": _repeated("a.c", "*", before="int "),
    "c declarators": _repeated("a.c", "(*a)", before="int "),
    "cpp many templates": _repeated("a.cpp", "template<class T> "),
    "cpp namespaces": _repeated("a.cpp", "namespace a {"),
    "cpp overloads": _numbered("a.cpp", "void f(A{0} a) {{ f(a); }}\n"),
    "java overloads": _numbered("A.java", "void f(A{0} a) {{ f(a); }}\n", before="class A {\n", after="}"),
    "java annotations": _repeated("A.java", '@A(value="x")\n', after="class A {}"),
    "java imports": _numbered("A.java", "import a.b{0}.*;\n", after="class A { B b; }"),
    "java inner": _numbered("A.java", "class A{0} {{ "),
    "java generics": _repeated("A.java", "List<", before="class A { "),
    "kt annotations": _repeated("a.kt", "@A ", after="fun f() {}"),
    "kt labels": _repeated("a.kt", "a@ ", after="fun f() {}"),
    "kt string": _repeated("a.kt", '"${', before="val a = "),
    "rs uses": _numbered("a.rs", "use a::b{0}::{{c, d}};\n"),
    "rs nested use": _repeated("a.rs", "a::{", before="use "),
    "rs macros": _repeated("a.rs", "a!{", after="}"),
    "rs macro rules": _numbered("a.rs", "macro_rules! m{0} {{ ($a:expr) => {{ m{1}!($a) }}; }}\n"),
    "rs raw string": _repeated("a.rs", "r#", before="let a = "),
    "rs attributes": _repeated("a.rs", "#[a]\n", after="fn f() {}"),
    "rs generics": _repeated("a.rs", "Vec<", before="fn f(a: "),
    "go embedded": _numbered("a.go", " A{0}\n", before="package a\ntype B struct {\n", after="}\nfunc (b B) m() { b.x() }\n"),
    "go routes": _numbered("a.go", 'r.Get("/a{0}", f{1})\n', before="package a\nfunc f(r chi.Router) {\n", after="}\n"),
    "go composite": _repeated("a.go", "[]A{", before="package a\nvar x = "),
    "rb many heredocs": _numbered("a.rb", "a <<A{0}\n"),
    "rb blocks": _repeated("a.rb", "a do "),
    "rb routes": _repeated("config/routes.rb", "scope 'a' do\n", before="Rails.application.routes.draw do\n"),
    "rb many routes": _numbered("config/routes.rb", "resources :a{0}\n", before="Rails.application.routes.draw do\n", after="end\n"),
    "rb includes": _numbered("a.rb", "include A{0}\n", before="class B\n", after="def m() x end\nend\n"),
    "rb percent": _repeated("a.rb", "%w("),
    "php many strings": _repeated("a.php", '"{$a', before="<?php "),
    "php heredoc": _repeated("a.php", "<<<A\n", before="<?php "),
    "php html": _repeated("a.php", "<?php ?>"),
    "php traits": _numbered("a.php", "use A{0};\n", before="<?php class B {\n", after="function m() { $this->x(); } }"),
    "sh many heredocs": _numbered("a.sh", "cat <<A{0}\n"),
    "sh substitutions": _repeated("a.sh", "$("),
    "sh cases": _repeated("a.sh", "case a in a) "),
    "ex pipes": _repeated("a.ex", "|> a() ", before="a "),
    "ex many heredocs": _repeated("a.ex", '"""\n'),
    "ex sigils": _repeated("a.ex", "~s("),
    "lua long strings": _repeated("a.lua", "[=["),
    "lua tables": _repeated("a.lua", "{a=", before="x="),
    "swift many strings": _repeated("a.swift", '"\\(', before="let a = "),
    "swift raw": _repeated("a.swift", "#", before="let a = "),
    "scala many strings": _repeated("a.scala", 's"${', before="val a = "),
    "scala implicits": _numbered("a.scala", "(implicit a{0}: A{1})", before="def f"),
    "cs attributes": _repeated("a.cs", "[A]", after="class A {}"),
    "cs interpolated": _repeated("a.cs", '$"{', before="var a = "),
    "py levels": _levels("a.py", "class A{0}(A{1}, B{1}): pass\nclass B{0}(A{1}): pass\n", "class A{0}: pass\n"),
    "ts levels": _levels(
        "a.ts", "interface A{0} extends A{1}, B{1} {{}}\ninterface B{0} extends A{1}, B{1} {{}}\n", "interface A{0} {{}}\n"
    ),
    "go levels": _levels(
        "a.go", "type A{0} struct {{A{1};B{1}}}\ntype B{0} struct {{*A{1};*B{1}}}\n", "type A{0} struct {{}}\n", "package a\n"
    ),
    "go interface levels": _levels(
        "a.go", "type A{0} interface {{A{1};B{1}}}\ntype B{0} interface {{A{1};B{1}}}\n", "type A{0} interface {{M()}}\n", "package a\n"
    ),
    "cs usings": _numbered("a.cs", "using A{0};\n", after="class B { C c; }"),
    "cs partial": _repeated("a.cs", "partial class A : B { void M() {} }\n"),
    "cs preprocessor": _repeated("a.cs", "#if A\n"),
    "cs extension methods": _numbered("a.cs", "static class A{0} {{ static void M(this B b) {{ b.M(); }} }}\n"),
    "sql": _numbered("a.sql", "CREATE TABLE a{0} (b{1} INT);\n"),
    "sql parens": _repeated("a.sql", "("),
    "sql one statement": _repeated("a.sql", "SELECT ", before="CREATE TABLE a AS "),
    "yaml keys": _numbered("a.yaml", "a{0}: {1}\n"),
    "yaml nested": _file("a.yaml", lambda size: "".join(f"{' ' * number}a:\n" for number in range(500))),
    "toml tables": _numbered("a.toml", "[a{0}]\nb={1}\n"),
    "json one line": _repeated("a.json", '{"a":'),
    "xml": _repeated("a.xml", "<a>"),
    "css": _numbered("a.css", ".a{0} {{ color: red }}\n"),
    "log": _numbered("a.txt", "error {0} at {1}\n"),
    "Makefile": _numbered("Makefile", "a{0}: a{1}\n\techo\n"),
    "Dockerfile": _repeated("Dockerfile", "RUN a \\\n"),
    "ini": _numbered("a.ini", "[a{0}]\nb={1}\n"),
    "note aliases": _file(".knowledge/claims/a.md", lambda size: "---\na0: &a0 [x]\n" + counted("a{0}: &a{0} [*a{1},*a{1}]\n", size) + "---\nx\n"),
    "note deep": _repeated(".knowledge/claims/a.md", "[", before="---\na: "),
    "note keys": _numbered(".knowledge/claims/a.md", "k{0}: {1}\n", before="---\n", after="---\nx\n"),
    "note about": _numbered(".knowledge/claims/a.md", " - symbol: a.b{0}\n", before="---\nkind: claim\nid: c-01JD2V9Q7K4M8N3P5R6S7T8V9W\nabout:\n", after="---\nx\n"),
    "note observations": _numbered(".knowledge/entities/a.md", "- 2026-11-20T09:00:00Z [o-01JD2V9Q7K4M8N3P5R6S7T8V{0}] x\n", before="---\nkind: entity\nname: a\nid: e-01JD2V9Q7K4M8N3P5R6S7T8V9W\n---\n"),
    "note text": _repeated(".knowledge/claims/a.md", "is faster than 10 ms, ", before="---\nkind: claim\nid: c-01JD2V9Q7K4M8N3P5R6S7T8V9W\nstatus: accepted\n---\n"),
}  # fmt: skip

DOCUMENTS: dict[str, Make] = {
    "md brackets": _repeated("docs/a.md", "["),
    "md images": _repeated("docs/a.md", "![a]("),
    "md links": _repeated("docs/a.md", "[a](<b"),
    "md closed": _file("docs/a.md", lambda size: nested("[", "a", "](b)", size)),
    "md quotes": _repeated("docs/a.md", ">"),
    "md quote lines": _file("docs/a.md", lambda size: (">" * 1000 + " a\n") * (size // 1003)),
    "md emphasis": _repeated("docs/a.md", "*a **b _c "),
    "md stars": _repeated("docs/a.md", "*a_ "),
    "md backticks": _file("docs/a.md", lambda size: " ".join("`" * number for number in range(1, int((2 * size) ** 0.5)))),
    "md code": _repeated("docs/a.md", "`a.b` "),
    "md references": _numbered("docs/a.md", "[r{0}]: http://a/{1}\n"),
    "md reference uses": _repeated("docs/a.md", "[a] ", before="[a]: /" + "b" * 1000 + "\n\n"),
    "md footnotes": _numbered("docs/a.md", "[^r{0}]: a [^r{1}]\n"),
    "md lists": _repeated("docs/a.md", "- "),
    "md nested lists": _file("docs/a.md", lambda size: "".join(f"{' ' * (2 * number)}- a\n" for number in range(1000))),
    "md headings": _numbered("docs/a.md", "# h{0}\n"),
    "md same headings": _repeated("docs/a.md", "# h\n"),
    "md deep headings": _repeated("docs/a.md", "# a\n## a\n### a\n"),
    "md columns": _file("docs/a.md", lambda size: "|a" * (size // 4) + "\n" + "|-" * (size // 4) + "\n"),
    "md table": _file("docs/a.md", lambda size: "|a|b|\n|-|-|\n" + "|a|\n" * (size // 4)),
    "md wide table": _file("docs/a.md", lambda size: "|a" * 1000 + "\n" + "|-" * 1000 + "\n" + "|\n" * (size // 2)),
    "md html": _repeated("docs/a.md", "<a>"),
    "md html blocks": _repeated("docs/a.md", "<div>\n\n"),
    "md comments": _repeated("docs/a.md", "<!--"),
    "md declarations": _repeated("docs/a.md", "<?a <!A "),
    "md entities": _repeated("docs/a.md", "&amp;"),
    "md autolinks": _repeated("docs/a.md", "<http://a"),
    "md bare links": _repeated("docs/a.md", "http://a.b/c "),
    "md fences": _repeated("docs/a.md", "```\n~~~\n"),
    "md admonitions": _repeated("docs/a.md", "!!! note\n    "),
    "md directives": _repeated("docs/a.md", ":::{note}\n"),
    "md roles": _repeated("docs/a.md", "{a}`"),
    "md includes": _repeated("docs/a.md", "--8<-- 'docs/a.md'\n"),
    "md front matter": _numbered("docs/a.md", "k{0}: {1}\n", before="---\n", after="---\n# a\n"),
    "md front matter aliases": _file("docs/a.md", lambda size: "---\na0: &a0 [x,x]\n" + counted("a{0}: &a{0} [*a{1},*a{1},*a{1}]\n", size) + "---\n# a\n"),
    "md front matter deep": _repeated("docs/a.md", "[", before="---\na: ", after="\n---\n# a\n"),
    "md toml front matter": _numbered("docs/a.md", "k{0} = {1}\n", before="+++\n", after="+++\n# a\n"),
    "md one word": _repeated("docs/a.md", "a"),
    "md spaces": _file("docs/a.md", lambda size: "a" + " " * size + "b"),
    "md newlines": _repeated("docs/a.md", "\n"),
    "md sentences": _repeated("docs/a.md", "A is B. "),
    "md defaults": _repeated("docs/a.md", "The default of `a` is `b`. "),
    "md stops": _repeated("docs/a.md", ".' ")  ,
    "md tildes": _repeated("docs/a.md", "~~a"),
    "md math": _repeated("docs/a.md", "$a"),
    "md definition": _repeated("docs/a.md", "a\n: b\n"),
    "adr": _file("docs/adr/0001-a.md", lambda size: "# 1. a\n\n## Status\n\nAccepted\n\n" + filled("Supersedes ADR-1 ", size)),
    "rst titles": _numbered("docs/a.rst", "h{0}\n======\n"),
    "rst nesting": _file("docs/a.rst", lambda size: "".join(f"{'   ' * number}.. note::\n\n" for number in range(800))[:size]),
    "rst directives": _repeated("docs/a.rst", ".. note:: a\n\n"),
    "rst substitutions": _numbered("docs/a.rst", ".. |a{0}| replace:: |a{1}| |a{1}|\n", after="\n|a9000|\n"),
    "rst one substitution": _repeated("docs/a.rst", "|a|"),
    "rst backticks": _repeated("docs/a.rst", "`a"),
    "rst roles": _repeated("docs/a.rst", ":a:`"),
    "rst targets": _numbered("docs/a.rst", ".. _a{0}: a{1}_\n"),
    "rst includes": _repeated("docs/a.rst", ".. include:: a.rst\n"),
    "rst bullets": _file("docs/a.rst", lambda size: "".join(f"{'  ' * number}* a\n\n" for number in range(1000))[:size]),
    "rst quotes": _file("docs/a.rst", lambda size: "".join(f"{' ' * number}a\n\n" for number in range(1400))[:size]),
    "rst grid": _file("docs/a.rst", lambda size: "+-" * (size // 4) + "+\n" + "| " * (size // 4) + "|\n" + "+-" * 10 + "+\n"),
    "rst grid rows": _file("docs/a.rst", lambda size: ("+---+---+\n| a | b |\n" * (size // 20)) + "+---+---+\n"),
    "rst simple table": _file("docs/a.rst", lambda size: "= " * 1000 + "\n" + "a\n" * (size // 2) + "= " * 1000 + "\n"),
    "rst simple columns": _file("docs/a.rst", lambda size: "= " * (size // 6) + "\n" + "a " * (size // 6) + "\n" + "= " * (size // 6) + "\n"),
    "rst list table": _repeated("docs/a.rst", "   * - a\n     - b\n", before=".. list-table::\n\n"),
    "rst csv table": _repeated("docs/a.rst", '   "a",', before=".. csv-table::\n\n"),
    "rst literal": _repeated("docs/a.rst", "a::\n\n"),
    "rst fields": _numbered("docs/a.rst", ":a{0}: b\n"),
    "rst signatures": _numbered("docs/a.rst", ".. function:: f{0}(a, b=1)\n\n   a\n\n"),
    "rst one signature": _repeated("docs/a.rst", "a[, ", before=".. function:: f("),
    "rst definitions": _repeated("docs/a.rst", "a\n b\n"),
    "rst line blocks": _repeated("docs/a.rst", "| a\n"),
    "rst emphasis": _repeated("docs/a.rst", "*a **b "),
    "adoc titles": _numbered("docs/a.adoc", "== h{0}\n\n"),
    "adoc attributes": _numbered("docs/a.adoc", ":a{0}: {{a{1}}}{{a{1}}}\n", after="\n{a9000}\n"),
    "adoc brackets": _repeated("docs/a.adoc", "[["),
    "adoc blocks": _repeated("docs/a.adoc", "====\n----\n"),
    "adoc lists": _repeated("docs/a.adoc", "** a\n"),
    "adoc table": _repeated("docs/a.adoc", "|a ", before="|===\n"),
    "adoc includes": _repeated("docs/a.adoc", "include::a.adoc[]\n"),
    "adoc links": _repeated("docs/a.adoc", "link:a["),
    "adoc terms": _repeated("docs/a.adoc", "a::"),
    "adoc emphasis": _repeated("docs/a.adoc", "*a _b `c "),
    "adoc spaces": _file("docs/a.adoc", lambda size: "a" + " " * size),
    "html attributes": _numbered("docs/a.html", "a{0} ", before="<html><body><p ", after=">x</p>"),
    "html same attributes": _repeated("docs/a.html", "a ", before="<html><body><p ", after=">x</p>"),
    "html depth": _repeated("docs/a.html", "<div>", before="<html><body>"),
    "html inline depth": _repeated("docs/a.html", "<b>", before="<html><body><p>"),
    "html formatting": _numbered("docs/a.html", "<a href={0}><b><i>", before="<html><body>"),
    "html adoption": _repeated("docs/a.html", "<b><i><u></b>", before="<html><body>"),
    "html adoption blocks": _repeated("docs/a.html", "<b><p></b>", before="<html><body>"),
    "html tables": _repeated("docs/a.html", "<table><tr><td>", before="<html><body>"),
    "html table texts": _repeated("docs/a.html", "<table>a<b>", before="<html><body>"),
    "html cells": _repeated("docs/a.html", "<td>", before="<html><body><table><tr>"),
    "html rows": _file("docs/a.html", lambda size: "<table><tr>" + "<td>" * 1000 + "<tr><td>" * (size // 8)),
    "html spans": _repeated("docs/a.html", "<td colspan=1000 rowspan=65534>", before="<html><body><table><tr>"),
    "html lists": _repeated("docs/a.html", "<ul><li>", before="<html><body>"),
    "html headings": _numbered("docs/a.html", "<h2 id=a{0}>a</h2>", before="<html><body>"),
    "html entities": _repeated("docs/a.html", "&notit;", before="<html><body>"),
    "html open tag": _repeated("docs/a.html", "<", before="<html><body>"),
    "html comments": _repeated("docs/a.html", "<!--", before="<html><body>"),
    "html scripts": _repeated("docs/a.html", "<script><!--", before="<html><body>"),
    "html templates": _repeated("docs/a.html", "<template>", before="<html><body>"),
    "html selects": _repeated("docs/a.html", "<select><option>", before="<html><body>"),
    "html forms": _repeated("docs/a.html", "<form><button>", before="<html><body>"),
    "html svg": _repeated("docs/a.html", "<svg><foreignObject>", before="<html><body>"),
    "html classes": _numbered("docs/a.html", "c{0} ", before='<html><body><p class="', after='">x'),
    "html links": _numbered("docs/a.html", "<a href=/a{0}>a</a>", before="<html><body>"),
    "html pre": _repeated("docs/a.html", "<pre><code>", before="<html><body>"),
    "html definition": _repeated("docs/a.html", "<dl class=py><dt id=a.b>a(<dd>", before="<html><body>"),
    "html text": _repeated("docs/a.html", "a ", before="<html><body><p>"),
    "html long attribute": _repeated("docs/a.html", "a", before='<html><body><p id="', after='">x'),
    "html meta": _numbered("docs/a.html", "<meta name=a{0} content=b>", before="<html><head>"),
    "ipynb deep": _repeated("docs/a.ipynb", "["),
    "ipynb deep objects": _repeated("docs/a.ipynb", '{"a":'),
    "ipynb cells": _numbered("docs/a.ipynb", '{{"cell_type":"code","source":"a{0}()"}},', before='{"nbformat":4,"cells":[', after="{}]}"),
    "ipynb markdown": _numbered("docs/a.ipynb", '{{"cell_type":"markdown","source":["# a{0}"]}},', before='{"nbformat":4,"cells":[', after="{}]}"),
    "ipynb lines": _repeated("docs/a.ipynb", '"a\\n",', before='{"nbformat":4,"cells":[{"cell_type":"code","source":[', after='""]}]}'),
    "ipynb digits": _repeated("docs/a.ipynb", "9"),
    "txt underlined": _repeated("docs/a.txt", "a\n=\n"),
    "txt equals": _repeated("docs/a.txt", "="),
    "txt capitals": _repeated("docs/a.txt", "A"),
    "txt numbered": _repeated("docs/a.txt", "1."),
    "txt spaces": _file("docs/a.txt", lambda size: "a" + " " * size + "a"),
}  # fmt: skip
