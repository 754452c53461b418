#!/usr/bin/env python3
"""Record what Code Atlas answers, and compare two recordings. Standard library only; works with any checkout.

    record.py run --python VENV/bin/python --root CHECKOUT --out FILE.jsonl [--only PART ...]
    record.py diff OLD.jsonl NEW.jsonl
    record.py parts

A recording is one JSON document a line: {"key", "value"}. All state lives below WORK (fixed path: paths count in token
budgets), which each run empties; a lock keeps two runs apart. NORMALISED lists all that is replaced.
"""
from __future__ import annotations

import argparse, contextlib, difflib, fcntl, hashlib, json, os, re, shutil, subprocess, sys, threading, time, tomllib
from datetime import datetime, timedelta, timezone
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = HERE / "w"
TREES = HERE / "trees"
TOOLSETS = "code,claims,memory,packs"

NORMALISED = """
The recorded processes have a frozen clock (time.time, datetime.now: 2026-06-01 and a minute more for each process) and
repeatable os.urandom (site/sitecustomize.py), so times, ages and ids of notes are compared as they are. Replaced are:
<ROOT>    path of the checkout that is recorded, <VENV> path of its environment
<TIME>    ISO timestamps of yesterday to tomorrow; <DATE> such dates alone (notes, evidence, index times)
<EPOCH>   numbers of seconds since 1970 of yesterday to tomorrow (also in ms and ns)
<SECS>    durations with a unit (ms, s, seconds, minutes), and JSON properties whose name ends in seconds, _at or _ms, and those of `phases`
<AGE>     "... ago", "just now"
<GEN>     generation of the index, in the part `knowledge` only: a session looks for newer files at most once a second
<PID>     pid 123 and JSON property pid
          also the two columns of latency in the table of `pack eval`
<PORT>    ports of the paper service's and the model's stand-in
<BYTES>   sizes of the store's and cache's files and of memory: properties *_bytes, resident, "12.3 MB" in status, health, index and cache
<RATE>    "n files/s"
<HEX>     random keys: 64 hex digits in answers of health and cache
"""


class Normal:
    """Replaces what is volatile."""

    def __init__(self, root: str, venv: str, ports=()):
        self.paths = [(venv, "<VENV>"), (root, "<ROOT>")]
        self.ports = ports
        self.generations = False
        today = datetime.now(timezone.utc)
        self.days = "|".join((today + timedelta(days=n)).strftime("%Y-%m-%d") for n in (-1, 0, 1))
        self.now = time.time()

    def text(self, s: str, sizes=False) -> str:
        for path, shown in self.paths:
            s = s.replace(path, shown)
        for port in self.ports:
            s = s.replace(f":{port}", ":<PORT>")
        s = re.sub(rf"(?:{self.days})[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+]00:00| UTC)?", "<TIME>", s)
        s = re.sub(rf"(?:{self.days})", "<DATE>", s)
        s = re.sub(r"\b(just now|moments? ago|(?:a|an|\d+) (?:ms|s|seconds?|minutes?|hours?) ago)\b", "<AGE>", s)
        s = re.sub(r"\b\d+(?:\.\d+)? ?(?:ms|µs|s|seconds?|min|minutes?)\b(?! ago)", "<SECS>", s) if sizes else s
        s = re.sub(r"\bpid \d+", "pid <PID>", s)
        if self.generations:
            s = re.sub(r"@\d+, indexed", "@<GEN>, indexed", s)
        if sizes:
            s = re.sub(r"\b[\d.,]+ ?(?:B|KB|kB|MB|GB|TB|KiB|MiB|GiB|bytes)\b", "<BYTES>", s)
            s = re.sub(r"[\d.,]+ files/s", "<RATE>", s)
            s = re.sub(r"(?m)^(\| (?:baseline|balanced|maximum) .*?)(?: \| [\d.-]+){2} \| - \|$", r"\1 | <SECS> | <SECS> | - |", s)
            s = re.sub(r"\b[\d.]+ CPU s\b", "<SECS> CPU", s)
            s = re.sub(r"\b(scan|parse|link|embed|write) \d+\.\d+", r"\1 <SECS>", s)
            s = re.sub(r"\b[0-9a-f]{64}\b", "<HEX>", s)
        return s

    def value(self, v, name="", sizes=False):
        if isinstance(v, str):
            return self.text(v, sizes)
        if isinstance(v, dict):
            if name == "phases":
                return dict.fromkeys(sorted(v), "<SECS>")
            return {self.text(k, sizes): self.value(one, k, sizes) for k, one in v.items()}
        if isinstance(v, list):
            return [self.value(one, name, sizes) for one in v]
        if isinstance(v, bool) or v is None:
            return v
        if isinstance(v, (int, float)):
            for unit in (1, 1e3, 1e9):
                if abs(v / unit - self.now) < 2 * 86400:
                    return "<EPOCH>"
            if re.search(r"seconds$|_ms$|^ms$|_at$|rate", name) and name not in ("limit",):
                return "<SECS>"
            if name == "generation" and self.generations:
                return "<GEN>"
            if name == "pid":
                return "<PID>"
            if sizes and re.search(r"bytes|resident|size|free", name):
                return "<BYTES>"
        return v


SIZES = ("status", "health", "index", "cache", "migrate")


class Recorder:
    def __init__(self, python: str, root: str, out):
        self.python, self.root, self.out = python, str(Path(root).resolve()), out
        self.venv = str(Path(python).absolute().parent.parent)
        self.count = 0
        self.normal = Normal(self.root, self.venv)

    def part(self, name, ports=()):
        self.name, self.normal, self.number, self.seed = name, Normal(self.root, self.venv, ports), 0, 0

    def next_seed(self):
        self.seed += 1
        return self.seed

    def keep(self, key, value):
        self.number += 1
        self.count += 1
        print(json.dumps({"key": f"{self.name}/{self.number:04d} {key}", "value": value}, ensure_ascii=False), file=self.out, flush=True)

    def env(self, **more):
        home = WORK / "home"
        kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LC_ALL", "TMPDIR")}
        return kept | {
            "HOME": str(home), "XDG_CONFIG_HOME": str(home / "c"), "XDG_CACHE_HOME": str(home / "k"), "XDG_DATA_HOME": str(home / "d"),
            "PYTHONPATH": f"{HERE / 'site'}:{self.root}", "RECORDER_SEED": str(self.next_seed()), "COLUMNS": "120", "TERM": "dumb", "NO_COLOR": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "TZ": "UTC",
            "GIT_CONFIG_GLOBAL": "/dev/null", "PYTHONHASHSEED": "0", "ATLAS_LINES": "",
        } | more  # fmt: skip

    def command(self, *arguments, cwd=None, stdin="", env=None, keep=True, timeout=1200, sizes=None, show=None):
        done = subprocess.run(
            [self.python, "-P", "-m", "atlas", *arguments], cwd=cwd or WORK, env=self.env(**(env or {})), input=stdin,
            capture_output=True, text=True, timeout=timeout,
        )  # fmt: skip
        if keep:
            sizes = any(word in SIZES for word in arguments) if sizes is None else sizes
            out = done.stdout
            with contextlib.suppress(ValueError):
                value = json.loads(out)
                if isinstance(value, (dict, list)):
                    out = value
            self.keep("$ atlas " + self.normal.text(" ".join(show or arguments)), {
                "exit": done.returncode, "out": self.normal.value(out, "", sizes), "err": self.normal.text(done.stderr, sizes)})
        return done


class Client:
    """An MCP client on the pipes of a server process."""

    def __init__(self, recorder: Recorder, arguments, cwd=None, **env):
        self.rec = recorder
        self.process = subprocess.Popen(
            [recorder.python, "-P", "-m", "atlas", *arguments], cwd=cwd or WORK, env=recorder.env(**env),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip
        self.errors: list[str] = []
        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True).start()
        self.number = 0
        self.cursor = ""
        hello = self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "recorder", "version": "1"}})
        recorder.keep("initialize", recorder.normal.value(hello))
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.number and "method" not in message:
                return {k: message[k] for k in ("result", "error") if k in message}
        raise SystemExit(f"the server ended: {''.join(self.errors)[-2000:]}")

    def request(self, method, **params):
        got = self.ask(method, params)
        self.rec.keep(f"{method} {self.rec.normal.text(json.dumps(params, ensure_ascii=False))[:300]}", self.rec.normal.value(got))
        return got

    def call(self, tool, /, **arguments):
        shown = json.dumps(arguments, ensure_ascii=False)
        arguments = {k: self.cursor if v == "$CURSOR" else v for k, v in arguments.items()}
        got = self.ask("tools/call", {"name": tool, "arguments": arguments})
        structure = (got.get("result") or {}).get("structuredContent") or {}
        self.cursor = (structure.get("evidence") or {}).get("cursor") or structure.get("cursor") or ""
        self.rec.keep(f"{tool} {self.rec.normal.text(shown)[:300]}", self.rec.normal.value(got, "", tool in SIZES))
        return got

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(30)
        self.rec.keep("exit", {"exit": code, "err": self.rec.normal.text("".join(self.errors))})


# --- trees

def copy_tree(name, source=None, git=False):
    place = WORK / "p" / name
    shutil.copytree(source or TREES / name, place, symlinks=True)
    for path in place.rglob("*"):
        if not path.is_symlink():
            os.utime(path, (1_700_000_000, 1_700_000_000))
    if git:
        commit(place, "Begin", "2024-01-02T03:04:05Z", first=True)
    return place


def commit(place, subject, when, first=False):
    env = {"PATH": os.environ["PATH"], "HOME": str(WORK / "home"), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_DATE": when,
           "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada",
           "GIT_COMMITTER_EMAIL": "ada@example.org"}
    steps = ([["init", "-q", "-b", "main"]] if first else []) + [["add", "-A"], ["commit", "-q", "-m", subject]]
    for step in steps:
        subprocess.run(["git", *step], cwd=place, env=env, check=True)


def options(name):
    return ["--project", str(WORK / "p" / name), "--data-dir", str(WORK / "d" / name)]


# --- calls

from calls import (ASKS, CYPHER, CLI, ERRORS, NAMES, knowledge_calls, pack_calls, paper_calls)  # noqa: E402


def code_calls(client: Client, name: str):
    client.request("tools/list")
    client.request("resources/list")
    client.request("resources/templates/list")
    client.request("prompts/list")
    names, extra = NAMES[name], ASKS[name]
    for n in names:
        client.call("get_node", name=n)
        client.call("get_context", name=n)
        client.call("get_context", name=n, token_budget=250)
        client.call("impact", name=n)
        for form in ("who calls {}", "what does {} call", "where is {} defined", "tests for {}", "{}", "where is {} used"):
            client.call("hybrid_search", query=form.format(n))
    for n in names[:2]:
        client.call("impact", name=n, format="mermaid", depth=2)
        client.call("impact", name=n, depth=1, token_budget=200)
        client.call("get_node", name=n, token_budget=60)
        client.call("hybrid_search", query=f"references of {n}", limit=3, brief=True)
        client.call("hybrid_search", query=f"what is affected by {n}", snippets=True)
    for q in extra:
        client.call("hybrid_search", query=q)
        client.call("text_search", query=q, limit=4)
        client.call("text_search", query=q, limit=4, cursor="$CURSOR")
        client.call("vector_search", query=q, limit=4)
    for q in extra[:3]:
        client.call("hybrid_search", query=q, token_budget=300, limit=5)
        client.call("hybrid_search", query=q, limit=5, cursor="$CURSOR")
        client.call("hybrid_search", query=q, brief=True, include_tests=True)
        client.call("hybrid_search", query=q, labels=["Function", "Method"], include_tests=False)
        client.call("hybrid_search", query=q, snippets=True, limit=3, token_budget=2000)
    for q in CYPHER:
        client.call("cypher_query", query=q, limit=20)
    client.call("schema_info")
    client.call("schema_info", token_budget=200)
    for tool, arguments in ERRORS:
        client.call(tool, **arguments)
    client.call("status")
    client.call("status", skipped=True, token_budget=400)
    client.call("status", everything=True)
    client.call("health")
    client.request("resources/read", uri=f"atlas://node/{names[0]}")
    client.request("resources/read", uri="atlas://node/not.there")
    client.request("resources/read", uri="atlas://file/README.md")
    client.request("resources/read", uri="else://x")
    client.request("completion/complete", ref={"type": "ref/resource", "uri": "atlas://node/{uid}"}, argument={"name": "uid", "value": names[0][:3]})
    client.request("prompts/get", name="nothing", arguments={})


def export_and_index(rec: Recorder, name: str, keep_index=True):
    rec.command("index", *options(name), keep=keep_index, sizes=True)
    file = WORK / f"{name}.jsonl"
    rec.command("export", "--canonical", "-o", str(file), *options(name), keep=False)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    rec.keep("export --canonical", {"sha256": digest, "lines": file.read_bytes().count(b"\n")})
    file.unlink()


def code_tree(name):
    def run(rec: Recorder):
        copy_tree(name)
        export_and_index(rec, name)
        client = Client(rec, ["mcp", "--toolsets", TOOLSETS, *options(name)])
        code_calls(client, name)
        client.close()
    return run


def gate(rec: Recorder):
    place = copy_tree("gate", TREES / "gate" / "corpus", git=True)
    with (place / "courier/pricing.py").open("a") as file:
        file.write("\n\ndef surcharge(weight: float) -> float:\n    return base_price(weight) * 2 if weight > 20 else 0.0\n")
    commit(place, "Charge heavy parcels twice", "2024-02-03T04:05:06Z")
    shutil.move(place / "scanner/queue.go", place / "scanner/uploads.go")
    commit(place, "Rename queue to uploads", "2024-03-04T05:06:07Z")
    with (place / "courier/geo.py").open("a") as file:
        file.write("\n\ndef twice(x):\n    return haversine(x, x) * 2\n")
    export_and_index(rec, "gate")
    questions = tomllib.loads((TREES / "gate/questions.toml").read_text())
    texts = [text for kind, asked in questions.items() if kind not in ("floors", "report") for text in asked]
    texts += [each["ask"] for each in questions["report"]]
    client = Client(rec, ["mcp", "--toolsets", TOOLSETS, *options("gate")])
    for text in texts:
        client.call("hybrid_search", query=text.strip())
    for text in texts[::3]:
        client.call("hybrid_search", query=text.strip(), limit=3, token_budget=400)
    code_calls(client, "gate")
    for diff in ("HEAD~1", "HEAD~2..HEAD", "HEAD", "nothing", "-x"):
        client.call("impact", diff=diff)
    client.call("impact", staged=True)
    for q in ("what changed in the last commit", "what changed since HEAD~2", "who changed pricing.py", "when was surcharge added",
              "what changed since 2024-02-01", "history of courier/pricing.py", "which files change together with courier/geo.py"):
        client.call("hybrid_search", query=q)
    # a newer file, seen without a new index
    (place / "courier/late.py").write_text('"""Late."""\n\n\ndef late_fee(days: int) -> int:\n    """Fee of a late parcel."""\n    return days * 3\n')
    client.call("get_node", name="late_fee")
    client.call("hybrid_search", query="fee of a late parcel")
    client.call("index")
    client.call("index", full=True)
    (place / "courier/late.py").unlink()
    client.call("get_node", name="late_fee")
    client.close()
    for query in texts[::5]:
        rec.command("search", query.strip(), "--explain", *options("gate"))
        rec.command("search", query.strip(), *options("gate"), "--json")
    for line in CLI:
        rec.command(*[part.replace("$ROOT", str(place)) for part in line], *([] if line[0] in ("connect", "--version", "nothing") else options("gate")))


def knowledge(rec: Recorder):
    rec.normal.generations = True
    place = copy_tree("know", TREES / "gate" / "corpus", git=True)
    rec.command("index", *options("know"), keep=False)
    client = Client(rec, ["mcp", "--toolsets", TOOLSETS, *options("know")])
    knowledge_calls(client)
    client.close()
    ids = sorted(path.relative_to(place).as_posix() for path in (place / ".knowledge").rglob("*.md"))
    rec.keep("files of notes", [rec.normal.text(f"{one}\n{(place / one).read_text()}") for one in ids])
    for line in (["notes", "list"], ["notes", "list", "--json"], ["notes", "doctor"], ["notes", "review"], ["notes", "export"],
                 ["notes", "search", "ledger"], ["notes", "add", "Tours are planned at night", "--source", "docs/tours.md:3"],
                 ["notes", "show", "nothing"], ["notes", "retract", "nothing", "--reason", "x"], ["memory", "list"], ["memory", "refresh"],
                 ["memory", "recall", "tea"], ["memory", "remember", "Grace", "likes cats"], ["memory", "note", "short thing"],
                 ["memory", "list", "--json"], ["memory", "forget", "nothing"], ["notes", "link", "a", "b"], ["search", "why is a balance never overwritten"]):
        rec.command(*line, *options("know"))
    session = Client(rec, ["mcp", "--toolsets", "memory", *options("know")], ATLAS_KNOWLEDGE_ALLOW_WRITE="false")
    session.request("tools/list")
    session.close()


def packs(rec: Recorder):
    copy_tree("packed", TREES / "gate" / "corpus")
    rec.command("index", *options("packed"), keep=False)
    docs = TREES / "django" / "docs"
    rec.command("pack", "build", "django", "--from", str(docs / "topics/db"), "--from", str(docs / "ref/models"), "--library", "django", "--library-version", "5.2", "--ecosystem", "python", "--version", "5.2", sizes=True)
    rec.command("pack", "build", "gin", "--from", str(TREES / "gin/docs"), "--from", str(TREES / "gin/README.md"), "--library", "gin", "--library-version", "1.10.1", sizes=True)
    rec.command("pack", "build", "zod", "--from", str(TREES / "zod/README.md"), sizes=True, env={})
    rec.command("pack", "build", "zod", "--from", str(TREES / "nothing"))
    for folder in sorted((WORK / "home").rglob("manifest.json")):
        rec.keep("pack files", {one.relative_to(WORK).as_posix(): hashlib.sha256(one.read_bytes()).hexdigest() for one in sorted(folder.parent.rglob("*")) if one.is_file() and one.name not in ("manifest.json", "checksums.json")})
    client = Client(rec, ["mcp", "--toolsets", TOOLSETS, *options("packed")])
    pack_calls(client)
    client.close()
    for line in (["pack", "list"], ["pack", "list", "--json"], ["pack", "info", "gin"], ["pack", "verify", "gin"], ["pack", "verify", "nothing"],
                 ["pack", "query", "gin", "How do I bind a query string?"], ["pack", "query", "gin", "How do I bind a query string?", "--json"],
                 ["pack", "query", "django", "What does select_related do?"], ["pack", "diff", "gin", "zod"], ["pack", "skill", "gin"],
                 ["pack", "update", "gin"], ["pack", "eval", "zod"], ["pack", "export", "gin", "-o", str(WORK / "gin.pack")],
                 ["pack", "remove", "gin", "-y"], ["pack", "install", str(WORK / "gin.pack")], ["pack", "deprecated"], ["pack", "remove", "nothing", "-y"]):
        extra = options("packed") if line[1] == "deprecated" else []
        rec.command(*line, *extra, sizes=True)
    code = "import json,sys\nfrom atlas.packs import Pack\np=Pack.open('django')\na=p.ask('What does select_related do?')\nprint(type(a).__name__, str(a)[:4000])"
    done = subprocess.run([rec.python, "-P", "-c", code], cwd=WORK, env=rec.env(), capture_output=True, text=True, timeout=300)
    rec.keep("python: atlas.packs", {"exit": done.returncode, "out": rec.normal.text(done.stdout, True), "err": rec.normal.text(re.sub(r'File ".*?", line \d+', "File", done.stderr))[-600:]})


def papers(rec: Recorder):
    from arxiv_server import ATTENTION, BERT, WITHDRAWN, Entry, arxiv_server
    more = [Entry(f"2301.{n:05d}v1", f"Study {n} of graph search in code", f"We study how code graphs answer questions, part {n}; extends arXiv:1706.03762.",
                  ("Ada Lovelace", f"Author {n}"), f"2023-01-{n:02d}T00:00:00Z", ("cs.SE",)) for n in range(1, 9)]
    with arxiv_server(ATTENTION, BERT, WITHDRAWN, *more) as server:
        rec.part("papers", ports=[server.port])
        folder = WORK / "papers"
        folder.mkdir()
        env = {"ATLAS_PAPERS_FOLDER": str(folder / "papers"), "ATLAS_PAPERS_URL": server.url, "ATLAS_PAPERS_PAUSE_MS": "0", "ATLAS_PAPERS_RETRIES": "0", "ATLAS_PROJECT": str(folder)}
        client = Client(rec, ["papers", "serve"], cwd=folder, **env)
        paper_calls(client)
        server.failing.extend([503] * 3)
        client.call("search_papers", topic="late")
        client.close()
        files = sorted(one for one in folder.rglob("*") if one.is_file())
        rec.keep("files", {one.relative_to(folder).as_posix(): rec.normal.text(one.read_text()) for one in files if one.suffix in (".json", ".md", ".bib")})
        for line in (["list"], ["list", "--json"], ["show", "1706.03762"], ["show", "1"], ["export", "--format", "bibtex"], ["export", "--format", "markdown"], ["search", "attention"], ["check"]):
            rec.command("papers", *line, cwd=folder, env=env)


def chat(rec: Recorder):
    from model_server import Say, model_server
    copy_tree("talk", TREES / "gate" / "corpus")
    rec.command("index", *options("talk"), keep=False)
    steps = [Say("", [("hybrid_search", '{"query": "RateLimiter"}'), ("get_node", '{"name": "nothing"}')]), Say("The answer."),
             Say("", [("wrong", "{}")]), Say("Done.")]
    with model_server(*steps) as stub:
        rec.part("chat", ports=[stub.port])
        env = {"OPENAI_API_KEY": "k"}
        base = ["chat", "--model", "openai/stub", "--api-base", stub.openai, *options("talk")]
        rec.command(*base, "--once", "what limits requests?", "--transcript", str(WORK / "t.md"), env=env, sizes=True)
        rec.keep("transcript", rec.normal.text((WORK / "t.md").read_text(), True) if (WORK / "t.md").exists() else None)
        rec.command(*base, "--once", "again?", "--json", env=env, sizes=True)
        requests = json.loads(json.dumps(stub.requests))
        rec.keep("requests to the model", rec.normal.value(requests))
    rec.command("chat", "--once", "x", *options("talk"))


def surface(rec: Recorder):
    def walk(path, depth=0):
        done = rec.command(*path, "--help")
        inside = done.stdout.partition("Commands:")[2].partition("\n\n")[0]
        names = re.findall(r"^  ([a-z][a-z-]*)(?:  |$)", inside, re.MULTILINE)
        if depth < 3:
            for name in names:
                walk([*path, name], depth + 1)
    walk([])
    copy_tree("plain", TREES / "gate" / "corpus")
    rec.command("config", "show", *options("plain"))
    rec.command("config", "show", "--json", *options("plain"))
    rec.command("--version")
    rec.command("status", *options("plain"))
    rec.command("node", "x", *options("plain"))
    for client in ("claude-code", "codex", "zed", "nothing"):
        rec.command("mcp", "--print-config", client, *options("plain"))
        rec.command("connect", client, "--dry-run", "--project", str(WORK / "p/plain"))
    rec.command("mcp", "--toolsets", "nothing", *options("plain"))
    empty = Client(rec, ["mcp", "--toolsets", "query", *options("plain")], ATLAS_MCP_INDEX_ON_DEMAND="false")
    empty.request("tools/list")
    empty.call("hybrid_search", query="x")
    empty.call("get_node", name="x")
    empty.close()
    rec.command("cache", "list")
    rec.command("dead-letters", *options("plain"))
    rec.command("daemon", "status", *options("plain"))


PARTS = {"surface": surface, "gate": gate, "knowledge": knowledge, "packs": packs, "papers": papers, "chat": chat, "gin": code_tree("gin"),
         "zod": code_tree("zod"), "tokio": code_tree("tokio"), "django": code_tree("django")}


def run(args):
    WORK.mkdir(exist_ok=True)
    lock = open(HERE / ".lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    began = time.time()
    with open(args.out, "w") as out:
        rec = Recorder(args.python, args.root, out)
        for name, part in PARTS.items():
            if args.only and name not in args.only:
                continue
            shutil.rmtree(WORK, ignore_errors=True)
            for folder in ("home", "p", "d"):
                (WORK / folder).mkdir(parents=True)
            rec.part(name)
            start, before = time.time(), rec.count
            part(rec)
            print(f"{name}: {rec.count - before} records, {time.time() - start:.0f} s", file=sys.stderr, flush=True)
    print(f"{rec.count} records in {time.time() - began:.0f} s -> {args.out}", file=sys.stderr)


def load(path):
    return {one["key"]: one["value"] for one in map(json.loads, open(path))}


def diff(args):
    old, new = load(args.old), load(args.new)
    bad = 0
    for key in [*old, *(key for key in new if key not in old)]:
        if key not in new or key not in old:
            bad += 1
            print(f"{'-' if key in old else '+'} {key}")
        elif json.dumps(old[key]) != json.dumps(new[key]):  # the order of properties counts
            bad += 1
            if bad <= args.show:
                print(f"* {key}")
                a, b = (json.dumps(one, ensure_ascii=False, indent=1).replace("\\n", "\n    ").splitlines() for one in (old[key], new[key]))
                print("\n".join(list(difflib.unified_diff(a, b, "old", "new", lineterm="", n=1))[2 : args.lines]))
            else:
                print(f"* {key}")
    print(f"{len(old)} and {len(new)} records, {bad} differences")
    return bool(bad)


def main():
    parser = argparse.ArgumentParser()
    sub = parser.add_subparsers(required=True)
    one = sub.add_parser("run"); one.add_argument("--python", required=True); one.add_argument("--root", required=True)
    one.add_argument("--out", required=True); one.add_argument("--only", nargs="*"); one.set_defaults(do=run)
    two = sub.add_parser("diff"); two.add_argument("old"); two.add_argument("new"); two.add_argument("--show", type=int, default=40)
    two.add_argument("--lines", type=int, default=30); two.set_defaults(do=diff)
    sub.add_parser("parts").set_defaults(do=lambda args: print("\n".join(PARTS), NORMALISED))
    args = parser.parse_args()
    sys.exit(args.do(args))


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main()
