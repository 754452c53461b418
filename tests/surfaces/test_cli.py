"""The command line as people and scripts meet it: exit codes, JSON, hints, and nothing else on standard output."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from atlas.cli.app import create_app
from atlas.cli.clients.recipes import FOLDER_VARIABLES, moved_folders
from tests.raw_database import raw

from .processes import COMMAND, Place, atlas, environment


def failed(done: subprocess.CompletedProcess[str], code: int) -> str:
    """The one `error:` line (and hints) of a command that must have failed with this code."""
    assert done.returncode == code, done
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    lines = done.stderr.splitlines()
    assert lines[0].startswith("error: ")
    assert all(line.startswith(("near:  ", "hint:  ")) for line in lines[1:]), done.stderr
    return done.stderr


def test_each_query_command_answers_for_people(place: Place) -> None:
    search = atlas("search", "apply_discount", *place.options)
    assert search.returncode == 0
    assert "shop/cart.py:" in search.stdout
    assert "Cart" in atlas("node", "Cart", *place.options).stdout
    assert "apply_discount" in atlas("context", "Cart.total", *place.options).stdout
    assert "project shop at" in atlas("status", *place.options).stdout
    assert "skipped" in atlas("status", "--skipped", "--all", *place.options).stdout
    assert "health: " in atlas("health", *place.options).stdout
    assert "relationship types:" in atlas("schema", *place.options).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "cart"),
        ("search", "cart", "--mode", "text", "--limit", "2", "--label", "Class", "--no-tests"),
        ("search", "cart", "--mode", "vector"),
        ("node", "Cart"),
        ("context", "Cart", "--token-budget", "300"),
        ("status", "--skipped"),
        ("health",),
        ("schema",),
        ("config", "show"),
        ("mcp", "--print-config", "cursor"),
    ],
)
def test_json_is_one_document_and_nothing_else(place: Place, arguments: tuple[str, ...]) -> None:
    done = atlas(*arguments, "--json", *place.options)
    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout), dict)
    assert done.stderr == ""


def test_options_may_stand_before_the_command(place: Place) -> None:
    after = atlas("node", "Cart", "--json", *place.options)
    before = atlas(*place.options, "--json", "node", "Cart")
    assert before.stdout == after.stdout != ""
    shown = atlas(*place.options, "config", "show")
    assert str(place.data) in shown.stdout


def test_project_and_data_folder_may_come_from_the_environment(place: Place) -> None:
    env = {"ATLAS_PROJECT": str(place.root), "ATLAS_DATA_DIR": str(place.data)}
    assert atlas("node", "Cart", env=env).returncode == 0
    assert atlas("node", "Cart", "--data-dir", str(place.data), cwd=place.root).returncode == 0


def test_a_cypher_query_with_parameters(place: Place) -> None:
    query = "MATCH (c:Class {name: $name}) RETURN c.qualified_name AS name, $least AS least"
    done = atlas("cypher", query, "-p", "name=Cart", "-p", "least=3", "--json", *place.options)
    assert json.loads(done.stdout)["rows"] == [["shop.cart.Cart", 3]]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("search", "cart", "--project", "nowhere"), 2, "no such folder: nowhere"),
        (("index", "README.md"), 2, "not a folder: README.md"),
        (("search", "cart", "--limit", "900"), 2, "--limit"),
        (("search", "cart", "--label", "Klass"), 2, "unknown label `Klass`"),
        (("search", ""), 2, "query is empty"),
        (("search", "cart", "--path", "../.."), 2, "outside the project"),
        (("search",), 2, "query is empty"),
        (("search", "--relation", "friends", "--of", "Cart"), 2, "callers, callees"),
        (("search", "--relation", "path", "--of", "Cart"), 2, "needs `to`"),
        (("search", "--relation", "callerz", "--of", "Cart"), 2, "Did you mean callers or callees?"),
        (("search", "cart", "--mode", "txt"), 2, "Did you mean text?"),
        (("connect", "claude"), 2, "Did you mean claude-code?"),
        (("connect", "windsurf", "--portable"), 2, "this entry of Windsurf is in your own file"),
        (("serch", "cart"), 2, "serch"),
        (("cypher", "MATCH (n RETURN n"), 4, "line 1"),
        (("cypher", "MATCH (n) DETACH DELETE n"), 4, "DETACH"),
        (("cypher", "MATCH (n) RETURN n", "-p", "least"), 2, "KEY=VALUE"),
        (("cypher", "x" * 102_400), 2, "102400"),
        (("export", "--format", "csv"), 2, "csv"),
        (("export", "--output", "no/such/folder/file"), 2, "no/such/folder/file"),
        (("mcp", "--transport", "sse"), 2, "sse"),
        (("mcp", "--print-config"), 2, "Clients: claude-code, codex, gemini-cli, opencode, copilot-cli, vscode"),
        (("status", "--skipped", "--only", "nope"), 3, "Reasons here: "),
        (("mcp", "--port", "1"), 2, "--transport http"),
        (("mcp", "--transport", "http", "--tls-key", "key.pem"), 2, "--tls-cert"),
        (("mcp", "--transport", "http", "--token-file", "none"), 2, "none"),
    ],
)
def test_mistakes_are_one_line_with_a_hint_and_a_stable_code(
    place: Place, arguments: tuple[str, ...], code: int, words: str
) -> None:
    (place.root / "README.md").write_text("x")
    text = failed(atlas(*arguments, "--data-dir", str(place.data), cwd=place.root), code)
    assert words in text
    assert "Value error" not in text


@pytest.mark.parametrize("command", ["index", "mcp"])
def test_a_file_given_as_data_folder_is_named_and_what_to_give_instead(place: Place, command: str) -> None:
    text = failed(atlas(command, "--data-dir", "shop/cart.py", cwd=place.root), 2)
    assert "shop/cart.py is not a folder (--data-dir)" in text
    assert "Give the path of a folder" in text


def test_errors_are_json_on_request(place: Place) -> None:
    for arguments, code in ((("search", ""), 2), (("search", "x", "--limit", "x"), 2), (("cypher", "("), 4)):
        done = atlas(*arguments, "--json", *place.options)
        assert done.returncode == code
        error = json.loads(done.stdout)["error"]
        assert error["exit_code"] == code
        assert error["message"]
        assert done.stderr == ""


def test_a_name_that_is_not_found_or_ambiguous_exits_3_with_what_is_near(place: Place) -> None:
    missing = atlas("node", "aply_discount", *place.options)
    assert missing.returncode == 3
    assert "apply_discount" in missing.stdout
    relation = atlas("search", "callers of aply_discount", *place.options)
    assert relation.returncode == 3
    assert "no symbol `aply_discount`" in relation.stdout
    assert atlas("search", "callers of apply_discount", *place.options).returncode == 0
    other = ("search", "x", "--project", str(place.root.parent), "--data-dir", str(place.data))
    unknown = atlas(*other, env={"ATLAS_MCP_INDEX_ON_DEMAND": "false"})
    assert "is not indexed (indexed: shop)" in failed(unknown, 3)


def test_without_an_index_every_question_says_so(tmp_path: Path) -> None:
    for arguments in (("search", "x"), ("node", "x"), ("context", "x"), ("status",), ("schema",), ("export",)):
        text = failed(atlas(*arguments, cwd=tmp_path, env={"ATLAS_MCP_INDEX_ON_DEMAND": "false"}), 3)
        assert "atlas index" in text
    for arguments in (("status",), ("export",)):
        assert "atlas index" in failed(atlas(*arguments, cwd=tmp_path), 3), "what describes the index makes none"
    health = atlas("health", cwd=tmp_path)
    assert health.returncode == 0
    assert "missing index" in health.stdout
    assert list(tmp_path.iterdir()) == [], "reading must not write"


@pytest.mark.parametrize("command", [("search", "made"), ("node", "made"), ("search", "made", "--explain")])
def test_a_first_question_makes_the_index_as_it_does_for_agents(tmp_path: Path, command: tuple[str, ...]) -> None:
    place = Place(tmp_path / "fresh", tmp_path / "data")
    place.root.mkdir()
    (place.root / "a.py").write_text("def made():\n    return 1\n")
    first = atlas(*command, *place.options)
    assert first.returncode == 0, first.stderr
    assert "made" in first.stdout
    assert first.stderr == "fresh is not indexed yet: indexing it first\n"
    other = Place(tmp_path / "other", place.data)
    other.root.mkdir()
    (other.root / "b.py").write_text("def made():\n    return 2\n")
    second = atlas(*command, *other.options)
    assert "b.py" in second.stdout, "the data folder holds another project"
    assert second.stderr == "other is not indexed yet: indexing it first\n"
    assert atlas(*command, *place.options).stderr == ""


def test_a_first_question_completes_an_index_whose_first_pass_was_killed(tmp_path: Path) -> None:
    place = Place(tmp_path / "fresh", tmp_path / "data")
    place.root.mkdir()
    (place.root / "a.py").write_text("def made():\n    return 1\n")
    assert atlas("index", str(place.root), "--data-dir", str(place.data)).returncode == 0
    connection = raw(place.data / "atlas.db")
    connection.execute("UPDATE project SET indexed_at = ''")  # as a pass leaves it that did not end
    connection.close()
    for number in range(30):
        (place.root / f"b{number}.py").write_text(f"def late{number}():\n    return made()\n")
    found = atlas("search", "callers of made", *place.options)
    assert "partial" not in found.stdout and found.stderr == "fresh is not indexed yet: indexing it first\n"


def test_a_first_question_indexes_no_home_folder(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "ATLAS_DATA_DIR": str(tmp_path / "data")}
    refused = failed(atlas("search", "made", "--project", str(tmp_path), env=home), 3)
    assert "is the home folder: it is not indexed on demand" in refused
    assert not (tmp_path / "data").exists()
    place = Place(tmp_path / "it's", tmp_path / "other data")
    place.root.mkdir()
    told = failed(atlas("status", *place.options), 3)
    (command,) = re.findall(r"`atlas (index .*?)` \(agents", told)
    assert atlas(*shlex.split(command)).returncode == 0, "the command that an error names is the one that helps"
    assert atlas("status", *place.options).returncode == 0


def test_damaged_store_and_other_version_have_their_codes(place: Place) -> None:
    connection = raw(place.data / "atlas.db")
    connection.execute("UPDATE meta SET value = '999' WHERE key = 'schema'")
    connection.close()
    assert "atlas index --full" in failed(atlas("node", "Cart", *place.options), 6)
    broken = atlas("health", *place.options)
    assert broken.returncode == 1
    assert "broken index" in broken.stdout
    (place.data / "atlas.db").write_bytes(b"not a database" * 1000)
    assert "atlas index --full" in failed(atlas("node", "Cart", *place.options), 5)


def test_mistakes_in_the_project_file_are_told_once_and_stop_no_command(place: Place) -> None:
    mistakes = "".join(f"x{number} = 1\n" for number in range(5))
    (place.root / "atlas.toml").write_text(f"[store]\ndata_dir = '../elsewhere'\nurl = 'bolt://h'\n{mistakes}")
    done = atlas("node", "Cart", *place.options)
    assert done.returncode == 0
    assert done.stderr.count("warning: ignored:") == 4
    assert "atlas.toml:2: store.data_dir is not a setting" in done.stderr
    assert "4 more; see: atlas config show" in done.stderr
    shown = json.loads(atlas("config", "show", "--json", *place.options).stdout)
    assert len(shown["ignored"]) == 7
    assert "atlas.toml:3: store.url cannot be set by a project's file" in {one["why"] for one in shown["ignored"]}
    assert "store.url cannot be set" in atlas("config", "show", *place.options).stdout
    assert "ignored: " in atlas("status", *place.options).stdout
    assert "ATLAS_SEARCH_LIMIT" in failed(atlas("node", "Cart", *place.options, env={"ATLAS_SEARCH_LIMIT": "0"}), 2)


def test_no_traceback_unless_asked_for(place: Place) -> None:
    done = atlas("search", "", *place.options, env={"ATLAS_DEBUG": "1"})
    assert "Traceback" in done.stderr
    assert done.returncode == 2


def test_a_python_without_the_packages_is_named_instead_of_a_bug(place: Place) -> None:
    command = [sys.executable, "-S", "-m", "atlas", "status"]
    done = subprocess.run(command, cwd=place.root, env=environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert f"is not installed for this Python ({sys.version_info[0]}.{sys.version_info[1]}, " in done.stderr
    assert "It needs Python 3.11 or newer." in done.stderr and "bug" not in done.stderr


def test_a_reader_that_goes_away_is_no_error(place: Place) -> None:
    with subprocess.Popen(
        [*COMMAND, "export", *place.options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 1


def test_control_characters_of_the_index_do_not_reach_the_terminal(place: Place) -> None:
    done = atlas("search", "cart \x1b[31mred\x1b[0m", *place.options)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout


def test_export_is_sorted_complete_and_canonical(place: Place) -> None:
    lines = [json.loads(line) for line in atlas("export", "--canonical", *place.options).stdout.splitlines()]
    nodes = [line for line in lines if "label" in line]
    edges = [line for line in lines if "type" in line]
    assert len(nodes) + len(edges) == len(lines)
    status = json.loads(atlas("status", "--json", *place.options).stdout)["projects"][0]
    assert (len(nodes), len(edges)) == (status["nodes"], status["edges"])
    assert "shop:shop.cart.Cart" in {node["uid"] for node in nodes}
    assert any(edge["lines"] for edge in edges)
    assert all(edge["lines"][:1] == ([edge["line"]] if edge["line"] else []) for edge in edges)
    places = [(node["path"], node["uid"]) for node in nodes]
    assert places == sorted(places)
    text = atlas("export", "--canonical", *place.options).stdout
    assert str(place.root) not in text
    full = atlas("export", *place.options).stdout.splitlines()
    assert json.loads(full[0])["root"] == str(place.root)
    assert full[1:] == text.splitlines()


def test_graphml_is_well_formed_and_holds_the_same_graph(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "graph.xml"
    done = atlas("export", "--format", "graphml", "-o", str(file), "--json", *place.options)
    assert json.loads(done.stdout)["output"] == str(file)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["data", "graph.xml", "shop"]
    space = "{http://graphml.graphdrawing.org/xmlns}"
    root = ElementTree.parse(file).getroot()
    keys = {key.get("id"): key for key in root.iter(f"{space}key")}
    nodes = {node.get("id") for node in root.iter(f"{space}node")}
    edges = list(root.iter(f"{space}edge"))
    exported = [json.loads(line) for line in atlas("export", "--canonical", *place.options).stdout.splitlines()]
    assert nodes == {line["uid"] for line in exported if "label" in line}
    assert len(edges) == sum("type" in line for line in exported)
    assert all(edge.get("source") in nodes and edge.get("target") in nodes for edge in edges)
    assert {data.get("key") for data in root.iter(f"{space}data")} <= set(keys)


CLIENTS = {
    "cursor": ("mcpServers", "code-atlas"),
    "windsurf": ("mcpServers", "code-atlas"),
    "jetbrains": ("mcpServers", "code-atlas"),
    "vscode": ("servers", "code-atlas"),
    "gemini-cli": ("mcpServers", "code-atlas"),
    "copilot-cli": ("mcpServers", "code-atlas"),
    "zed": ("context_servers", "code-atlas"),
    "cline": ("mcpServers", "code-atlas"),
    "opencode": ("mcp", "code-atlas"),
    "codex": ("mcp_servers", "code-atlas"),
}


def test_printed_configurations_start_a_server(place: Place) -> None:
    (place.root / "json.py").write_text("raise SystemExit('the project was imported')\n")
    commands: dict[tuple[str, ...], str] = {}
    for client, path in CLIENTS.items():
        done = atlas("mcp", "--print-config", client, *place.options)
        document = tomllib.loads(done.stdout) if client == "codex" else json.loads(done.stdout)
        entry = document[path[0]][path[1]]
        command = entry["command"] if client == "opencode" else [entry["command"], *entry["args"]]
        assert command[-4:] == ["--project", str(place.root), "--data-dir", str(place.data)], client
        commands[tuple(command)] = client
    for command, client in commands.items():
        started = subprocess.run(
            command,
            cwd=place.root,
            input="",
            capture_output=True,
            text=True,
            timeout=60,
            env=environment(),
        )
        assert (started.returncode, started.stdout, started.stderr) == (0, "", ""), client


def test_printed_command_for_claude_code(place: Place) -> None:
    words = ("mcp", "--print-config", "claude-code", "--project", str(place.root))
    done = atlas(*words, env=dict.fromkeys(FOLDER_VARIABLES, ""))
    assert done.stdout.startswith("claude mcp add code-atlas -- ")
    assert done.stdout.endswith(f" mcp --project {place.root}\n")
    # clients start servers without these variables, which say where index, key, notes and packs are
    moved = {"XDG_CACHE_HOME": "/c", "XDG_CONFIG_HOME": "/k", "XDG_DATA_HOME": "/d", "ATLAS_PACKS": "/p"}
    options = " ".join(f"-e {name}={folder}" for name, folder in moved.items())
    assert atlas(*words, env=moved).stdout.startswith(f"claude mcp add code-atlas {options} -- ")
    assert moved_folders({"ATLAS_PACKS": "packs", "XDG_DATA_HOME": ""}) == {"ATLAS_PACKS": str(Path.cwd() / "packs")}


@pytest.mark.parametrize(
    ("client", "path", "key"),
    [
        ("cursor", "mcpServers", "url"),
        ("vscode", "servers", "url"),
        ("windsurf", "mcpServers", "serverUrl"),
        ("jetbrains", "mcpServers", "url"),
        ("gemini-cli", "mcpServers", "httpUrl"),
        ("opencode", "mcp", "url"),
        ("zed", "context_servers", "url"),
    ],
)
def test_printed_configuration_of_a_server_over_http(place: Place, client: str, path: str, key: str) -> None:
    options = ("mcp", "--transport", "http", "--port", "4321", "--print-config", client, *place.options)
    plain = json.loads(atlas(*options, "--no-token").stdout)[path]["code-atlas"]
    assert plain[key] == "http://127.0.0.1:4321/mcp"
    assert "headers" not in plain
    secret = "this-is-not-to-be-printed"
    done = atlas(*options, "--host", "::", "--tls-cert", "x.pem", env={"ATLAS_MCP_TOKEN": secret})
    guarded = json.loads(done.stdout)
    assert guarded[path]["code-atlas"][key] == f"https://{socket.gethostname()}:4321/mcp"
    assert guarded[path]["code-atlas"]["headers"]["Authorization"].startswith("Bearer ")
    assert ("inputs" in guarded) == (client == "vscode")
    assert secret not in done.stdout + done.stderr


def test_printed_command_for_claude_code_over_http(place: Place) -> None:
    options = ("mcp", "--transport", "http", "--print-config", "claude-code", *place.options)
    line = "claude mcp add --transport http code-atlas http://127.0.0.1:8765/mcp"
    assert atlas(*options, "--no-token").stdout == f"{line}\n"
    # the shell must not insert the token: it would stand in the process list and in the client's file
    assert atlas(*options, "--token-file", "anything").stdout == (
        f"{line} --header 'Authorization: Bearer ${{ATLAS_MCP_TOKEN}}'\n"
    )
    assert "fixed port" in failed(atlas(*options, "--port", "0"), 2)


def test_help_names_every_command_and_exit_code() -> None:
    done = atlas("--help")
    for name in (
        "index",
        "search",
        "node",
        "context",
        "cypher",
        "status",
        "health",
        "schema",
        "export",
        "mcp",
        "config",
    ):
        assert f"\n  {name} " in done.stdout
    assert "130 interrupted" in done.stdout
    started = time.perf_counter()
    atlas("--version")
    print(f"atlas --version: {time.perf_counter() - started:.2f} s")


def commands(group: TyperGroup, name: str = "atlas") -> Iterator[tuple[str, TyperCommand]]:
    """Every command below a group with its full name."""
    for each, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from commands(command, f"{name} {each}")
        else:
            assert isinstance(command, TyperCommand)
            yield f"{name} {each}", command


COMMANDS = dict(commands(get_group(create_app())))
WITH_EXAMPLES = ("index", "search", "node", "context", "cypher", "status", "health", "export", "mcp", "connect")


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_of_the_help_can_be_typed(name: str) -> None:
    command = COMMANDS[f"atlas {name}"]
    lines = [line.strip() for line in (command.epilog or "").splitlines() if line.startswith("  atlas ")]
    assert len(lines) >= 2
    for line in lines:
        words = shlex.split(line.partition(" > ")[0])
        assert words[:2] == ["atlas", name]
        command.make_context(name, words[2:])


def test_help_shows_examples_and_one_default() -> None:
    shown = atlas("mcp", "--help").stdout
    assert "\n    atlas mcp --print-config codex\n" in shown
    assert "default: -1" not in shown


@pytest.mark.parametrize("question", ["cart", "callers of Cart"])
def test_a_path_without_files_is_named(place: Place, question: str) -> None:
    done = atlas("search", question, "--path", "nowhere/", *place.options)
    assert "no indexed file matches path `nowhere/`" in done.stdout


def test_words_of_one_letter_are_explained(place: Place) -> None:
    done = atlas("search", "x", "--mode", "text", *place.options)
    assert "words of one letter are not indexed" in done.stdout


def test_the_ranking_is_explained_and_its_stages_can_be_switched_off(place: Place) -> None:
    shown = atlas("search", "sum the prices of the basket", "--explain", "-n", "2", *place.options).stdout
    assert "stages off: none" in shown and "found by words" in shown and " text=" in shown
    done = atlas(
        "search",
        "sum the prices of the basket",
        "--explain",
        "--json",
        *place.options,
        env={"ATLAS_SEARCH_OFF": "files, titles"},
    )
    document = json.loads(done.stdout)
    assert document["stages"]["files"] == document["stages"]["titles"] == "off"
    assert document["stages"]["grouping"] == "on" and 0 < document["relevance"] <= 1
    assert not any("file" in hit["features"] for hit in document["hits"])
    wrong = failed(atlas("search", "x", *place.options, env={"ATLAS_SEARCH_OFF": "title"}), 2)
    assert "Did you mean 'titles'?" in wrong


def test_the_home_folder_is_not_indexed_by_accident(tmp_path: Path) -> None:
    home = tmp_path / "users" / "me"
    home.mkdir(parents=True)
    (home / "a.py").write_text("def f(): ...\n")
    for folder in (home, home.parent, Path("/")):
        text = failed(atlas("index", str(folder), env={"HOME": str(home), "XDG_CACHE_HOME": ""}), 2)
        assert "the home folder" in text
        assert "--yes" in text
    done = atlas("index", "--yes", cwd=home, env={"HOME": str(home), "XDG_CACHE_HOME": ""})
    assert done.returncode == 0
    assert "next:  atlas search" in done.stdout


def test_interrupting_exits_130(place: Place) -> None:
    process = subprocess.Popen(
        [*COMMAND, "mcp", *place.options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    assert process.stdin is not None
    assert process.stdout is not None
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    os.kill(process.pid, signal.SIGINT)
    # before its input ends, which is another way to stop it
    assert process.wait(timeout=30) == 130
    _, log = process.communicate(timeout=30)
    assert log == b""


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_no_command_ends_because_the_terminal_lacks_a_character(tmp_path: Path, locale: dict[str, str]) -> None:
    place = Place(tmp_path / "größe", tmp_path / "data")
    place.root.mkdir()
    (place.root / "naïve.py").write_text('def größe():\n    """Länge → 🚀"""\n    return 1\n', encoding="utf-8")
    for arguments in (
        ("index", "--project"),
        ("search", "größe", "--project"),
        ("search", "--json", "größe", "--project"),
        ("node", "größe", "--project"),
        ("context", "größe", "--project"),
        ("impact", "größe", "--project"),
        ("cypher", "MATCH (n) RETURN n.name", "--project"),
        ("status", "--project"),
        ("schema", "--project"),
    ):
        command = [*COMMAND, *arguments, str(place.root), "--data-dir", str(place.data)]
        done = subprocess.run(command, env=environment(**locale), capture_output=True, timeout=120)
        assert done.returncode == 0, (arguments, done.stderr)
        assert b"Error" not in done.stderr
        encoding = "latin-1" if "latin-1" in locale.values() else "ascii"
        text = done.stdout.decode(encoding)
        if "--json" in arguments:
            assert "größe" in json.dumps(json.loads(text), ensure_ascii=False)
        if arguments[0] == "context":
            assert ("Länge \\u2192 \\ud83d\\ude80" if encoding == "latin-1" else "L\\u00e4nge \\u2192") in text
