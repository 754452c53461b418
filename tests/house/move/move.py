#!/usr/bin/env python3
"""Move the house: move.py ROOT [--no-git]. Splits (old names) -> git mv -> rewritten imports, strings, paths -> pages -> edits.

Run it on a clean worktree of main; afterwards `ruff check --fix . && ruff format .` (done here when ROOT/.venv exists).
mapping.py says where modules go, splits.py which definitions leave their module first, pages.py the docstrings of new
packages, edits.py what text edits follow. Everything is looked up in the tree as it is, so small changes of main do no harm.
"""
from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import time
import tokenize
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import edits  # noqa: E402
import mapping  # noqa: E402
import pages  # noqa: E402
import splits  # noqa: E402

ROOT = Path(sys.argv[1]).resolve()
LOGGERS = ("atlas.http",)
"""Names of loggers that look like modules."""


def tracked(*patterns: str) -> list[Path]:
    out = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in out.split("\0") if name and (ROOT / name).is_file()]


def git(*words: str) -> None:
    subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True)


# --- splits: definitions leave their module, still in the old names


def split(old: str, new: str, page: str, names: list[str]) -> None:
    source = file_of_old(old)
    text = source.read_text()
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    parts: list[tuple[int, int]] = []
    for number, node in enumerate(tree.body):
        defined = {getattr(node, "name", "")} | {t.id for t in getattr(node, "targets", []) if isinstance(t, ast.Name)}
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            defined.add(node.target.id)
        if not defined & set(names):
            continue
        start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        while start and lines[start - 1].startswith("#"):
            start -= 1
        end = node.end_lineno or node.lineno
        after = tree.body[number + 1] if number + 1 < len(tree.body) else None
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            end = after.end_lineno or end
        parts.append((start, end))
    found = {n for n in names if re.search(rf"^(?:async def|def|class) {n}\b|^{n}\b[^=\n]*=", text, re.M)}
    if missing := set(names) - found:
        print(f"split {old}: no {sorted(missing)}")
    if not parts:
        return
    imports = [lines[n.lineno - 1 : n.end_lineno] for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom) or (isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test))]
    body = "\n\n".join("".join(lines[a:b]) for a, b in parts)
    used = set(re.findall(r"\b\w+\b", body))
    left = [name for name in top_names(tree) if name in used and name not in names]
    back = f"from {old} import {', '.join(left)}\n" if left else ""
    file = ROOT / (new.replace(".", "/") + ".py")
    file.write_text(f'"""{page}"""\n\n' + "".join("".join(one) for one in imports) + back + "\n\n" + body + "\n")
    for a, b in reversed(parts):
        del lines[a:b]
    rest = "".join(lines)
    stay = [n for n in names if re.search(rf"\b{n}\b", rest)]
    if stay:
        at = next(n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom) and getattr(n, "module", "") != "__future__").lineno - 1
        lines.insert(at, f"from {new} import {', '.join(stay)}\n")
    source.write_text("".join(lines))
    git("add", str(file))


def top_names(tree: ast.Module) -> list[str]:
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign):
            found += [t.id for t in node.targets if isinstance(t, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.append(node.target.id)
    return found


def file_of_old(module: str) -> Path:
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


# --- the move

OLD: dict[str, str] = {}
"""Old module -> new module, of all modules of the tree."""
PATHS: dict[str, str] = {}
"""Old file or folder -> new one, below the root, without a slash at the end."""


def plan() -> dict[str, str]:
    files: dict[str, str] = {}
    for module, path in mapping.modules(ROOT).items():
        new = mapping.target(module)
        OLD[module] = mapping.dotted(new)
        files[path.relative_to(ROOT).as_posix()] = new
    folders = sorted(mapping.FOLDERS, key=len, reverse=True)
    for path in tracked("atlas"):
        name = path.relative_to(ROOT).as_posix()
        if name.endswith(".py") or name.startswith(mapping.STAY):
            continue
        if name in mapping.DATA:
            files[name] = f"{mapping.DATA[name]}/{path.name}"
            continue
        folder = next((one for one in folders if name.startswith(one + "/")), None)
        if folder is None:
            raise SystemExit(f"no folder for {name}")
        files[name] = mapping.FOLDERS[folder] + name.removeprefix(folder)
    PATHS.update(files)
    for old, new in mapping.FOLDERS.items():
        PATHS.setdefault(old, new)
    for old, new in list(files.items()):  # folders of data
        a, b = Path(old).parent, Path(new).parent
        while a.name == b.name and a.as_posix() not in PATHS and a != b:
            PATHS[a.as_posix()] = b.as_posix()
            a, b = a.parent, b.parent
    return files


def move(files: dict[str, str]) -> None:
    taken = set()
    for old, new in files.items():
        if new in taken:
            raise SystemExit(f"two files for {new}")
        taken.add(new)
    # by way of names that nothing has, as one file may take the place of another
    moving = {old: new for old, new in files.items() if old != new}
    for old in moving:
        (ROOT / old).rename(ROOT / (old + ".moving"))
    for old, new in moving.items():
        (ROOT / new).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / (old + ".moving")).rename(ROOT / new)
    for cache in [*ROOT.glob("atlas/**/__pycache__")]:
        subprocess.run(["rm", "-rf", str(cache)], check=True)
    for folder in sorted((p for p in (ROOT / "atlas").rglob("*") if p.is_dir()), key=lambda p: -len(p.parts)):
        if not any(folder.iterdir()):
            folder.rmdir()
    git("add", "-A", "atlas", "benchmarks")


# --- Python


def rewrite_python(path: Path) -> None:
    text = path.read_text()
    new = rewrite_imports(text, path)
    new = rewrite_tokens(new)
    new = JOINED.sub(new_joined, new)
    new = rewrap(new) if new != text else new
    if new != text:
        path.write_text(new)


def name_as(module: str, name: str, alias: str | None) -> tuple[str, str]:
    """Return the new (module, item) of `from module import name as alias`, under the same name."""
    full = f"{module}.{name}"
    if (module, name) in splits.REDIRECTS:
        module = splits.REDIRECTS[module, name]
    elif full in OLD:
        package, _, base = OLD[full].rpartition(".")
        shown = alias or name
        return package, base if base == shown else f"{base} as {shown}"
    return OLD.get(module, module), f"{name} as {alias}" if alias else name


def rewrite_imports(text: str, path: Path) -> str:
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    plain: list[str] = []
    for node in sorted((n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)), key=lambda n: -n.lineno):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in OLD and OLD[alias.name] != alias.name and alias.asname is None:
                    plain.append(alias.name)
            line = node.lineno - 1
            for alias in node.names:
                if alias.name in OLD:
                    lines[line] = re.sub(rf"\b{re.escape(alias.name)}\b(?!\.)", OLD[alias.name], lines[line])
            continue
        if node.level or not (node.module or "").startswith("atlas"):
            if node.level and (ROOT / "tests") not in path.parents:
                raise SystemExit(f"{path}:{node.lineno}: relative import")
            continue
        items = [name_as(node.module or "", one.name, one.asname) for one in node.names]
        groups: dict[str, list[str]] = {}
        for module, item in items:
            groups.setdefault(module, []).append(item)
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        unchanged = all(item == (f"{n.name} as {n.asname}" if n.asname else n.name) for (_, item), n in zip(items, node.names, strict=True))
        if len(groups) == 1 and unchanged:
            lines[first] = lines[first].replace(f"from {node.module} import", f"from {next(iter(groups))} import", 1)
            continue
        head, tail = lines[first][: node.col_offset], lines[last][node.end_col_offset or 0 :].rstrip("\n")
        made = [f"from {module} import {', '.join(names)}" for module, names in groups.items()]
        if head.strip() or (tail.strip() and not tail.strip().startswith("#")):
            lines[first : last + 1] = [head + "; ".join(made) + tail + "\n"]
        else:
            lines[first : last + 1] = [f"{head}{one}{tail}\n" for one in made]
    text = "".join(lines)
    for name in sorted(plain, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.\"']){re.escape(name)}\b(?=\.\w)", OLD[name], text)
    return text


DOTTED = re.compile(r"(?<![\w./-])atlas(?:\.[A-Za-z_]\w*)+")
PATH = re.compile(r"(?<![\w.-])(?:\./)?atlas(?:/[\w.-]+)+/?")
SHORT = re.compile(r"(?<![\w./-])[a-z_]+/(?:[\w.-]+/?)+")


JOINED = re.compile(r'"atlas"(?: / "[\w.-]+")+')


def new_joined(found: re.Match[str]) -> str:
    """Return `"atlas" / "stores" / "x.py"` as it is now."""
    parts = re.findall(r'"([^"]+)"', found[0])
    for end in range(len(parts), 1, -1):
        if new := PATHS.get("/".join(parts[:end])):
            return " / ".join(f'"{one}"' for one in [*new.split("/"), *parts[end:]])
    return found[0]


def new_dotted(found: re.Match[str]) -> str:
    name = found[0]
    parts = name.split(".")
    for end in range(len(parts), 1, -1):
        module = ".".join(parts[:end])
        if end < len(parts) and (module, parts[end]) in splits.REDIRECTS:
            return ".".join([OLD[splits.REDIRECTS[module, parts[end]]], *parts[end:]])
        if module in OLD:
            return ".".join([OLD[module], *parts[end:]])
    return name


def new_path(found: re.Match[str]) -> str:
    name = found[0]
    dots = name[len(name.rstrip(".")) :] if not name.endswith("...") else ""
    core = name.removesuffix(dots) if dots else name
    slash = "/" if core.endswith("/") else ""
    bare = core.rstrip("/")
    if bare in PATHS:
        return PATHS[bare] + slash + dots
    head, _, last = bare.rpartition("/")
    if last in ("*.py", "*"):
        return name
    return name


def new_short(found: re.Match[str]) -> str:
    name = found[0]
    stripped = name.rstrip(".")
    dots = name[len(stripped) :]
    bare = stripped.rstrip("/")
    slash = "/" if stripped.endswith("/") else ""
    if bare.count("/") and (new := PATHS.get(f"atlas/{bare}")) and new != f"atlas/{bare}" and not (ROOT / bare).exists():
        return new.removeprefix("atlas/") + slash + dots
    return name


WRITTEN_IMPORT = re.compile(r"\bfrom (atlas[\w.]*) import (\w+)(?! as|,)")


def new_import(found: re.Match[str]) -> str:
    module, item = name_as(found[1], found[2], None)
    return f"from {module} import {item}" if found[1] in OLD else found[0]


def rewrite_text(text: str, *, short: bool = False) -> str:
    text = WRITTEN_IMPORT.sub(new_import, text)
    text = DOTTED.sub(new_dotted, text)
    text = PATH.sub(new_path, text)
    return SHORT.sub(new_short, text) if short else text


def rewrite_tokens(text: str) -> str:
    """Rewrite what strings and comments name."""
    kinds = {tokenize.STRING, tokenize.COMMENT}
    spots: list[tuple[tuple[int, int], tuple[int, int], str]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in kinds or token.string.strip("\"'frbu") in LOGGERS:
            continue
        plain = token.type == tokenize.COMMENT or token.string.lstrip("rR").startswith('"""')
        if (new := rewrite_text(token.string, short=plain)) != token.string:
            spots.append((token.start, token.end, new))
    lines = text.splitlines(keepends=True)
    for start, end, new in reversed(spots):
        head, tail = lines[start[0] - 1][: start[1]], lines[end[0] - 1][end[1] :]
        lines[start[0] - 1 : end[0]] = [head + new + tail]
    return "".join(lines)


def rewrap(text: str, width: int = 120) -> str:
    """Move the last words of too long lines of docstrings and comments to the next line of their paragraph."""
    inside: set[int] = set()
    marks: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and token.string.lstrip("rR").startswith('"""') and token.end[0] > token.start[0]:
            inside.update(range(token.start[0] + 1, token.end[0]))
        elif token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
            inside.add(token.start[0])
            marks[token.start[0]] = "# "
    if not any(len(line) > width for line in text.splitlines()):
        return text
    lines, number = text.split("\n"), 1
    shift = 0
    while number <= len(lines):
        line = lines[number - 1]
        if len(line) > width and (number - shift in inside or number in inside) and "|" not in line:
            mark = "# " if line.lstrip().startswith("# ") else ""
            indent = line[: len(line) - len(line.lstrip())]
            cut = line.rfind(" ", 0, width + 1)
            lines[number - 1], rest = line[:cut].rstrip(), line[cut + 1 :]
            after = lines[number] if number < len(lines) else ""
            same = after.strip() and after.startswith(indent + mark) and not after.strip().startswith(('"""', "- ", "* ")) and after[len(indent)] != " " and (mark or not after.strip().startswith("#"))
            if same and (mark != "" or number + 1 - shift in inside):
                lines[number] = f"{indent}{mark}{rest} {after[len(indent) + len(mark):]}"
            else:
                lines.insert(number, f"{indent}{mark}{rest}")
                shift += 1
        number += 1
    return "\n".join(lines)


# --- everything else


def other_files() -> list[Path]:
    wanted = tracked("*.md", "*.toml", "*.example", "*.yml", "Makefile", "Dockerfile", ".ci", ".github", "rust-parser/*.rs", "rust-parser/*.py", "*.pyi", "*.sql", "*.cypher", "*.lua", "*.txt", "*.json", "*.scm", "*.mjs", "*.service")
    skipped = ("CHANGELOG.md", "tests/bench/data/", "tests/fixtures/", "tests/languages/", "tests/link/", "rust-parser/secret-rules/", "docs/benchmarks/")
    found = []
    for path in dict.fromkeys(wanted):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(skipped) or name.startswith("atlas/") and ("/model/" in name or "_model/" in name) or path.suffix in (".txt", ".json") and "atlas/" in name:
            continue
        found.append(path)
    return found


def main() -> None:
    began = time.time()
    for module in [*splits.SPLITS]:
        split(*module)
    files = plan()
    move(files)
    for top in ("atlas", "benchmarks"):
        for folder in {p.parent for p in (ROOT / top).rglob("*.py")}:
            if not (folder / "__init__.py").exists() and folder != ROOT / "benchmarks" and folder.relative_to(ROOT).as_posix() not in pages.PAGES:
                print(f"no page for {folder.relative_to(ROOT)}")
                (folder / "__init__.py").write_text(f'"""{folder.name.capitalize()}."""\n')
    git("add", "-A", "atlas", "benchmarks")
    for path in tracked("*.py"):
        if "tests/bench/data/" in str(path) or "tests/fixtures/" in str(path):
            continue
        rewrite_python(path)
    for path in other_files():
        text = path.read_text()
        if (new := rewrite_text(text, short=True)) != text:
            path.write_text(new)
    for folder, page in pages.PAGES.items():
        if not (ROOT / folder).is_dir():
            raise SystemExit(f"pages: no folder {folder}")
        (ROOT / folder / "__init__.py").write_text(f'"""{page.strip()}\n"""\n' if "\n" in page.strip() else f'"""{page.strip()}"""\n')
    edits.apply(ROOT)
    ruff = ROOT / ".venv/bin/ruff"
    if ruff.exists():
        subprocess.run([ruff, "check", "--fix", "--quiet", "--select", "I,F401", "."], cwd=ROOT)
        subprocess.run([ruff, "format", "--quiet", "."], cwd=ROOT)
    git("add", "-A")
    print(f"moved {sum(a != b for a, b in files.items())} files in {time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
