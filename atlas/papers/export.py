"""Papers as BibTeX, RIS or Markdown. Their texts come from strangers: no command of TeX survives but those of formulas.

ADR 0039 says why no library writes these formats.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from atlas.core.errors import ConfigError
from atlas.core.invisible import normal_form, plain
from atlas.core.lazy_regex import lazy_regex
from atlas.core.paper_source import Paper, named

FORMATS = ("bibtex", "ris", "markdown")

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}",
    "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_FORMULA = lazy_regex(r"\$([^$\n]{1,200})\$")
_COMMAND = lazy_regex(r"\\([A-Za-z]+|.)", re.DOTALL)
_FORMULA_COMMANDS = frozenset(
    re.findall(
        r"\w+",
        "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi rho "
        "sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega "
        "ell hbar infty partial nabla to rightarrow leftarrow Rightarrow leftrightarrow mapsto le leq ge geq ne "
        "neq sim simeq approx equiv propto times cdot pm mp otimes oplus circ ast star dagger prime in notin "
        "subset cup cap forall exists sum prod int log ln exp sin cos tan min max sqrt frac mathcal mathbb mathrm "
        "mathbf mathit mathfrak mathsf bar hat tilde vec dot ddot overline underline left right langle rangle "
        "lVert rVert ldots cdots dots quad ",
    )
)
_MARKDOWN = lazy_regex(r"([\\`*_\[\]<>#|])")


def export(papers: Sequence[Paper], form: str) -> str:
    """Return papers in a format, in order. Raises ConfigError for an unknown one."""
    if form == "bibtex":
        return _bibtex(papers)
    if form == "ris":
        return "".join(_ris(paper) for paper in papers)
    if form == "markdown":
        return "".join(_markdown(paper) for paper in papers)
    raise ConfigError(f"unknown format {form[:40]!r}", f"Formats: {', '.join(FORMATS)}.")


def tex(text: str) -> str:
    """Return text for TeX: special characters escaped, formulas kept if they hold only commands of formulas."""
    parts: list[str] = []
    end = 0
    for found in _FORMULA.finditer(text):
        if not _is_harmless(found[1]):
            continue
        parts += [_plain_tex(text[end : found.start()]), found.group()]
        end = found.end()
    return "".join((*parts, _plain_tex(text[end:])))


def _plain_tex(text: str) -> str:
    return "".join(_SPECIAL.get(one, one) for one in text)


def _is_harmless(formula: str) -> bool:
    """Whether a formula has balanced braces and no other commands; `^^` would write any character."""
    if any(found[1] not in _FORMULA_COMMANDS and found[1] not in (",", ";", "{", "}") for found in _COMMAND.finditer(formula)):  # fmt: skip  # noqa: E501
        return False
    if any(one in formula for one in ("^^", "%", "#", "&", "~")):
        return False
    # TeX counts braces that are not escaped, BibTeX counts all: neither may leave the field in between
    return _is_balanced(formula) and _is_balanced(re.sub(r"\\.", "", formula))


def _is_balanced(text: str) -> bool:
    depth = 0
    for one in text:
        depth += (one == "{") - (one == "}")
        if depth < 0:
            return False
    return depth == 0


def _bibtex(papers: Sequence[Paper]) -> str:
    used: set[str] = set()
    return "\n".join(_bibtex_entry(paper, _key(paper, used)) for paper in papers)


def _bibtex_entry(paper: Paper, key: str) -> str:
    kind = "article" if paper.journal_ref else "misc"
    is_arxiv = named(paper.id).startswith("arXiv")
    fields = {
        "title": f"{{{tex(one_line(paper.title))}}}",
        "author": " and ".join(map(_tex_name, paper.authors)),
        "year": paper.published[:4],
        "month": paper.published[5:7].lstrip("0"),
        "journal": tex(one_line(paper.journal_ref)),
        "doi": tex(one_line(paper.doi)),
        "eprint": paper.id if is_arxiv else "",
        "archivePrefix": "arXiv" if is_arxiv else "",
        "primaryClass": tex(paper.primary_category),
        "url": address(paper.url),
        "note": "Withdrawn" if paper.is_withdrawn else "",
        "abstract": tex(one_line(paper.summary)),
    }  # fmt: skip
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join((f"@{kind}{{{key},", *lines, "}", ""))


def _tex_name(name: str) -> str:
    """Return a name of an author; braces keep "and" in that of a group from dividing it."""
    written = tex(one_line(name))
    return f"{{{written}}}" if "and" in written.lower().split() else written


def _key(paper: Paper, used: set[str]) -> str:
    surname = _ascii(paper.authors[0].split()[-1]) if paper.authors and paper.authors[0].split() else ""
    word = next((one for one in map(_ascii, paper.title.split()) if len(one) > 3), "")
    stem = f"{surname}{paper.published[:4]}{word}".lower() or _ascii(paper.id)
    key, number = stem, 1
    while key in used:
        number += 1
        key = f"{stem}-{number}"
    used.add(key)
    return key


def _ris(paper: Paper) -> str:
    day = paper.published[:10].replace("-", "/")
    rows = [
        ("TY", "JOUR" if paper.journal_ref else "UNPB"),
        ("ID", paper.id),
        ("TI", paper.title),
        *(("AU", _inverted(name)) for name in paper.authors),
        ("PY", paper.published[:4]),
        ("DA", day),
        ("JO", paper.journal_ref),
        ("DO", paper.doi),
        ("AN", named(paper.id)),
        *(("KW", one) for one in paper.categories),
        ("UR", address(paper.url)),
        ("L1", address(paper.pdf_url)),
        ("AB", paper.summary),
        ("N1", "Withdrawn" if paper.is_withdrawn else ""),
    ]
    lines = [f"{tag}  - {one_line(value)}" for tag, value in rows if value]
    return "\r\n".join((*lines, "ER  - ", "", ""))


def _markdown(paper: Paper) -> str:
    title = _escaped(paper.title)
    link = f"[{title}]({address(paper.url)})" if address(paper.url) else title
    about = [_escaped(", ".join(paper.authors)), paper.published[:10], _escaped(paper.venue)]
    marks = dict.fromkeys((_escaped(named(paper.id)), f"doi:{_escaped(paper.doi)}" if paper.doi else ""))
    lines = [f"- {link}", "  " + "; ".join(filter(None, (*about, *marks)))]
    if paper.is_withdrawn:
        lines.append("  **withdrawn**")
    if paper.summary:
        lines.append(f"  {_escaped(paper.summary)}")
    return "\n".join((*lines, ""))


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", one_line(text))


def _inverted(name: str) -> str:
    first, _, last = one_line(name).rpartition(" ")
    return f"{last}, {first}" if first and "," not in name else one_line(name)


def one_line(text: str) -> str:
    """Return text on one line without control and formatting characters."""
    return plain(" ".join(text.split()))


def address(text: str) -> str:
    """Return an address of the web, "" for anything else."""
    return text if re.fullmatch(r"https?://[\w./:@?=&+~-]+", text, re.ASCII) else ""


def _ascii(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "", normal_form(text, "NFKD"))
