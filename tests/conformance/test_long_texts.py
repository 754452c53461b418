"""A report with a traceback finds what it names on every store, with a bounded number of requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from atlas.adapters.embedders.none import NoEmbedder
from atlas.code.find import search
from atlas.code.question.languages import LanguageRow, language_terms
from atlas.code.reader import Reader
from atlas.core.contracts import Store
from atlas.core.model import Filter
from atlas.parsing import Cl100kCounter, digest_paths, search_terms, split_words
from tests.conformance.rows import PROJECT, node, unit

MAX_REQUESTS = 20
"""Of this text: 12 look-ups of what it names, 5 searches by words, and what every search reads. Vectors add one search and
one check of the model for each of three parts and each space."""
REPORT = """\
Cookies of a host with a port are lost

When a session is restored from disk, every cookie whose host was written with a port is gone. I expected that they are
kept, because browsers ignore the port. It happens with `CookieJar` and in shop/cart.py, too, whatever is stored there.

Traceback (most recent call last):
  File "app.py", line 3, in <module>
  File "shop/jar.py", line 12, in restore_cookies
  File "shop/jar.py", line 40, in normalise_host
ValueError: host with port
"""


class Counting:
    """A store that counts what it is asked."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.asked: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        verb = getattr(self._store, name)

        async def ask(*arguments: Any, **named: Any) -> Any:
            self.asked[name] += 1
            return await verb(*arguments, **named)

        return ask


@pytest.fixture
async def filled(store: Store) -> Store:
    jar = [
        node("shop.jar", "shop/jar.py", label="Module", span=(0, 900)),
        node("shop.jar.CookieJar", "shop/jar.py", label="Class", span=(0, 800), line=2),
        node("shop.jar.restore_cookies", "shop/jar.py", span=(10, 200), line=10, docstring="restore cookies from disk"),
        node("shop.jar.normalise_host", "shop/jar.py", span=(300, 500), line=38, docstring="the host without a port"),
    ]
    cart = [
        node("shop.cart", "shop/cart.py", label="Module", span=(0, 900)),
        node("shop.cart.restore", "shop/cart.py", span=(10, 200), line=10, docstring="restore what is kept on disk"),
    ]
    await store.apply([unit("shop/jar.py", jar), unit("shop/cart.py", cart)])
    await store.finish(PROJECT)
    return store


def _reader(store: object) -> Reader:
    return Reader(
        cast("Store", store),
        NoEmbedder(),
        Cl100kCounter(),
        PROJECT,
        Path("/somewhere"),
        split_words,
        digest_paths,
        language_terms(map(LanguageRow._make, search_terms())),
    )


async def test_a_report_finds_what_it_names(filled: Store) -> None:
    counting = Counting(filled)
    reader = _reader(counting)
    found = await search(reader, REPORT, Filter(project=PROJECT))
    names = [each.node.row.qualified_name for each in found.ranked]
    assert {"shop.jar.restore_cookies", "shop.jar.normalise_host"} == set(names[:2]), names
    assert "shop.jar.CookieJar" in names and "shop.cart" in names
    assert {"frame", "named", "path"} <= {reason for each in found.ranked for reason in each.reasons}
    assert sum(counting.asked.values()) <= MAX_REQUESTS, counting.asked


@pytest.mark.parametrize(
    "frame",
    [
        "panic: restore from disk\n\ngoroutine 5 [running]:\nexample.org/disk/shop.(*Jar).normalise_host(...)\n"
        "\t/go/pkg/mod/example.org/disk/shop@v1.7.1/jar.py:40 +0x1b5",
        "restore from disk\n  3: shop::jar::normalise_host\n     at ./shop/jar.py:40:5",
        "restore from disk\n    at Object.normalise_host (/disk/shop/jar.py:40:5)",
        "restore from disk\n#0 /disk/shop/cart.py(12): shop\\jar->normalise_host()",
        "/disk/shop/jar.py:40:in 'normalise_host': restore from disk",
    ],
)
async def test_a_short_traceback_leads_to_the_function_of_its_frame(filled: Store, frame: str) -> None:
    found = await search(_reader(filled), frame, Filter(project=PROJECT))
    assert found.ranked[0].node.row.qualified_name == "shop.jar.normalise_host"
