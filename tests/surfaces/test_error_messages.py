"""Lines of logs as questions: the code that reports an error comes first, whatever documents repeat of it."""

from __future__ import annotations

from pathlib import Path

from atlas.app.main import open_atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.code.tools.search.search_answer import SearchAnswer
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES = {
    "go.mod": "module example.com/alerts\n\ngo 1.22\n",
    "config/config.go": (
        'package config\n\nimport "fmt"\n\n'
        "func checkReceiver(name string, known map[string]struct{}) error {\n"
        "\tif _, ok := known[name]; !ok {\n"
        '\t\treturn fmt.Errorf("undefined receiver %q used in route", name)\n\t}\n\treturn nil\n}\n\n'
        "func checkRoute(name string) error {\n"
        '\treturn fmt.Errorf("undefined time interval %q used in route", name)\n}\n'
    ),
    "config/other.go": "package config\n\nfunc Other() int {\n\treturn 1\n}\n",
    "docs/trouble.md": (
        "# Trouble\n\n## Loading configuration file failed\n\nA message says: Loading configuration file failed. "
        "The configuration component writes level=error; look at the file am.yml.\n"
    ),
    "docs/start.md": "# Start\n\nIf loading configuration file failed, check the receivers of the route.\n",
}
LINE = (
    'level=error component=configuration msg="Loading configuration file failed" file=am.yml '
    r'err="undefined receiver \"team-x\" used in route"'
)


async def test_code_that_reports_an_error_comes_before_documents_that_repeat_it(tmp_path: Path) -> None:
    root = tmp_path / "alerts"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        found = await hybrid_search(atlas, LINE)
        json = await hybrid_search(
            atlas,
            r'{"level":"error","msg":"Loading configuration file failed","err":"undefined receiver \"a\" used in route"}',
        )
        unknown = await hybrid_search(atlas, 'level=error msg="Loading configuration file failed" err="no idea at all"')
        many = await hybrid_search(atlas, f"{LINE} {' '.join(f'label{number}=value{number}' for number in range(40))}")
        quoted = await hybrid_search(atlas, '"Loading configuration file failed"')
    for answer in (found, json, many):
        assert isinstance(answer, SearchAnswer)
        assert answer.hits[0].symbol.place == "config/config.go:5"
    assert isinstance(unknown, SearchAnswer) and isinstance(quoted, SearchAnswer)
    assert quoted.hits[0].symbol.place.startswith("docs/")
    assert unknown.nowhere == ("no idea at all",), "what the log says and no file has is said first"
    assert all(hit.sure != "sure" for hit in unknown.hits), "a document is no certain answer to where it comes from"
