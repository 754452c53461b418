"""Reading long texts: title, opening, frames of tracebacks, written names and paths, and which words tell most."""

from __future__ import annotations

import time

import pytest

from atlas._parser import split_words
from atlas.code.question.languages import LanguageRow, language_terms
from atlas.code.question.long_text import LongText, fits, rarest, read_long_text
from atlas.code.question.parse_question import route
from atlas.code.question.tracebacks import TracebackFrame, read_frames
from atlas.core.model import WordCounts
from atlas.parsing import search_terms

LANGUAGES = language_terms(map(LanguageRow._make, search_terms()))
FILLER = "It happens about once a day in production and nobody could tell me what to do about it until now. " * 3
REPORT = f"""Cookies are lost when the host has a port

<!-- Please read the contributing guide -->
I call `Jar.set_cookie` as https://example.com/guide.py says, see shop/jar.py and `Jar`.

### Environment
- [x] I searched the existing issues

{FILLER}

```
Traceback (most recent call last):
  File "/srv/lib/site-packages/shop/jar.py", line 33, in set_cookie
    check(domain)
ValueError: no dots in the domain
```
"""


def read(text: str) -> LongText:
    found = read_long_text(text, LANGUAGES)
    assert found is not None
    return found


def test_a_question_is_no_long_text() -> None:
    assert read_long_text("where are the cookies of a host with a port kept", LANGUAGES) is None


def test_a_report_has_title_opening_and_what_it_names() -> None:
    found = read(REPORT)
    assert found.title == "Cookies are lost when the host has a port"
    assert found.opening.startswith(f"{found.title} I call")
    assert "Environment" not in found.opening and "Traceback" not in found.opening
    assert "contributing" not in found.whole and "example.com" not in found.whole and "searched" not in found.whole
    assert found.names[:2] == ("Jar.set_cookie", "Jar")
    assert "shop/jar.py" in found.paths
    assert [(frame.path, frame.line, frame.name) for frame in found.frames] == [
        ("/srv/lib/site-packages/shop/jar.py", 33, "set_cookie")
    ]
    assert found.messages == ("no dots in the domain",)


def test_one_paragraph_has_its_first_sentence_as_title() -> None:
    assert read(f"Cookies are lost. {FILLER}").title == "Cookies are lost."


@pytest.mark.parametrize(
    ("printed", "path", "line", "name"),
    [
        ('  File "/srv/app/views.py", line 12, in Page.get', "/srv/app/views.py", 12, "get"),
        ("    at Object.parse (/srv/me/lib/request.js:12:5)", "/srv/me/lib/request.js", 12, "parse"),
        ("    at async run (lib/request.js:7:1)", "lib/request.js", 7, "run"),
        ("\tat com.example.Json.read(Json.java:963)", "Json.java", 963, "read"),
        ("   at Shop.Cart.Add(String x) in C:\\shop\\Cart.cs:line 12", "C:\\shop\\Cart.cs", 12, "Add"),
        ("/gems/shop/lib/node.rb:12:in `block in add_child'", "/gems/shop/lib/node.rb", 12, "add_child"),
        ("#0 /var/www/src/Cache.php(12): Shop\\Cache->gc()", "/var/www/src/Cache.php", 12, "gc"),
        ("#1  0x00007f in loop_run (loop=0x1) at src/core.c:440", "src/core.c", 440, "loop_run"),
        ("shop.(*Mux).route(0x1, 0x2)\n\t/go/src/shop/mux.go:425 +0x27", "/go/src/shop/mux.go", 425, "route"),
        ("shop.(*Mux).route.func1.2(...)\n\t/go/src/shop/mux.go:425 +0x27", "/go/src/shop/mux.go", 425, "route"),
        ("created by shop.Open in goroutine 1\n\t/go/open.go:4 +0x2", "/go/open.go", 4, "Open"),
        ("shop.Map[...](0x1)\n\t/go/map.go:4 +0x2", "/go/map.go", 4, "Map"),
        ("   5: <shop::Set<T> as core::Stream>::poll\n   at ./src/set.rs:9:1", "./src/set.rs", 9, "poll"),
        ("   6: shop::run::{{closure}}\n   at ./src/run.rs:9:1", "./src/run.rs", 9, "run"),
        ("\tat app//com.example.Json.<init>(Json.java:9)", "Json.java", 9, "Json"),
        ("\tat com.example.Json.lambda$read$0(Json.java:9)", "Json.java", 9, "read"),
        ("    at Jar.add [as put] (/lib/jar.js:3:1)", "/lib/jar.js", 3, "add"),
        ("    at new Jar (file:///lib/jar.js:3:1)", "/lib/jar.js", 3, "Jar"),
        ("    at Object.<anonymous> (/lib/jar.js:3:1)", "/lib/jar.js", 3, ""),
        ("   at Shop.Cart.<AddAsync>d__5.MoveNext() in /shop/Cart.cs:line 3", "/shop/Cart.cs", 3, "AddAsync"),
        ("   at Shop.Cart.Get[T](T x) in /shop/Cart.cs:line 4", "/shop/Cart.cs", 4, "Get"),
        ("\tfrom /lib/node.rb:12:in 'block (2 levels) in Node#add'", "/lib/node.rb", 12, "add"),
        ("   3: shop::conn::Conn<I>::poll\n             at ./src/conn.rs:123:5", "./src/conn.rs", 123, "poll"),
        ("src/main.c:17: error", "src/main.c", 17, ""),
    ],
)
def test_frames_of_common_runtimes(printed: str, path: str, line: int, name: str) -> None:
    frame = read(f"It fails.\n\n{FILLER}\n\n{printed}\n").frames[0]
    assert (frame.path, frame.line, frame.name) == (path, line, name)


GO = "goroutine 51 [running]:\nexample.org/lib/shop.(*Mux).route(...)\n\t/go/pkg/mod/lib/shop@v1.7.1/mux.go:318 +0x1b5"


def test_one_frame_is_a_long_text_whose_folders_are_no_words() -> None:
    found = read(GO)
    assert found.frames == (TracebackFrame("/go/pkg/mod/lib/shop@v1.7.1/mux.go", 318, "route", "Mux"),)
    assert found.whole.split() == ["route"] and found.is_traceback
    assert found.paths == found.names == () and found.title == ""
    assert not read(REPORT).is_traceback


def test_a_place_alone_is_no_traceback() -> None:
    assert read_long_text("what fails at shop/jar.py:12", LANGUAGES) is None


@pytest.mark.parametrize("text", ["a." * 10_000, "/a." * 6_000, "(" * 20_000, "a" * 20_000])
def test_frames_of_a_text_of_one_word_are_read_in_linear_time(text: str) -> None:
    begun = time.process_time()
    assert list(read_frames(text)) == []
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("written", "path", "shared"),
    [
        ("/srv/site-packages/shop/jar.py", "src/shop/jar.py", 2),
        ("/mod/shop@v1.7.1/jar.py", "src/shop/jar.py", 2),
        ("jar.py", "src/shop/jar.py", 1),
        ("C:\\shop\\jar.py", "shop/jar.py", 2),
        ("/usr/lib/http/jar.py", "src/shop/jar.py", 0),
        ("shop/basket.py", "shop/jar.py", 0),
    ],
)
def test_installed_paths_end_like_paths_of_the_index(written: str, path: str, shared: int) -> None:
    assert fits(written, path) == shared


def test_words_that_tell_most_are_rare_in_the_index_and_repeated_in_the_text() -> None:
    files = {f"{number}.py": 1 for number in range(20)}
    counts = WordCounts(
        dict.fromkeys(files, 10), {"host": files, "cookie": {"1.py": 1}, "port": {"1.py": 1, "2.py": 1}}
    )
    words = {"host": 3, "port": 1, "nobody": 9, "cookie": 1}
    assert rarest(words, counts, 2) == ("port", "cookie")


def test_test_in_a_long_text_asks_for_no_tests() -> None:
    assert not route(f"{REPORT} I can send unit tests for it", split_words, LANGUAGES).wants_tests


def test_credits_and_references_are_no_words_of_a_report() -> None:
    found = read(
        f"CVE-2024-12345: cookies are lost\n\n{FILLER} See #1234, commit 0a1b2c3d4e and decade of CVE-2023-54321.\n"
        "Reported by Alice Example <alice@example.org>\nReviewed-by: Bob\nChange-Id: I0123\nFixes: 1234567 (Jar)\n"
        "@route is kept.\n#1 poll (x=0x1) at /crates.io-6f17d22bba15001f/src/poll.c:4\n"
    )
    assert found.title == "CVE-2024-12345: cookies are lost"
    for gone in ("1234,", "0a1b2c3d4e", "54321", "Alice", "example.org", "Bob", "I0123", "Jar"):
        assert gone not in found.whole
    assert "decade" in found.whole and "@route is kept" in found.whole
    assert [(frame.path, frame.name) for frame in found.frames] == [("/crates.io-6f17d22bba15001f/src/poll.c", "poll")]
