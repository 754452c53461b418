"""What is different where a setting has a value: the lines that compare with it."""

from __future__ import annotations

from pathlib import Path

from atlas.app.main import open_atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

_SCOPE = "public enum CacheScope {\n  SESSION, STATEMENT\n}\n"
_STORE = """public class Store {
  private CacheScope cacheScope = CacheScope.SESSION;

  Object query() {
    if (cacheScope == CacheScope.STATEMENT) {
      clear();
    }
    return null;
  }

  void clear() {
    cacheScope = CacheScope.STATEMENT;
  }
}
"""
_TASK = """def chosen(run):
    if run == "when_changed":
        return 1
    return 0
"""


async def test_the_lines_that_compare_with_a_value(tmp_path: Path) -> None:
    files = {"CacheScope.java": _SCOPE, "Store.java": _STORE, "task.py": _TASK}
    (tmp_path / "shop").mkdir()
    for name, text in files.items():
        (tmp_path / "shop" / name).write_text(text)
    await indexed(tmp_path / "shop", tmp_path / "data")
    settings = load_settings(str(tmp_path / "shop"), str(tmp_path / "data"), environment=QUICK)
    async with open_atlas(settings) as atlas:
        for asked in (
            "what is different at runtime when I set STATEMENT?",
            "how does Store behave with cacheScope set to STATEMENT",
            "what does cacheScope=STATEMENT change",
        ):
            said = (await hybrid_search(atlas, asked)).render()
            assert "lines of code that compare with `STATEMENT`: 1" in said, asked
            assert "Store.java:5: " in said and "CacheScope.STATEMENT) { clear();" in said, asked
        said = (await hybrid_search(atlas, "what is different when I set run to when_changed")).render()
        assert "task.py:2: chosen: if run ==" in said
        said = (
            await hybrid_search(atlas, "cacheScope: default value? and what is different when I set STATEMENT?")
        ).render()
        assert "CacheScope.SESSION" in said.partition("2)")[0] and "Store.java:5" in said.partition("2)")[2]
        for asked in ("what does clear do", "what is different when I set OTHER?", "callers of clear"):
            assert "that compare with" not in (await hybrid_search(atlas, asked)).render(), asked
