"""Spell modules of a question as paths: `load the duration plugin`, `localizedFormat's utils file`. Reads the index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from atlas.code.reader import Reader
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import Filter, Match

_OF_KIND = lazy_regex(
    r"\b(?P<verb>loads?|loading|imports?|importing|requires?|requiring|includes?|including|uses?|using)"
    r" (?:the |our )?[`'\"]?(?P<name>[A-Za-z][\w-]{1,60})[`'\"]?"
    r" (?P<kind>[a-z]{3,20})(?P<end>[?.!,;]|$| (?=in|from|and|or)\b)"
)
_OF_OWNER = lazy_regex(
    r"(?<!\S)(?:the )?[`'\"]?(?P<owner>[A-Za-z][\w-]{1,60})[`'\"]?(?:'s|’s) [`'\"]?(?P<name>[A-Za-z][\w-]{1,60})[`'\"]?"
    r" (?:file|module|script)\b"
)
_LOADS = lazy_regex(r"\b(?P<verb>loads?|loading)(?= (?:the |our )?(?:module |file )?[`'\"]?[\w.@-]{1,60}/)")
_IMPORTS = {"load": "import", "loads": "imports", "loading": "importing"}
_NO_KINDS = frozenset(("file", "files", "module", "modules", "package", "class", "function", "method", "type"))
MOST_PER_QUESTION = 2


async def spell_modules(reader: Reader, text: str, project: str) -> str:
    """Return a question with the path of a module in place of words that only one file or folder fits.

    To load such a module is to import it. Raises store errors.
    """
    matches = [*_OF_OWNER.finditer(text), *_OF_KIND.finditer(text)][:MOST_PER_QUESTION]
    if matches:
        paths = await reader.store.paths(project)
        for match in matches:
            said = match.groupdict()
            kind = said.get("kind") or ""
            if kind in _NO_KINDS:
                continue
            found = _named(paths, said["owner"], said["name"]) if not kind else _of_kind(paths, kind, said["name"])
            own = [each for each in dict.fromkeys(found) if await _is_code(reader, paths, each, project)]
            if len(own) == 1:
                verb = f"{said['verb']} " if kind else ""
                text = text.replace(match[0], f"{verb}{own[0]}{said.get('end') or ''}", 1)
    return _LOADS.sub(lambda match: _IMPORTS[match["verb"]], text)


def _of_kind(paths: Iterable[str], kind: str, name: str) -> Iterator[str]:
    """Yield the files and folders of a name in a folder for things of a kind: `plugin/duration`."""
    for path in paths:
        parts = path.split("/")
        for at, part in enumerate(parts[:-1]):
            if part in (kind, f"{kind}s") and parts[at + 1].partition(".")[0] == name:
                yield "/".join(parts[: at + 2])


def _named(paths: Iterable[str], owner: str, name: str) -> Iterator[str]:
    """Yield the files of a name in a folder."""
    for path in paths:
        parts = path.split("/")
        if len(parts) > 1 and parts[-2] == owner and parts[-1].partition(".")[0] == name:
            yield path


async def _is_code(reader: Reader, paths: Iterable[str], place: str, project: str) -> bool:
    """Return whether a file or folder holds code that is neither a test nor a declaration."""
    inside = [path for path in paths if path == place or path.startswith(f"{place}/")]
    for path in inside:
        nodes = await reader.store.find(path, Match.PATH, Filter(project=project), 1)
        if nodes and not nodes[0].row.is_test and not path.endswith(reader.languages.declarations):
            return True
    return False
