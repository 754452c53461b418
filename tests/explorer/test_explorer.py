"""The explorer over HTTP: who gets in, what every answer carries, and that a hostile repository is only ever text."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import httpx2
import pytest

from atlas.server.explorer.flow.conditions import conditions_above
from tests.surfaces.processes import atlas

from .served import HOSTILE, SECRET, PageReader, ServedExplorer, explorer, write_hostile

MOST_PAGES = 160


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedExplorer]:
    folder = tmp_path_factory.mktemp("explorer")
    write_hostile(folder / "shop")
    with explorer(folder / "shop", folder / "data", "shop/cart.py") as running:
        yield running


@pytest.fixture(scope="module")
def browser(served: ServedExplorer) -> Iterator[httpx2.Client]:
    with served.client() as client:
        served.enter(client)
        yield client


def read(browser: httpx2.Client, path: str, status: int = 200) -> str:
    answer = browser.get(path)
    assert answer.status_code == status, answer.text
    return answer.text


def test_the_address_works_once_and_leads_to_the_start(served: ServedExplorer, browser: httpx2.Client) -> None:
    with served.client() as other:
        assert other.get(served.address).status_code == 403
        assert other.get("/search?q=total").status_code == 403
        assert other.get("/?token=").status_code == 403
        assert other.get("/search", headers={"cookie": "atlas-00000000=x; a"}).status_code == 403
        assert "total" not in other.get("/file?path=shop/cart.py").text
    start = browser.get("/open?name=shop/cart.py")
    assert (start.status_code, start.headers["location"]) == (303, "/file?path=shop%2Fcart.py")
    assert browser.get("/open?name=Basket.price").headers["location"] == "/symbol?name=Basket.price"


def test_the_cookie_is_for_this_site_and_no_script(served: ServedExplorer, browser: httpx2.Client) -> None:
    with explorer(served.root, served.data) as other, other.client() as client:
        cookie = client.get(other.address).headers["set-cookie"]
        assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")
        # two explorers of one host have cookies of their own
        assert cookie.partition("=")[0] != next(iter(browser.cookies))
        assert client.get("/", headers={"cookie": f"{next(iter(browser.cookies))}=x"}).status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "attacker.example"}, 421),
        ({"host": "attacker.example:80"}, 421),
        ({"origin": "http://attacker.example"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, 403),
        ({"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}, 403),
        ({"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}, 200),
        ({"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}, 200),
    ],
)
def test_pages_of_other_sites_get_nothing(browser: httpx2.Client, headers: dict[str, str], status: int) -> None:
    answer = browser.get("/search?q=total", headers=headers)
    assert answer.status_code == status
    assert ("total" in answer.text) == (status == 200)


@pytest.mark.parametrize(
    "path", ["/", "/search?q=total", "/nowhere", "/static/explorer.css", "/static/nothing", "/suggest?q=to"]
)
def test_every_answer_keeps_a_browser_from_running_anything(browser: httpx2.Client, path: str) -> None:
    headers = browser.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers


def test_nothing_is_written(browser: httpx2.Client) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        assert browser.request(method, "/").status_code == 405
        assert method == "POST" or browser.request(method, "/unit/write").status_code == 405


@pytest.mark.parametrize(
    "path",
    [
        "/file?path=../../etc/passwd", "/file?path=/etc/passwd", "/file?path=shop/../../etc/passwd",
        "/file?path=..%5c..%5cetc", "/file?path=%00", "/file?path=.env", "/file?path=.git/config",
        "/static/..%2f..%2fapp.py", "/static/%2e%2e/app.py", "/static/app.py", "/%2e%2e/%2e%2e/etc/passwd",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_index(browser: httpx2.Client, path: str) -> None:
    answer = browser.get(path)
    assert answer.status_code in (400, 404)
    for word in ("root:", "hunter2", "[core]", "Starlette"):
        assert word not in answer.text


def test_what_is_skipped_has_a_reason_and_no_source_and_masks_stay(browser: httpx2.Client) -> None:
    assert "secret" in read(browser, "/file?path=.env", 404)
    assert ".env" in read(browser, "/file")
    page = read(browser, "/file?path=shop/cart.py")
    assert "KEY" in page
    assert SECRET not in page
    assert SECRET not in read(browser, f"/search?mode=exact&q={SECRET}").replace(f'value="{SECRET}"', "").replace(
        f"&#34;{SECRET}&#34;", ""
    ).replace(f"<title>{SECRET}", "")


@pytest.mark.parametrize("length", [5_000, 20_000])
def test_long_questions_are_refused(browser: httpx2.Client, length: int) -> None:
    assert browser.get(f"/search?q={'a' * length}").status_code in (400, 414)


def test_a_symbol_shows_its_callers_source_and_callees(browser: httpx2.Client) -> None:
    page = read(browser, "/symbol?name=shop.cart.total")
    for text in ("called by", "Basket.price", "calls", "discount", "tested by", "If you change this"):
        assert text in page
    # the reference in the source is a link that says what it leads to, and how sure that is
    assert 'title="def discount(amount: int) -&gt; int\nshop/cart.py:11\ncalls, same-module 0.9' in page
    assert "Basket.price" in read(browser, "/symbol?name=shop.cart.total&view=impact")
    assert "pytest" in read(browser, "/symbol?name=shop.cart.total&view=impact")
    assert "Add &#34;&gt;&lt;img" in read(browser, "/symbol?name=shop.cart.total&view=history")


def test_none_and_unknown_are_told_apart(browser: httpx2.Client) -> None:
    assert "no resolved callers, and nothing else in the index mentions" in read(browser, "/symbol?name=Basket.height")
    unknown = read(browser, "/symbol?name=Basket.weight")
    assert "no resolved callers" in unknown
    assert "nothing else" not in unknown
    assert "No symbol" in read(browser, "/symbol?name=nonesuch")
    assert read(browser, "/symbol", 404)


def test_search_has_hits_by_file_relations_and_lines(browser: httpx2.Client) -> None:
    assert "shop/cart.py" in read(browser, "/search?q=sum+up+the+amount")
    assert "callers of" in read(browser, "/search?relation=callers&of=shop.cart.total")
    assert "1 line in" in read(browser, "/search?mode=exact&q=amount+*+8")
    assert read(browser, "/search?mode=regex&q=(", 400)
    found = browser.get("/suggest?q=discount").json()
    assert found[0]["url"].startswith("/symbol?name=")
    assert (found[0]["path"], found[0]["line"]) == ("shop/cart.py", "11")
    # what is offered while one types stands by file
    paths = [one["path"] for one in browser.get("/suggest?q=total").json()]
    assert len(paths) > len(set(paths)) > 1
    assert len([path for path, before in zip(paths, ["", *paths], strict=False) if path != before]) == len(set(paths))


def counted(browser: httpx2.Client, path: str) -> str:
    """The first page once the project is counted."""
    for _ in range(100):
        if "Map of" in (page := read(browser, path)):
            return page
        assert 'http-equiv="refresh"' in page
        time.sleep(0.1)
    raise AssertionError("the project was not counted")


def test_the_overview_says_what_there_is_and_where_to_begin(browser: httpx2.Client) -> None:
    page = counted(browser, "/")
    for text in (
        "Shop",
        "python",
        "entry points",
        "page",
        "shop.cart.total",
        "2 callers",
        "hotspots",
        "changed lately",
    ):
        assert text in page, text
    assert "1 commit, " in page
    assert "of the last 1 commit" in page
    assert page.count("<rect ") >= 5
    assert "Map of shop" in counted(browser, "/?folder=shop&colour=tests")
    assert re.search(
        r"shop/cart\.py: \d+ lines in 1 file, last changed \d{4}-\d\d-\d\d", counted(browser, "/?colour=age")
    )
    assert "Map of the project" in counted(browser, "/?folder=nowhere&colour=nothing").replace("nowhere", "the project")


def test_changes_are_listed_drawn_and_ready_for_a_comment(browser: httpx2.Client) -> None:
    page = read(browser, "/changes")
    assert "discount 11 body" in page
    assert "pytest" in page
    assert "flowchart" in read(browser, "/changes?form=mermaid")
    comment = read(browser, "/changes?form=comment")
    assert "- `shop/cart.py: discount 11 body`" in html.unescape(comment)
    assert read(browser, "/changes?diff=--output=/tmp/x", 404)


def test_a_flow_is_a_ladder_of_calls(browser: httpx2.Client) -> None:
    page = read(browser, "/flow?of=Basket.price&to=shop.cart.discount")
    assert page.index("return total(3)") < page.index("return discount(amount)")
    assert "Show" in read(browser, "/flow")
    assert "also leads there" not in page


def test_a_flow_names_what_else_leads_to_its_end(tmp_path: Path) -> None:
    root = tmp_path / "flow"
    root.mkdir()
    (root / "a.py").write_text(
        "def end():\n    return 1\n\n\ndef middle():\n    return end()\n\n\ndef other():\n    return end()\n\n\n"
        "def unrelated():\n    return 2\n\n\ndef start(x):\n    unrelated()\n    if x:\n        return other()\n    return middle()\n"
    )
    with explorer(root, tmp_path / "data") as served, served.client() as client:
        served.enter(client)
        page = read(client, "/flow?of=a.start&to=a.end")
        steps = re.findall(r'<li><a class="item"[^>]*>(\w+)</a>', page)
        also = page.partition("also leads there: ")[2].partition("</p>")[0]
        assert {steps[0], re.sub("<[^>]*>", "", also)} == {"middle", "other"}
        # the second step has no alternative
        assert page.count("also leads there") == 1


def test_pages_of_files_and_folders_name_their_owners(browser: httpx2.Client) -> None:
    for path in ("/file?path=shop/cart.py", "/file?path=shop", "/file"):
        page = html.unescape(read(browser, path))
        assert re.search(
            r"owners: \S*alert\(10\)\S* 1 \(last \d{4}-\d\d-\d\d\); 1 commit, of the last 1 commit", page
        ), path


def test_conditions_around_a_call_are_found_by_indentation() -> None:
    text = [
        "def f(x):",
        "    if x:",
        "        y = 1",
        "        for z in y:",
        "",
        "            g(",
        "                z)",
    ]
    assert conditions_above(text, 6, 1) == ((2, "if x:"), (4, "for z in y:"))
    assert conditions_above(text, 3, 1) == ((2, "if x:"),)
    assert conditions_above(text, 1) == ()


@pytest.mark.parametrize("form", ["svg", "html", "dot", "mermaid"])
def test_pictures_are_small_and_escape_what_they_draw(served: ServedExplorer, form: str) -> None:
    places = ["--project", str(served.root), "--data-dir", str(served.data)]
    for name in ("shop.cart.total", "shop"):
        done = atlas("graph", name, "--format", form, *places)
        assert done.returncode == 0, done.stderr
        # a quoted string of DOT holds text
        assert form == "dot" or not re.search("<(img|script)", done.stdout)
        assert "cart" in done.stdout
        if form in ("svg", "html"):
            ElementTree.fromstring(done.stdout.replace("<!doctype html>", "").replace('<meta charset="utf-8">', ""))


def test_chosen_pages_are_written_whole_and_without_scripts(served: ServedExplorer, tmp_path: Path) -> None:
    places = ["--project", str(served.root), "--data-dir", str(served.data)]
    done = atlas("ui", "shop.cart.total", "--diff", "HEAD", "--export", str(tmp_path / "pages"), *places)
    assert done.returncode == 0, done.stderr
    names = {"index.html", "symbol-1.html", "impact-1.html", "changes.html"}
    assert {each.name for each in (tmp_path / "pages").iterdir()} == names
    for each in (tmp_path / "pages").iterdir():
        page = each.read_text(encoding="utf-8")
        assert not re.search(r"<(script|img|link|form)\b", page)
        found = re.findall(r'(?:href|src|action)="([^"]*)"', page)
        assert {one.partition("#")[0] for one in found} <= names | {""}, each.name
    assert "Basket.price" in (tmp_path / "pages" / "symbol-1.html").read_text(encoding="utf-8")


def test_the_status_is_told_again(browser: httpx2.Client) -> None:
    assert "daemon not running" in read(browser, "/status")
    assert ".env" in read(browser, "/status?skipped=yes")
    event = browser.get("/status/live")
    assert event.headers["content-type"].startswith("text/event-stream")
    assert event.text.startswith('retry: 3000\ndata: "daemon not running')


def test_nothing_of_a_hostile_repository_is_markup(browser: httpx2.Client) -> None:
    """Follows every link from the first page on: each tag, attribute and address is one that our templates have."""
    waiting = ["/", "/search?q=total", "/search?q=alert", "/search?mode=exact&q=alert", "/symbol?name=<script>", "/<b>x",
               "/search?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "/file?path=<script>alert(1)</script>"]  # fmt: skip
    seen = set(waiting)
    counted(browser, "/")
    texts: list[str] = []
    for _ in range(MOST_PAGES):
        if not waiting:
            break
        path = waiting.pop(0)
        answer = browser.get(path)
        assert answer.status_code in (200, 303, 400, 404), (path, answer.text)
        page = PageReader(answer.text)
        assert page.wrong == [], path
        if answer.status_code == 200:
            assert page.scripts == ["/static/explorer.js"], path
        texts += page.text
        waiting += sorted(page.links - seen)
        seen |= page.links
    everything = "".join(texts)
    for number in range(1, 11):
        assert f"alert({number})" in everything, "the page that shows it was not read"
    assert "{{ 7 * 7 }}" in everything
    assert "\\u202etxt.exe" in everything
    assert "\u202e" not in everything
    assert {path for path in HOSTILE if path != ".env"} <= set(everything.split("\n")) | {
        path for path in HOSTILE if path in everything
    }


def test_pages_are_small_and_static_files_smaller(browser: httpx2.Client) -> None:
    assert len(browser.get("/static/explorer.css").content) + len(browser.get("/static/explorer.js").content) < 120_000
    assert len(browser.get("/symbol?name=shop.cart.total").content) < 150_000


def test_places_that_an_answer_names_are_links(browser: httpx2.Client) -> None:
    """A person cannot click on text, and searched again for what the page had named."""
    page = read(browser, "/search?q=total")
    card = "".join(re.findall(r'<p class="card">.*?</p>', page))
    places = re.findall(r'<a href="/file\?path=([^"&]*)&amp;line=\d+#L(\d+)">[^<]*</a>', card)
    assert ("tests%2Ftest_cart.py", "5") in places
    assert ("shop%2Fcart.py", "11") in places  # of the subject's own file, which its lines leave out
    # the file of these lines has blanks in its path; they are no lines of another one
    assert {("shop%2Fcart.py", "5"), ("shop%2Fcart.py", "1")}.isdisjoint(places)
    assert not re.search(r"<a[^>]*>\d+:</a>", card)
    beside = re.findall(
        r'also: <a href="/symbol\?name=([^"]*)">(\w+) (\d+)</a>', read(browser, "/search?q=basket+price")
    )
    assert beside
    assert all(name.endswith(f"%3A{line}") for name, _, line in beside)
    name, title, _ = beside[0]
    assert title in read(browser, f"/symbol?name={name}")
