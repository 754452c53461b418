"""The example of docs/packs.md runs and prints what it promises."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "packs.md"


def test_the_python_example_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "settings.md Timeouts" in done.stdout
    assert "(('SPIN_TIMEOUT', '30'),)" in done.stdout
