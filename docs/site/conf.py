"""Sphinx: the documentation site, built by `make docs` from the pages of this repository and `reference.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))

import reference  # noqa: E402

from atlas import __version__  # noqa: E402

project = "Code Atlas"
author = "the Code Atlas developers"
version = release = __version__
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "adr/*",
    "*.md",
    "atlas/languages/README.md",
    "atlas/code/index/detectors/README.md",
    "tests/bench/answers/README.md",
]
exclude_patterns = [".*", "**/.*", "rust-parser", "docs/site"]
source_suffix = {".md": "markdown"}
nitpicky = True

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 6
# Blocks of code in languages that the highlighter does not know, or whose texts it cannot read, are shown as they are.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"Code Atlas {__version__}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_additional_pages = {"index": "first.html"}
templates_path = ["templates"]
html_context = {"first_page": "docs/index.html"}
smartquotes = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
highlight_language = "none"


class LinksToSource(SphinxPostTransform):
    """A link to a file or folder that is no page becomes its path: the site has no copy of the source.

    Raises nothing; a path that does not exist stays unresolved, which is a warning and fails the build.
    """

    default_priority = 4

    def run(self, **_: Any) -> None:
        """Replace the links of one page."""
        here = Path(self.env.doc2path(self.env.docname)).parent
        for node in list(self.document.findall(addnodes.download_reference)):
            _as_path(node, here, str(node.get("reftarget", "")))
        for node in list(self.document.findall(addnodes.pending_xref)):
            target = str(node.get("reftarget", "")).partition("#")[0]
            if node.get("reftype") == "myst" and (here / target).exists() and not self._is_page(here / target):
                _as_path(node, here, target)

    def _is_page(self, path: Path) -> bool:
        return self.env.path2doc(path.resolve()) in self.env.found_docs


def _as_path(node: nodes.Element, here: Path, target: str) -> None:
    path = (ROOT / target.lstrip("/") if target.startswith("/") else here / target).resolve()
    if path.exists() and path.is_relative_to(ROOT):
        shown = nodes.inline("", "", *node.children, classes=["source"])
        shown["title"] = str(path.relative_to(ROOT))
        node.replace_self(shown)


def setup(app: Any) -> None:
    """Write the reference before the pages are read, and register the transform."""
    app.connect("builder-inited", lambda _: reference.write(ROOT / "docs" / "reference"), priority=1)
    app.add_post_transform(LinksToSource)
