"""Make `betterleaks.toml`, the rules that the scanner compiles in, from the file of rules that Betterleaks publishes.

    cd rust-parser/secret-rules && python import_rules.py config/betterleaks.toml VERSION > betterleaks.toml

Kept of a rule: its id, regular expression, keywords, least entropy, and the conditions on the value that this script
understands. Left out: rules that only support another one (`skipReport`), the generic rules (`rust-parser/secrets/src/`
has its own), and everything that calls a provider to validate a finding.
"""

import re
import sys
import tomllib
from pathlib import Path

REPLACED = {
    "curl-auth-header",
    "curl-auth-user",
    "gcp-service-account",
    "generic-api-key",
    "generic-credential-uri",
    "generic-password",
    "generic-username",
    "hashicorp-tf-password",
    "jwt",
    "jwt-base64",
    "kubernetes-secret-yaml",
    "mongodb-connection-string",
    "nuget-config-password",
    "pkcs12-file",
    "private-key",
}
"""Rules that need a path, a whole document or unbounded context, or that `own.toml` and the scanner do better."""

HEADER = """# Rules of Betterleaks, the successor of gitleaks: https://github.com/betterleaks/betterleaks
# {version}, config/betterleaks.toml, MIT licence: betterleaks.LICENSE, Copyright (c) 2026 Zachary Rice
# Made by import_rules.py. Do not edit: rules of our own are in own.toml.
"""

TAIL = r"""(?:\\?['"\x60]|[\s;]|\\[nr]|$)"""
"""What must follow a value there: a quote, blank or semicolon."""
OUR_TAIL = r"(?:[.]?(?:[^\w.+/=(-]|$))"
"""What must follow it here: anything that cannot continue it, such as the bracket of a call, a tag or `&`."""

_ENTROPY = re.compile(r'entropy\(finding\["secret"\]\) <=? ([\d.]+)')
_MATCHES = re.compile(r'(!?)matchesAny\(finding\["secret"\], \[(.*?)\]\)(?=\s*(?:\|\||\Z))', re.DOTALL)
_PATTERN = re.compile(r'`([^`]*)`|"((?:[^"\\]|\\.)*)"')


def main(source: str, version: str) -> None:
    """Write the rules of a file in our form to stdout."""
    rules = tomllib.loads(Path(source).read_text("utf-8"))["rules"]
    sys.stdout.write(HEADER.format(version=version) + "\n")
    for rule in rules:
        if "regex" in rule and not rule.get("skipReport") and rule["id"] not in REPLACED:
            sys.stdout.write("\n".join(_lines(rule)) + "\n\n")


def _lines(rule: dict[str, object]) -> list[str]:
    condition = str(rule.get("filter", ""))
    name = re.sub(r"[.]\d+$", "", str(rule["id"]))
    lines = ["[[rules]]", f'id = "{name}"', f"regex = {_literal(str(rule['regex']).replace(TAIL, OUR_TAIL))}"]
    lines.append(f"keywords = {_list(rule['keywords'])}")
    if found := _ENTROPY.search(condition):
        lines.append(f"entropy = {float(found[1])}")
    if "tokenRatio" in condition:
        lines.append('check = "random"')
    if "valueGroup" in rule:
        lines.append(f"group = {rule['valueGroup']}")
    conditions: dict[str, list[str]] = {"allow": [], "require": []}
    for negated, listed in _MATCHES.findall(condition):
        patterns = [quoted or escaped for quoted, escaped in _PATTERN.findall(listed)]
        # Published example keys are kept as digests, in examples.txt: a key in clear text alarms every other scanner.
        patterns = [each for each in patterns if not re.fullmatch(r"AIz[\w-]+", each)]
        conditions["require" if negated else "allow"].extend(patterns)
    lines.extend(f"{name} = {_list(patterns)}" for name, patterns in conditions.items() if patterns)
    return lines


def _literal(text: str) -> str:
    if "'''" in text:
        raise ValueError(text)
    return f"'''{text}'''"


def _list(items: object) -> str:
    assert isinstance(items, list)
    return "[" + ", ".join(_literal(str(item)) for item in items) + "]"


if __name__ == "__main__":
    main(*sys.argv[1:])
