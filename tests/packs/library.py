"""The documentation of a small library in two formats, and a project that pins and calls it."""

from __future__ import annotations

from pathlib import Path

DOCUMENTATION = {
    "guide.md": (
        "# Widget guide\n\nThe `Widget` class turns. See [timeouts](settings.md#timeouts).\n\n"
        "## Turning\n\nCall `widget.spin()` to turn once. The `widget.turn()` function is deprecated since 2.0.\n\n"
        "## `widget.brake()`\n\nStops every widget at once. Deprecated since version 1.8.\n\n"
        "## `widget.paint()`\n\nPaints. The `colour` argument of `widget.paint()` is deprecated since 1.9.\n\n"
        "## Removed\n\nThe `widget.halt()` function was removed in version 2.1.\n"
    ),
    "settings.md": (
        "# Settings\n\n## Timeouts\n\n`SPIN_TIMEOUT` is the number of seconds that a turn may take. "
        "Default: `30`. At most 120 seconds.\n"
    ),
    "api.rst": (
        "API reference\n=============\n\n.. module:: widget\n\n"
        ".. function:: spin(times=1)\n\n   Turns the widget.\n\n   .. versionadded:: 1.5\n\n"
        ".. function:: wobble(angle)\n\n   Shakes the widget.\n\n   .. deprecated:: 2.0\n      Use :func:`spin`.\n"
    ),
}
PROJECT = {
    "pyproject.toml": "[project]\nname = 'shop'\ndependencies = ['widget>=2']\n",
    "uv.lock": 'version = 1\n\n[[package]]\nname = "widget"\nversion = "2.0"\n',
    "app.py": (
        "import widget\nfrom widget import wobble\n\n\ndef run():\n    widget.spin(2)\n    wobble(3)\n"
        "    widget.turn()\n    widget.brake()\n    widget.halt()\n    widget.paint()\n"
    ),
}
OUTDATED = {
    ("widget.wobble", 2): "deprecated 2.0",
    ("widget.wobble", 7): "deprecated 2.0",
    ("widget.turn", 8): "deprecated 2.0",
    ("widget.brake", 9): "deprecated 1.8",
    ("widget.halt", 10): "removed 2.1",
}
"""By symbol and line of `app.py`: what the documentation says about it. Of `paint` only an argument is deprecated."""


def write_tree(root: Path, files: dict[str, str]) -> Path:
    """Write files below a folder and return it."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
