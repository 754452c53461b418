"""The default of a setting: what an example in a document passes is none."""

from __future__ import annotations

from pathlib import Path

from atlas.app.main import open_atlas
from atlas.code.tools.search.search import hybrid_search
from atlas.runtime.config.load import load_settings
from tests.surfaces.test_tools_impact import QUICK, indexed

FILES = {
    "docs/start.rst": """Start
=====

Create a client::

    $client = new Client([
        'patience' => 2.0,
    ]);

Clients do not change: you cannot change the defaults used by one after it is made.
""",
    "docs/options.md": "# Options\n\n- `stamina`: how long it goes on.\n\n  The default is 30 seconds.\n",
    "src/Client.php": """<?php
class Client
{
    public function send(array $options)
    {
        if (isset($options['patience'])) {
            return $options['patience'] * 1000;
        }
        return $options['stamina'];
    }
}
""",
}


async def test_an_example_in_a_document_is_no_default(tmp_path: Path) -> None:
    root = tmp_path / "net"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    await indexed(root, tmp_path / "data")
    async with open_atlas(load_settings(str(root), str(tmp_path / "data"), environment=QUICK)) as atlas:
        shown = (await hybrid_search(atlas, "where is the default patience set")).render()
        stated = (await hybrid_search(atlas, "what is the default stamina")).render()
    assert "default:\n  docs/start.rst" not in shown and "1 assignment of a value" not in shown, shown
    assert "The default is 30 seconds." in stated, stated
