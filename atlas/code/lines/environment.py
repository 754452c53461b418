"""Environment variables: which ones the code reads, and what one of them does.

The graph has the reads and definitions whose name is literal, in the languages that have rules for them. The indexed
texts add those of other languages, and names that are put together at run time, which are listed as they are written: a
read is a call or an index by which a language gives a variable (`os.environ`, `getenv`), and a name that is a constant
is looked up where the constant is assigned.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from atlas.code.lines.asked_words import mentions, topic_words
from atlas.code.lines.environment_helpers import (
    MADE,
    calls_of_helpers,
    decides_about,
    is_parameter,
    moment_of,
    names_of_loop,
)
from atlas.code.lines.environment_mappings import reads_of_mappings
from atlas.code.lines.line_report import LineReport, TextLine, several, shown
from atlas.code.lines.scan_texts import (
    IndexedText,
    TextMatch,
    definitions_around,
    is_aside,
    is_document,
    scan_texts,
    with_rest,
)
from atlas.code.lines.settings import lines_of_defaults
from atlas.code.question.parse_question import Query
from atlas.code.reader import Reader
from atlas.code.retrieve.channels import keeps
from atlas.core.lazy_regex import lazy_regex
from atlas.core.model import STRUCTURE_PATH, Direction, EdgeType, Filter, Label, Match, Node
from atlas.core.wording import counted

_ASKS = lazy_regex(r"\benv(?:ironment(?:al)?)?[- ]?var(?:iable)?s?\b|\benviron(?:ment)? settings\b", re.IGNORECASE)
_READS = lazy_regex(r"\bvariables\b.*\b(?:read|consult|honou?r|respect)", re.IGNORECASE)
_OF_ONE = lazy_regex(r"\b(?:reads?|sets?)\b", re.IGNORECASE)
_LISTS = lazy_regex(
    r"^(?:\W*(?:please|can you|could you|show|list|give|find|tell|name|all|me|us|the|and|of|any|every"
    r"|are there|is there)\b)*"
    r"\W*(?:(?:what|which)(?:'s| is| are)?\b|(?:the |all |every |any )*(?:\w+ )?env|does|do|where|how)",
    re.IGNORECASE,
)
_CONSTANT = lazy_regex(r"(?<![\w.$-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w(])")
_BEGINS = lazy_regex(r"`?(?<!\w)(_?[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*)\*`?")
"""`_ZO_*`: all variables that begin with it."""
_NAME = r"(?P<{0}>[A-Za-z_]\w*)"
_QUOTED_NAME = r"[\"'`]{0}[\"'`]"
_IDENTIFIER = r"(?P<at>[A-Za-z_][\w.:]*(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))?)"
_CALLS = (
    r"(?:\bos\.environ(?:\.(?:get|pop|setdefault))?|\benviron\.get|\bENV(?:\.(?:fetch|key\?|include\?|has_key\?|delete|dig))?"
    r"|\$_ENV|\$_SERVER|\$ENV|\b(?:std::)?env::var(?:_os)?|\b(?:option_)?env!|\bsys\.env(?:\.(?:get|getOrElse|contains))?"
    r"|\bos\.(?:Getenv|LookupEnv|getenv|unsetenv)|\b\w*[gG]et_?[eE]nv(?:ironment)?(?:_?[vV]ar(?:iable)?)?s?\w*"
    r"|\bSystem\.(?:get_env|fetch_env!?)|\bDeno\.env\.get|\bprocess\.env|\bimport\.meta\.env|\bPlatform\.environment"
    r"|\bprocessInfo\.environment|\bSys\.getenv|\bviper\.BindEnv|\bGetEnvironmentVariable|\bEnvironment\.GetEnvironmentVariable"
    r"|\bLookupEnv|\bgetEnvVarOwned|\bfromEnvironment|\bposix\.getenv)"
)
_READ = lazy_regex(
    "|".join(
        (
            rf"{_CALLS}\s*[\[(]\s*&?(?:\w{{1,10}}[.!(]{{1,2}}\w{{0,10}}\(?|[f$@])?(?P<made>{MADE})",
            rf"{_CALLS}\s*\??\.?[\[({{]{{1,2}}\s*(?:[\w.]+,\s*)?{_QUOTED_NAME.format(_NAME.format('called'))}",
            rf"(?:\bprocess\.env|\bimport\.meta\.env|\bBun\.env)\.{_NAME.format('dotted')}",
            rf"{_QUOTED_NAME.format(_NAME.format('inside'))}\s+(?:not\s+)?in\s+os\.environ\b",
            r"\$ENV\{(?P<perl>\w+)\}",
            r"\$\{(?P<shell>[A-Z_][A-Z0-9_]*):?[-=?+](?![+.-])",
            r"\b(?:env|envconfig|[eE]nv(?:ironment)?_?[vV]ar(?:iable)?s?(?:_?[nN]ames?)?|validation_alias)\s*[=:(]\s*"
            r"(?:\[\]string\{|\[)?\s*"
            r"[\"'](?P<declared>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)\b",
            rf"(?:\bos\.(?:Getenv|LookupEnv|getenv|environ(?:\.get)?)|\benv::var(?:_os)?|\bprocess\.env|\bSystem\.getenv"
            rf"|\bENV(?:\.fetch)?|\bGetEnvironmentVariable|(?<![\w.>])getenv)[(\[]\s*&?{_IDENTIFIER}\s*[,)\]]",
            r"(?P<handed>&System\.(?:get_env|fetch_env!?)/1|\bSystem::getenv\b|\bos\.(?:getenv|environ\.get|Getenv)(?=\s*[,)]))",
            r"\b(?:env|environ|environment|_env)(?:\.(?:fetch|get|key\?))?[\[(]\s*[\"'](?P<passed>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)[\"']",
        )
    )
)
_MADE_WITH = lazy_regex(r"(?:\.\w{1,30}\(\))*[}\"'`)]{0,3}(?:\s?[+.~]\s?[\"'])?(?:_[A-Z0-9_]+[\"'`])?")
_DOCUMENTED = lazy_regex(r"(?:^#+ [^\n]*?|`|\*\*|\$)([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b", re.MULTILINE)
_CHANGES = lazy_regex(r"(?:^|/)(?:changes?|changelog|history|news|releases?|upgrad\w*)\b", re.IGNORECASE)
_TOOLS = lazy_regex(
    r"(?:^|/)(?:\.[\w-]+|scripts?|tools?|ci|build|gulpfile\.\w+|rakefile|gemfile|noxfile\.py|setup\.py)(?:/|$)", re.I
)
"""Code that builds or checks the project."""
_ANY = lazy_regex("")
_NEEDLES = (b"env", b"${")
_OF_PARAMETER = lazy_regex(r"(?<!os\.)(?<!\w)environ(?:\.\w+\(|\[)|\bin (?:\w+\.)?(?<!os\.)environ\b")
_IMPORTED = lazy_regex(r"^from os import [^\n]*\benviron\b", re.MULTILINE)
_OF_REQUESTS = lazy_regex(
    r"(?:REQUEST|SERVER|REMOTE|SCRIPT|CONTENT|GATEWAY|PATH|QUERY|HTTP|DOCUMENT|AUTH)_\w+|HTTPS?|PATH_INFO|CHUNKED_BODY"
)
"""Entries of a request's environment (CGI, WSGI, Rack), which are read like variables."""
_PROXIES = frozenset(("HTTP_PROXY", "HTTPS_PROXY"))
_IN_CALL = lazy_regex(r"(?<=[(,|\s])@?[A-Za-z_]\w*(?=\s*[,)|])")
USED_WITHIN = 10
"""Lines behind a read in which what was read is looked for."""
MOST_USES = 2
_ASSIGNED = lazy_regex(r"\s*(?:const |let |var |val |final )?(\w+)(?::[^=]{1,40})?\s*:?=(?!=)")
MAX_LEFT = 30
MOST_QUOTED, MAX_QUOTED = 2, 90
"""Variables that are about a topic of which the line is shown, and characters of it."""
MOST_UNSAID = 3
"""Words of a topic of which is said that no line has them; of more, others stand for them."""
_DEFAULT_OF = lazy_regex(
    r"\bdefault (?:[a-z-]{2,30} ){0,2}?(?P<name>[A-Za-z-]{3,30})(?= (?:of|for|in|on)\b|[?.!]?$)", re.IGNORECASE
)
_ASKS_WHEN = lazy_regex(
    r"\bwhen\b|\bhow often\b|\b(?:only )?once\b|\b(?:on|at|for) (?:each|every|import|load|start|startup)\b"
    r"|\bimport time\b",
    re.IGNORECASE,
)
_NONE_SAYS = "none of these lines says"
MAX_VARIABLES = 5_000
INCOMPLETE = "not all may be counted"
MAX_PLACES = 20_000


@dataclass(frozen=True, slots=True)
class VariablePlace:
    """A line at which code or configuration reads or sets a variable, by its edge."""

    name: str
    node: Node
    """The code or file around it."""
    line: int
    is_written: bool


@dataclass(frozen=True, slots=True)
class EnvironmentRead:
    """A place where code reads or sets a variable."""

    name: str
    """Name of the variable, or the expression that makes it."""
    found: TextMatch
    is_written: bool = False
    is_computed: bool = False
    is_passed: bool = False
    """Whether it is read from a mapping called `env`, which may be that of a request."""
    through: TextMatch | None = None
    """The read in the function of the project that this place calls."""


async def answer_environment(reader: Reader, query: Query, where: Filter) -> LineReport | None:
    """Answer a question about environment variables; None for other questions. Raises store errors."""
    begins = tuple(_BEGINS.findall(query.text))
    query = replace(query, text=_BEGINS.sub("", query.text)) if begins else query
    text = query.text
    named = tuple(dict.fromkeys(_CONSTANT.findall(text)))
    is_asked = bool(begins or _ASKS.search(text) or _READS.search(text))
    is_about_one = bool(named and _OF_ONE.search(text) and await _read_places(reader, where, named))
    is_asked = is_asked or is_about_one
    if not is_asked and not (len(named) == 1 and len(text.split()) <= 12 and query.relation is None):
        return None
    if query.states or query.reports or (is_asked and not named and not _LISTS.match(text)):
        return None
    reads, notes = await read_variables(reader, where)
    if begins:
        reads = [each for each in reads if each.name.startswith(begins)]
        notes = (*notes, f"only those that begin with {', '.join(f'`{each}`' for each in begins)}")
    if named:
        mine = [each for each in reads if each.name in named]
        if mine and (is_asked or not await _is_defined(reader, named[0], where, reads)):
            asks_when = _ASKS_WHEN.search(text) is not None
            return await _about(reader, named, mine, where, notes, asks_when=asks_when)
        if not is_asked:
            return None
    documented = await _documented(reader, where)
    if begins:
        documented = {name: found for name, found in documented.items() if name.startswith(begins)}
    in_code = await _in_code(reader, where, documented.keys() - {each.name for each in reads})
    report = _listed(query, reader.root.name, reads, documented, named, notes, in_code)
    if _NONE_SAYS in report.title and (asked := _DEFAULT_OF.search(text)) is not None:
        # no variable sets it: what does
        report = replace(report, lines=(*report.lines, *await lines_of_defaults(reader, asked["name"], where)))
    # no known form of a read is no proof that there is none: the words are searched then
    return report if report.lines else None


async def read_variables(reader: Reader, where: Filter) -> tuple[list[EnvironmentRead], tuple[str, ...]]:
    """Return the reads and writes of environment variables, and what was not read."""
    scan = await scan_texts(reader, where, _READ, _NEEDLES, lambda path: not is_document(path), is_constant=True)
    reads = [each for found in scan.found if (each := _read(found)) is not None]
    names = {each.name for each in reads if each.is_computed and re.fullmatch(r"[\w.:]+", each.name)}
    values = await _constants(reader, where, {re.split(r"[.:]", name)[-1] for name in names})
    resolved: list[EnvironmentRead] = []
    for each in reads:
        if each.is_computed and (looped := names_of_loop(each.name, each.found)):
            resolved += [EnvironmentRead(name, each.found, each.is_written) for name in looped]
            continue
        value = _assigned(each, values) if each.is_computed else None
        resolved.append(EnvironmentRead(value, each.found, each.is_written) if value else each)
    mapped = await reads_of_mappings(reader, where)
    resolved = await _through_helpers(reader, where, resolved, mapped.computed)
    plain = {each.name for each in resolved if not each.is_passed}
    kept = [
        each for each in resolved if not each.is_passed or each.name in plain or not _OF_REQUESTS.fullmatch(each.name)
    ]
    proven = {(name, found.place) for name, found in mapped.reads}
    kept = [each for each in kept if not (each.is_passed and (each.name, each.found.place) in proven)]
    known = {(each.name, each.found.place) for each in kept}
    kept += [EnvironmentRead(name, found) for name, found in mapped.reads if (name, found.place) not in known]
    known |= proven
    # what a parameter stands for is told where the function is called
    inside = {each.found.place for each in reads if each.is_computed and is_parameter(each.name, each.found)}
    linked = [
        each
        for each in await _linked(reader, where)
        if (each.name, each.found.place) not in known and each.found.place not in inside and not _is_of_request(each)
    ]
    notes = scan.notes
    if mapped.handed_over:
        places = several((each.file.path, each.line) for each in mapped.handed_over)
        notes = (*notes, f"{INCOMPLETE}: all of the environment is handed to code that is not followed at {places}")
    return sorted([*kept, *linked], key=lambda each: each.found.file.is_test), notes


async def _through_helpers(
    reader: Reader, where: Filter, reads: Sequence[EnvironmentRead], mapped: Sequence[tuple[str, TextMatch]]
) -> list[EnvironmentRead]:
    """Return the reads with those through functions of the project in place of the read in the function itself.

    `mapped`: reads with a computed name from what stands for the environment, of which only those of functions count.
    """
    computed = [*((each.name, each.found) for each in reads if each.is_computed), *mapped]
    calls = await calls_of_helpers(reader, where, computed)
    kept = [each for each in reads if not (each.is_computed and each.name in calls)]
    return [
        *kept,
        *(
            EnvironmentRead(variable, found, through=through)
            for calling in calls.values()
            for variable, found, through in calling
        ),
    ]


async def _read_places(reader: Reader, where: Filter, names: Sequence[str] = ()) -> list[VariablePlace]:
    """Return the places of all variables, or of those named, by path and line. Raises store errors."""
    scope = Filter(project=where.project, labels=(Label.ENV_VAR,))
    nodes = await reader.store.find(STRUCTURE_PATH, Match.PATH, scope, MAX_VARIABLES)
    by_uid = {node.row.uid: node.row.name for node in nodes if not names or node.row.name in names}
    types = (EdgeType.READS_ENV, EdgeType.SETS_ENV)
    edges = await reader.store.edges(list(by_uid), Direction.IN, types, MAX_PLACES) if by_uid else []
    found = [
        VariablePlace(by_uid[edge.row.target], edge.node, line, edge.row.type == EdgeType.SETS_ENV)
        for edge in edges
        if keeps(where, edge.node)
        for line in edge.row.lines
    ]
    return sorted(found, key=lambda each: (each.node.row.is_test, each.node.row.path, each.line, each.name))


async def _linked(reader: Reader, where: Filter) -> list[EnvironmentRead]:
    """Return the reads and definitions that the graph has."""
    places = await _read_places(reader, where)
    contents = await reader.store.content(
        where.project or reader.project, sorted({each.node.row.path for each in places})
    )
    files = {
        each.node.row.path: IndexedText(
            each.node.row.path, contents[each.node.row.path].decode("utf-8", "replace"), each.node.row.is_test
        )
        for each in places
        if each.node.row.path in contents
    }
    found: list[EnvironmentRead] = []
    for each in places:
        file = files.get(each.node.row.path)
        if file is not None and 0 < each.line <= len(file.lines) and (match := _ANY.match("")) is not None:
            found.append(EnvironmentRead(each.name, TextMatch(file, each.line, match), each.is_written))
    return found


def _read(found: TextMatch) -> EnvironmentRead | None:
    groups = found.match.groupdict()
    line = found.text.lstrip()
    if line.startswith(("#", "//", "*", "/*")):
        return None
    rest = found.file.text[found.match.end() : found.match.end() + 40].split("\n")[0].lstrip(")]}\"' ")
    is_written = bool(re.match(r"=(?!=|~|>)|\|\|=", rest)) or bool(
        re.search(r"setenv|putenv|set_var", found.match[0], re.I)
    )
    if groups.get("handed"):
        return EnvironmentRead(_names_handed_over(found), found, is_computed=True)
    if groups.get("made"):
        behind = _MADE_WITH.match(found.file.text, found.match.end())
        return EnvironmentRead(f"{groups['made']}{behind[0] if behind else ''}", found, is_computed=True)
    if groups.get("at"):
        return EnvironmentRead(groups["at"], found, is_computed=True)
    name = next(
        (
            groups[key]
            for key in ("called", "dotted", "inside", "perl", "shell", "declared", "passed")
            if groups.get(key)
        ),
        "",
    )
    is_server = "$_SERVER" in found.match[0] and bool(_OF_REQUESTS.fullmatch(name)) and name not in _PROXIES
    if not name or is_server or (name.islower() and "_" not in name and groups.get("called") and len(name) < 3):
        return None
    is_passed = bool(groups.get("passed")) or _is_of_parameter(found)
    return EnvironmentRead(name, found, is_written, is_passed=is_passed)


def _is_of_request(each: EnvironmentRead) -> bool:
    """Return whether a line that the graph takes for a read has an entry of a request's environment."""
    is_plain = _IMPORTED.search(each.found.file.text) is not None or _OF_PARAMETER.search(each.found.text) is None
    return not is_plain and (_OF_REQUESTS.fullmatch(each.name) is not None or "." in each.name)


def _is_of_parameter(found: TextMatch) -> bool:
    """Return whether a read is from a name `environ` that the file does not import: that of a request."""
    return found.match[0].startswith("environ.") and _IMPORTED.search(found.file.text) is None


async def _constants(reader: Reader, where: Filter, names: set[str]) -> dict[str, dict[str, str]]:
    """Return the strings that names are assigned, by file."""
    if not names:
        return {}
    either = "|".join(map(re.escape, sorted(names)))
    pattern = re.compile(rf"\b(?P<name>{either})\b(?:\s*:?\s*[\w&'*]+)?\s*(?::?=)\s*[\"'](?P<value>[A-Za-z_]\w+)[\"']")
    scan = await scan_texts(
        reader, where, pattern, [name.encode() for name in sorted(names)], lambda path: not is_document(path)
    )
    found: dict[str, dict[str, str]] = {}
    for each in reversed(scan.found):
        found.setdefault(each.match["name"], {})[each.file.path] = each.match["value"]
    return found


def _assigned(read: EnvironmentRead, values: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return the string that a constant stands for; a variable counts only in its file, and a parameter never."""
    name = re.split(r"[.:]", read.name)[-1]
    by_path = values.get(name, {})
    if is_parameter(read.name, read.found):
        return None
    own = by_path.get(read.found.file.path)
    others = [] if name.islower() else list(by_path.values())
    return own or (others[-1] if others else None)


async def _documented(reader: Reader, where: Filter) -> dict[str, TextMatch]:
    """Return the variables that documents explain: in a heading, or beside the words "environment variable"."""
    scan = await scan_texts(reader, where, _DOCUMENTED, (b"env", b"# ", b"`"), is_document)
    kept: dict[str, TextMatch] = {}
    for each in scan.found:
        around = "\n".join(each.file.lines[max(0, each.line - 4) : each.line + 3])
        is_about = "environment" in each.file.path.lower() and each.text.startswith("#")
        if not _CHANGES.search(each.file.path) and (is_about or _ASKS.search(around)):
            kept.setdefault(each.match[1], each)
    return kept


async def _in_code(reader: Reader, where: Filter, names: Collection[str]) -> dict[str, str]:
    """Return where code has documented names that no known form of a read has: it may read them in another way."""
    if not names:
        return {}
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b")
    needles = [name.encode() for name in sorted(names)]
    scan = await scan_texts(reader, where, pattern, needles, lambda path: not is_document(path))
    return {each.match[0]: f"in code {each.place}" for each in reversed(scan.found)}


async def _is_defined(reader: Reader, name: str, where: Filter, reads: Sequence[EnvironmentRead]) -> bool:
    """Return whether a definition of the project has the name, other than a place that reads the variable."""
    nodes = await reader.store.find(name, Match.SUFFIX, Filter(project=where.project), 5)
    lines = {(each.found.file.path, each.found.line) for each in reads if each.name == name}
    return any(node.row.label == Label.VALUE and (node.row.path, node.row.line) not in lines for node in nodes)


async def _about(
    reader: Reader,
    names: Sequence[str],
    mine: Sequence[EnvironmentRead],
    where: Filter,
    notes: tuple[str, ...],
    *,
    asks_when: bool,
) -> LineReport:
    lines: list[TextLine] = []
    for each in mine:
        group = "sets" if each.is_written else "tests" if each.found.file.is_test else "reads"
        name = f"{each.name}: " if len(names) > 1 else ""
        lines.append(TextLine(group, each.found.place, f"{name}{_with_next(each.found)}"))
    pattern = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names))
    told = await scan_texts(reader, where, pattern, [name.encode() for name in names], is_document)
    documents = [TextLine("documented", each.place, with_rest(each)) for each in told.found]
    reading = [each for each in mine if not each.is_written]
    read_in = f"read in {counted(len(reading), 'place')}"
    if not reading:  # no known form of a read is no proof that there is none: `env_orig["NAME"]`
        code = await scan_texts(
            reader, where, pattern, [name.encode() for name in names], lambda path: not is_document(path)
        )
        known = {each.found.place for each in mine}
        named = sorted((each for each in code.found if each.place not in known), key=lambda each: each.file.is_test)
        lines += [TextLine("named", each.place, _with_next(each)) for each in named]
        read_in = f"no read is known, {counted(len(named), 'line')} of code {'names' if len(named) == 1 else 'name'} it"
    if asks_when:
        lines += _moments([each for each in reading if not each.found.file.is_test][:MOST_QUOTED])
    order = ("reads", "read_when", "named", "sets", "documented", "tests")
    lines = sorted([*lines, *documents[:6]], key=lambda each: order.index(each.group))
    title = (
        f"environment variable {', '.join(f'`{name}`' for name in names)}: {read_in}"
        f", documented in {counted(len(told.found), 'line')}"
    )
    return LineReport("environment", title, tuple(lines), (*notes, *told.notes))


def _names_handed_over(found: TextMatch) -> str:
    """Return the list whose names a function reads one by one, with its definition: `map(os.getenv, NAMES)`."""
    names = [name for name in _IN_CALL.findall(found.text) if name.lstrip("@") not in ("os", "System", "getenv")]
    for name in names:
        defines = re.compile(rf"\s*(?:(?:const|let|var|val|final) )?{re.escape(name)}\s*[:=~]")
        for line in found.file.lines:
            if defines.match(line) or line.lstrip().startswith(f"{name} ~w"):
                return shown(line)
    return names[0] if names else shown(found.text)


def _with_next(found: TextMatch) -> str:
    """Return the line with those behind it that use what was read, or the next one."""
    behind = found.file.lines[found.line : found.line + USED_WITHIN]
    text, named = shown(found.text), _ASSIGNED.match(found.text)
    if len(text) >= 100:
        return text
    used = [line for line in behind if named is not None and re.search(rf"\b{re.escape(named[1])}\b", line)]
    said = [shown(line) for line in (used or behind[:1]) if line.strip()]
    return " / ".join((text, *said[:MOST_USES]))


def _listed(
    query: Query,
    reader_name: str,
    reads: Sequence[EnvironmentRead],
    documented: Mapping[str, TextMatch],
    named: Sequence[str],
    notes: tuple[str, ...],
    in_code: Mapping[str, str],
) -> LineReport:
    code = [each for each in reads if not each.found.file.is_test] if not query.wants_tests else list(reads)
    # which side of the code is asked for is no topic
    own = frozenset((reader_name.lower(), "app", *_SIDES))
    kept, said = _about_topic(query, code, own)
    by_name: dict[str, list[EnvironmentRead]] = {}
    for each in kept:
        by_name.setdefault(each.name, []).append(each)
    is_narrow = bool(said) and len(by_name) <= MOST_QUOTED
    lines = [_variable(name, places, quoted=is_narrow) for name, places in by_name.items()]
    if is_narrow and _ASKS_WHEN.search(query.text):
        lines += _moments([places[0] for places in by_name.values()])
    known = {each.name for each in reads}
    others = [(name, found) for name, found in documented.items() if name not in known]
    if words := tuple(word for word in topic_words(query.text, _CONSTANT) if word not in own):
        about = [each for each in others if mentions(f"{each[0]} {each[1].text}", words)]
        if about and (not said or said.startswith(_NONE_SAYS)):
            lines, said = [], f"only documents name {' '.join(words)}; {_names(kept)} others are read"
        others = about
    if said:
        # what the topic leaves out may have to do with it, too
        left = {each.name: each for each in reversed(code) if each.name not in by_name}
        rest = [f"{name} {each.found.place}" for name, each in sorted(left.items())][:MAX_LEFT]
        lines += [TextLine("others", "all other variables", ", ".join(rest))] if rest else []
    tools = [each for each in lines if each.group == "in_tools"]
    elsewhere = [f"{each.place} {each.text}" if len(tools) <= MOST_QUOTED else each.place for each in tools]
    lines = [each for each in lines if each.group != "in_tools"]
    lines += [TextLine("in_tools", "build, benchmarks, examples", ", ".join(elsewhere))] if elsewhere else []
    lines += [
        TextLine("documented", name, f"{found.place} ({in_code.get(name, 'not in indexed code')})")
        for name, found in others
    ]
    order = ("variables", "computed", "read_when", "others", "documented", "through_env", "only_set", "in_tools")
    lines.sort(key=lambda each: (order.index(each.group), each.place))
    files = {each.found.file.path for each in kept}
    missing = f"{', '.join(f'`{name}`' for name in named)} is read nowhere in indexed code; " if named else ""
    scope = f" ({said})" if said else ""
    count = counted(len(by_name), "environment variable")
    # other libraries are given names of variables in forms that are not known
    in_files = counted(len(files), "file")
    read = f"at least {count} read or set in {in_files}" if by_name else "no environment variable is read"
    title = f"{missing}{read}{scope}" + (f", {len(others)} more documented" if others else "")
    tests = len({each.name for each in reads}) - len({each.name for each in code})
    more = (f"{counted(tests, 'further variable')} only in tests",) if tests else ()
    outcome = "found" if lines else "not_found"
    return LineReport("environment", title, tuple(lines), (*notes, *more), outcome, first=40)


def _moments(reads: Sequence[EnvironmentRead]) -> list[TextLine]:
    """Return when each of some variables is read, as far as the lines around the read say it."""
    said = [(each.found.place, moment_of(each.found)) for each in reads if each.through is None]
    return [TextLine("read_when", place, moment) for place, moment in said if moment]


def _variable(name: str, places: Sequence[EnvironmentRead], *, quoted: bool) -> TextLine:
    group = "variables"
    if all(map(_is_in_tools, places)):
        group = "in_tools"
    elif all(each.is_computed for each in places):
        group = "computed"
    elif all(each.is_written for each in places):
        group = "only_set"
    elif all(each.is_passed or each.is_written for each in places):
        group = "through_env"
    text = several((each.found.file.path, each.found.line) for each in places)
    if quoted:
        first = next((each for each in places if not each.is_written), places[0])
        text = f"{text} {shown(first.found.text)[:MAX_QUOTED]}"
        if (through := first.through) is not None:
            text = f"{text} -> {through.place.rpartition('/')[2]} {shown(through.text)[:MAX_QUOTED]}"
    return TextLine(group, name, text)


def _is_in_tools(each: EnvironmentRead) -> bool:
    """Return whether a read is one of code that builds, measures or shows the project."""
    return _TOOLS.search(each.found.file.path) is not None or is_aside(each.found.file.path)


_SIDES = ("test", "tests", "outside", "production", "non-test")


def _about_topic(
    query: Query, reads: Sequence[EnvironmentRead], own: frozenset[str]
) -> tuple[list[EnvironmentRead], str]:
    """Return the reads that the other words of a question are about, and what that left out."""
    inside = [each for each in reads if any(path in each.found.file.path for path in query.paths)]
    if inside:
        return inside, f"in {', '.join(query.paths)}: {_names(inside)} of {_names(reads)}"
    words = tuple(word for word in topic_words(query.text, _CONSTANT) if word not in own)
    if not words:
        return list(reads), ""
    for part in range(4):
        if part == 3:  # what the line decides
            kept = [each for each in reads if not _is_in_tools(each) and decides_about(each.found, words)]
            kept = kept if _names(kept) == 1 else []
        else:
            kept = [each for each in reads if mentions(_parts(each)[part], words)]
        if part and all(_is_in_tools(each) for each in kept):
            continue  # that a benchmark is about the topic says nothing of the code
        if kept and part == 0:
            kept = _with_those_inside(kept, reads, words)
        if kept and part == 3:
            decided = dict.fromkeys(word for each in kept for word in decides_about(each.found, words))
            return kept, f"what the line decides has {', '.join(decided)}: {_names(kept)} of {_names(reads)}"
        if kept and len(kept) < len(reads):
            unsaid = [word for word in words if not any(mentions(" ".join(_parts(each)), (word,)) for each in kept)]
            none = f"; {_NONE_SAYS} {', '.join(unsaid)}" if unsaid and len(words) <= MOST_UNSAID else ""
            return kept, f"those about {', '.join(words)}: {_names(kept)} of {_names(reads)}{none}"
    is_said = any(mentions(part, words) for each in reads for part in _parts(each) if not _is_in_tools(each))
    return list(reads), "" if is_said or not reads else f"{_NONE_SAYS} {', '.join(words)}: all that are known"


def _with_those_inside(
    kept: Sequence[EnvironmentRead], reads: Sequence[EnvironmentRead], words: tuple[str, ...]
) -> list[EnvironmentRead]:
    """Add the reads on the lines of those kept, and those in functions that are about the words: `def pager():`."""
    places = {each.found.place for each in kept}
    return [
        each
        for each in reads
        if each in kept
        or each.found.place in places
        or any(
            mentions(name.replace("_", " "), words)
            for _, name in islice(definitions_around(each.found.file.lines, each.found.line), 1)
        )
    ]


def _parts(each: EnvironmentRead) -> tuple[str, str, str]:
    """Return where a topic may be named, what says most first."""
    return each.name, each.found.file.path, each.found.text


def _names(reads: Iterable[EnvironmentRead]) -> int:
    return len({each.name for each in reads})
