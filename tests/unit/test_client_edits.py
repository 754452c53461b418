"""Edits of JSON with comments and of TOML: the value is there afterwards, and everything else keeps its bytes."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas.cli.clients import jsonc, section, toml_text
from atlas.cli.clients.edits import BrokenText, apply, revert
from atlas.core.errors import ConfigError

KEY = ("mcpServers", "code-atlas")
ENTRY = {"command": "/bin/atlas", "args": ["mcp", "--project", "/p ä\"'\\"]}

JSON_TEXTS = {
    "empty": "",
    "blank": "\n\n",
    "object": "{}",
    "object with a line": "{\n}\n",
    "only comments": "// Zed settings\n/* more */\n",
    "other settings": '{\n  "theme": "dark"\n}\n',
    "four spaces": '{\n    "theme": "dark",\n    "mcpServers": {\n        "x": {"command": "x"}\n    }\n}\n',
    "tabs": '{\n\t"mcpServers": {\n\t\t"x": {"command": "x"}\n\t},\n\t"a": [1, 2]\n}',
    "trailing commas": '{\n  "mcpServers": {\n    "x": {"command": "x",},\n  },\n}\n',
    "comments": (
        '// head\n{\n  // servers\n  "mcpServers": { // here\n    "x": {"url": "http://x//y"} // "code-atlas": 1\n'
        '    /* last, } */\n  }, /* after */\n  "z": "/* no comment */" // tail\n}\n// end\n'
    ),
    "one line": '{"mcpServers": {"x": {"command": "x"}}, "a": 1}',
    "one line, empty": '{"a": 1, "mcpServers": {}}',
    "empty servers": '{\n  "mcpServers": {}\n}\n',
    "empty servers with a comment": '{\n  "mcpServers": {\n    // none yet\n  }\n}\n',
    "crlf": '{\r\n  "a": 1, // x\r\n  "mcpServers": {\r\n    "x": {}\r\n  }\r\n}\r\n',
    "closing brace on the line": '{ "a": 1,\n  "b": [",", "}"] }',
    "comma on the next line": '{\n  "a": 1\n  , "b": 2\n}\n',
    "a name that looks like ours": '{\n  "x": "mcpServers",\n  "mcpServers": {"code-atlas2": {"a": "code-atlas"}}\n}',
    "twice the same key": '{\n  "mcpServers": {"a": 1},\n  "mcpServers": {"b": 2}\n}',
    "something of ours in between": '{\n  "mcpServers": {\n    "code-atlas": {"command": "old"},\n    "x": {}\n  }\n}\n',
    "ours last": '{\n  "mcpServers": {\n    "x": {}, // keep\n    "code-atlas": {"command": "old"}\n  }\n}\n',
    "ours first on the line": '{"mcpServers": {"code-atlas": {"command": "old"}, "x": {}}}',
}


@pytest.mark.parametrize("text", JSON_TEXTS.values(), ids=JSON_TEXTS)
def test_json_gets_the_entry_and_loses_it_again(text: str) -> None:
    before = jsonc.load(text)
    edits = jsonc.put(text, KEY, ENTRY)
    after = apply(text, edits)
    expected = {**before, KEY[0]: {**before.get(KEY[0], {}), KEY[1]: ENTRY}}
    assert jsonc.load(after) == expected
    assert revert(after, edits) == text
    assert ("\r" in after) == ("\r" in text)
    for line in text.splitlines():
        assert "//" not in line or line[line.rindex("//") :] in after
    again = jsonc.put(after, KEY, ENTRY)
    assert apply(after, again) == after, "the second time changes nothing"

    # taken out by its structure, as after edits elsewhere
    out = apply(after, jsonc.remove(after, KEY))
    servers = {name: one for name, one in before.get(KEY[0], {}).items() if name != KEY[1]}
    assert jsonc.load(out) == {**before, KEY[0]: servers}
    if not before.get(KEY[0]) and text.strip():
        made = jsonc.made_for(before, KEY)
        bare = apply(after, jsonc.remove(after, KEY, made))
        assert jsonc.load(bare) == before


def test_json_looks_as_its_file_does() -> None:
    after = apply(JSON_TEXTS["tabs"], jsonc.put(JSON_TEXTS["tabs"], KEY, {"command": "c"}))
    assert after == (
        '{\n\t"mcpServers": {\n\t\t"x": {"command": "x"},\n\t\t"code-atlas": {\n\t\t\t"command": "c"\n\t\t}\n\t},\n'
        '\t"a": [1, 2]\n}'
    )
    after = apply(JSON_TEXTS["one line"], jsonc.put(JSON_TEXTS["one line"], KEY, {"command": "c"}))
    assert after == '{"mcpServers": {"x": {"command": "x"}, "code-atlas": {"command": "c"}}, "a": 1}'
    text = JSON_TEXTS["trailing commas"]
    after = apply(text, jsonc.put(text, KEY, {"command": "c"}))
    assert after.endswith('    "code-atlas": {\n      "command": "c"\n    },\n  },\n}\n')


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
)


@given(
    st.dictionaries(st.sampled_from(["a", "mcpServers", "b//", "/*", ",}"]), VALUES, max_size=4),
    st.sampled_from([None, 1, 2, "\t"]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_any_json_keeps_all_other_values(
    document: dict[str, object], indent: int | str | None, commented: bool
) -> None:
    if not isinstance(document.get("mcpServers", {}), dict):
        document["mcpServers"] = {"x": document["mcpServers"]}
    text = json.dumps(document, indent=indent)
    if commented and indent:
        text = text.replace("\n", " // it's {\n")
    after = apply(text, jsonc.put(text, KEY, ENTRY))
    servers = document.get("mcpServers", {})
    assert isinstance(servers, dict)
    assert jsonc.load(after) == {**document, "mcpServers": {**servers, "code-atlas": ENTRY}}
    out = apply(after, jsonc.remove(after, KEY, jsonc.made_for(document, KEY)))
    left = {name: one for name, one in servers.items() if name != "code-atlas"}
    assert jsonc.load(out) == ({**document, "mcpServers": left} if "mcpServers" in document else document)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3),
        ('{\n  "a": 1,,\n}', 2),
        ("{,}", 1),
        ("[]", 1),
        ('{"a": [1,2}', 1),
        ("{} {}", 1),
        ('{\n\n "a": "open\n}', 3),
        ("{} /* open", 1),
        ("{}\n/*/", 2),
        ("[" * 100_000, 1),
        ("{'a': 1}", 1),
        ('{"a": 1', 1),
    ],
)
def test_broken_json_is_reported_with_its_line(text: str, line: int) -> None:
    with pytest.raises(BrokenText) as caught:
        jsonc.load(text)
    assert caught.value.line == line
    assert f"line {line}" in caught.value.message


@pytest.mark.parametrize("text", ['{"mcpServers": []}', '{\n"mcpServers": null}', '{"mcpServers": "x"}'])
def test_json_with_another_value_in_the_way_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="mcpServers is not an object"):
        jsonc.put(text, KEY, ENTRY)


@pytest.mark.parametrize("text", ["/*" * 100_000, '"\\' * 100_000, "{" + "," * 100_000, '{"a' * 100_000])
def test_hostile_json_is_rejected_in_linear_time(text: str) -> None:
    with pytest.raises(BrokenText):
        jsonc.load(text)


TABLE = ("mcp_servers", "code-atlas")
TOML_TEXTS = {
    "empty": "",
    "no line end": 'model = "x"',
    "other tables": '# head\nmodel = "x" # why\n\n[mcp_servers.x]\ncommand = "x" # [mcp_servers.code-atlas]\n\n[tools]\na = 1\n',
    "strings with brackets": 'a = """\n[mcp_servers.code-atlas]\n"""\nb = [\n  "[x]", # ]\n  \'\'\'\n[y]\'\'\'\n]\n[t]\nc = {d = "}"}\n',
    "crlf": "[tools]\r\na = 1\r\n",
    "ours": '[a]\nx = 1\n\n[mcp_servers.code-atlas]\ncommand = "old"\n\n[mcp_servers.code-atlas.env]\nX = "1"\n\n# about b\n[b]\ny = 2\n',
    "ours, quoted": "[ mcp_servers . 'code-atlas' ]\ncommand = \"old\"\n",
    "ours as a key": '[mcp_servers]\ncode-atlas = { command = "old" }\nx.command = "x"\n',
    "ours, in two places": '[mcp_servers.code-atlas]\ncommand = "old"\n[b]\ny = 2\n[mcp_servers.code-atlas.env]\nX = "1"\n[[c]]\n',
    "array of tables": '[[products]]\nname = "a"\n[[products]]\nname = "b"\n',
}


@pytest.mark.parametrize("text", TOML_TEXTS.values(), ids=TOML_TEXTS)
def test_toml_gets_the_table_and_loses_it_again(text: str) -> None:
    before = tomllib.loads(text)
    entry = {**ENTRY, "env": {"XDG_CACHE_HOME": "/c", "a b": "\x7f"}}
    edits = toml_text.put(text, TABLE, entry)
    after = apply(text, edits)
    servers = before.get("mcp_servers", {})
    assert tomllib.loads(after) == {**before, "mcp_servers": {**servers, "code-atlas": entry}}
    assert revert(after, edits) == text
    assert apply(after, toml_text.put(after, TABLE, entry)) == after
    for line in text.splitlines():
        if "#" in line and "]" not in line:
            assert line in after
    assert after.count("\r\n") == (after.count("\n") if "\r" in text else 0)

    out = tomllib.loads(apply(after, toml_text.remove(after, TABLE)))
    left = {name: one for name, one in servers.items() if name != "code-atlas"}
    assert out.get("mcp_servers", {}) == left
    assert {**out, "mcp_servers": 0} == {**before, "mcp_servers": 0}


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb =\n", 2), ("[a]\n[a]\n", 2), ('a = "x\n', 1), ("a = 1\n" + "b." * 40 + "c = 1\n", 2), ("[" * 2000, 1)],
)
def test_broken_toml_is_reported_with_its_line(text: str, line: int) -> None:
    with pytest.raises(BrokenText) as caught:
        toml_text.load(text)
    assert caught.value.line == line


def test_a_long_line_of_prose_is_no_long_key() -> None:
    text = f'a = """\n{"One. Two, three; four. " * 60}\n"""\nb = ["{"a.b" * 60}"]\n'
    assert toml_text.load(text) == tomllib.loads(text)


@pytest.mark.parametrize("text", ["", "# Rules\n", "# Rules\n\nBe kind.", "a\r\nb\r\n"])
def test_a_section_is_added_replaced_and_removed(text: str) -> None:
    edits = section.put(text, (), "one\ntwo")
    after = apply(text, edits)
    assert section.load(after) == "one\ntwo"
    assert after.startswith(text)
    assert revert(after, edits) == text
    more = f"{after}\n# More\n"
    changed = apply(more, section.put(more, (), "three"))
    assert section.load(changed) == "three"
    assert changed.endswith("\n# More\n")
    left = apply(changed, section.remove(changed, ()))
    assert [line for line in left.splitlines() if line] == [*(line for line in text.splitlines() if line), "# More"]


def test_half_a_section_is_refused() -> None:
    with pytest.raises(BrokenText, match="line 2"):
        section.load(f"a\n{section.BEGIN}\nb\n")
