"""The explorer in a real Chromium: no script of a repository runs, keys work, pages work without scripts and on a phone.

A missing browser is a failure in CI and else a skip: `apt-get install chromium` (Debian), or ATLAS_TEST_CHROMIUM.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

from tests.chat.model_server import Say, model_server

from .library import Library, evil, make_library
from .served import ServedExplorer, explorer, write_hostile

INSTALL = "no Chromium: `apt-get install chromium`, or name one in ATLAS_TEST_CHROMIUM"
PAGES = (
    "/", "/search", "/search?q=total", "/search?q=alert&mode=exact", "/search?relation=callers&of=shop.cart.total",
    "/symbol?name=shop.cart.total", "/symbol?name=shop.cart.total&view=impact",
    "/symbol?name=shop.cart.total&view=history", "/symbol?name=shop.cart", "/file?path=shop/cart.py", "/file?path=web",
    "/file?path=web/app.ts", "/changes", "/picture?name=shop.cart.total", "/picture?name=.", "/changes?form=comment", "/flow?of=Basket.price&to=shop.cart.discount", "/status", "/symbol?name=<script>alert(1)</script>",
)  # fmt: skip
CHECKS = """() => {
  const wrong = [];
  const seen = (one) => one.offsetParent !== null;
  const name = (one) => (one.textContent || "").trim() || one.getAttribute("aria-label") || one.getAttribute("title");
  for (const one of document.querySelectorAll("a, button")) if (seen(one) && !name(one)) wrong.push("no name: " + one.outerHTML);
  for (const one of document.querySelectorAll("input, select"))
    if (seen(one) && !one.labels.length && !one.getAttribute("aria-label")) wrong.push("no label: " + one.outerHTML);
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  if (new Set(ids).size !== ids.length) wrong.push("an id twice");
  if (document.querySelectorAll("main").length !== 1 || document.querySelectorAll("h1").length !== 1) wrong.push("main, h1");
  if (!document.documentElement.lang || !document.title) wrong.push("no language or title");
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (color) => { const [r, g, b] = parts(color).map((value) => { const part = value / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (one) => { for (; one; one = one.parentElement) { const color = getComputedStyle(one).backgroundColor;
    if (color !== "rgba(0, 0, 0, 0)") return color; } return "rgb(255, 255, 255)"; };
  for (const one of document.querySelectorAll("main *, header *, footer *")) {
    if (!seen(one) || ![...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
    if (one.namespaceURI !== "http://www.w3.org/1999/xhtml") continue;
    const [a, b] = [light(getComputedStyle(one).color), light(behind(one))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) wrong.push(contrast.toFixed(1) + " contrast: " + one.outerHTML.slice(0, 120));
  }
  for (const one of document.querySelectorAll("main *"))
    if (one.scrollWidth > one.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(one).overflowX)
      && one.tabIndex < 0) wrong.push("scrolls, but not by keyboard: " + one.outerHTML.slice(0, 120));
  return wrong;
}"""
"""What matters most of WCAG 2.1 AA: names, labels, ids, landmarks, contrast, and keys for what scrolls."""


AXE = os.environ.get("ATLAS_TEST_AXE", "")
"""The file `axe.min.js` of axe-core, which is not part of the project (MPL-2.0): `npm pack axe-core`."""
SERIOUS = """async () => {
  const found = await axe.run(document);
  const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  return serious.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)}`));
}"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = os.environ.get("ATLAS_TEST_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(INSTALL)
        pytest.skip(INSTALL)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedExplorer]:
    folder = tmp_path_factory.mktemp("browser")
    write_hostile(folder / "shop")
    with explorer(folder / "shop", folder / "data") as running:
        yield running


@pytest.fixture(scope="module")
def cookies(chromium: Browser, served: ServedExplorer) -> list[object]:
    """What the address gives to a browser, which it leads to the first page."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(served.address)
    page.wait_for_url(f"{served.base}/")
    found: list[object] = list(context.cookies())
    context.close()
    return found


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return make_library(tmp_path_factory.mktemp("browser-library"))


def cookies_of(chromium: Browser, served: ServedExplorer) -> list[object]:
    """What the address gives to a browser: an explorer that nobody has entered yet."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(served.address)
    page.wait_for_url(f"{served.base}/**", wait_until="commit")
    found: list[object] = list(context.cookies())
    context.close()
    return found


@contextmanager
def entered(chromium: Browser, served: ServedExplorer, **options: object) -> Generator[Page]:
    """A page of an explorer that nobody has entered yet; see `opened`."""
    with opened(chromium, cookies_of(chromium, served), served, **options) as page:
        yield page


def check(page: Page, path: str, width: int) -> None:
    """A page is accessible, no wider than the screen, and runs our script alone."""
    page.goto(path, wait_until="load")
    assert page.evaluate(CHECKS) == [], path
    if AXE:
        page.evaluate(Path(AXE).read_text(encoding="utf-8"))
        assert page.evaluate(SERIOUS) == [], path
    assert page.evaluate("document.scripts.length") == 1
    # nothing but what scrolls by itself is wider than the screen
    assert page.evaluate("document.documentElement.scrollWidth") <= width, path


@contextmanager
def opened(chromium: Browser, cookies: list[object], served: ServedExplorer, **options: object) -> Generator[Page]:
    """A page that fails the test if anything is said in its console, a dialog opens or another place is asked."""
    context = chromium.new_context(base_url=served.base, **options)  # type: ignore[arg-type]
    context.add_cookies(cookies)  # type: ignore[arg-type]
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: None if request.url.startswith(served.base) else said.append(request.url))
    yield page
    context.close()
    # a page that is not found is said, too
    assert [one for one in said if "404" not in one and "400" not in one] == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (380, "dark")])
def test_no_script_of_the_repository_runs_and_pages_are_accessible(
    chromium: Browser, cookies: list[object], served: ServedExplorer, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 800}
    with opened(chromium, cookies, served, viewport=size, color_scheme=scheme) as page:
        for path in PAGES:
            check(page, path, width)


def test_a_project_is_read_with_keys_alone(chromium: Browser, cookies: list[object], served: ServedExplorer) -> None:
    with opened(chromium, cookies, served) as page:
        page.goto("/")
        page.keyboard.press("/")
        page.keyboard.type("total")
        page.wait_for_selector("#suggestions a >> text=total")
        assert page.inner_text("#suggestions li.place") == "shop/cart.py"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**/symbol?name=*total")
        at = "[...document.querySelectorAll('main a.item')].indexOf(document.activeElement)"
        for key, expected in (("j", 0), ("j", 1), ("k", 0)):
            page.keyboard.press(key)
            assert page.evaluate(at) == expected
        page.keyboard.press("Enter")
        page.wait_for_url("**/symbol?name=*.use")
        page.keyboard.press("g")
        page.keyboard.press("s")
        page.wait_for_url("**/search")


def test_a_choice_waits_for_the_suggestions_of_the_whole_word(
    chromium: Browser, cookies: list[object], served: ServedExplorer
) -> None:
    """The list of the first letters stands while that of the word is under way: its first entry is another symbol."""

    def late(route: Route) -> None:
        time.sleep(0.5)
        route.continue_()

    with opened(chromium, cookies, served) as page:
        page.route("**/suggest?q=total", late)
        page.goto("/")
        page.keyboard.press("/")
        page.keyboard.type("pri")
        page.wait_for_selector("#suggestions a >> text=price")
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("total")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**/symbol?name=*")
        assert page.inner_text("h1") == "function total", "not the first suggestion for `pri`"


def test_every_page_works_without_scripts(chromium: Browser, cookies: list[object], served: ServedExplorer) -> None:
    with opened(chromium, cookies, served, java_script_enabled=False) as page:
        page.goto("/")
        page.fill("#q", "callers of total")
        page.click("header button")
        page.wait_for_url("**/search?q=callers+of+total")
        page.click("main a.item >> text=Basket.price")
        assert page.inner_text("h1") == "method price"
        page.click("text=If you change this")
        page.wait_for_url("**view=impact")
        assert "price" in page.inner_text("h1")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (380, "light")])
def test_notes_packs_and_papers_run_no_script_and_are_accessible(
    chromium: Browser, library: Library, width: int, scheme: str
) -> None:
    paths = [
        "/knowledge", "/knowledge?view=decisions", "/knowledge?view=suspects", "/knowledge?view=contradictions",
        f"/knowledge?view=contradictions&words={library.claim}", "/knowledge?view=entities", "/knowledge?words=discount",
        f"/knowledge?view=paths&words={library.suspect}&to={library.other}", f"/unit?id={library.claim}",
        f"/unit?id={library.suspect}", f"/unit?id={library.entity}", "/packs", "/packs?pack=widget@1",
        "/packs?words=tax+rate", "/packs?words=total+of+a+cart&mode=answer", "/packs?old=widget@1&new=widget@2",
        "/article?pack=widget@1&article=cart.md", "/article?pack=widget@1&article=tax.html", "/papers",
        "/papers?view=reading", "/papers?view=citations", "/paper?id=1706.03762", "/chat", "/flow",
    ]  # fmt: skip
    size = {"width": width, "height": 800}
    with (
        explorer(library.root, library.data, env=library.environment) as served,
        entered(chromium, served, viewport=size, color_scheme=scheme) as page,
    ):
        for path in paths:
            check(page, path, width)


def test_a_claim_is_mended_without_scripts(chromium: Browser, library: Library) -> None:
    """Browsers send the origin of our forms: were it missing, the write would be refused."""
    with (
        explorer(library.root, library.data, env=library.environment) as served,
        entered(chromium, served, java_script_enabled=False) as page,
    ):
        page.goto(f"/unit?id={library.other}")
        page.click("summary >> text=Amend")
        page.fill("textarea[name=text]", f"The discount is rarely ten percent {evil(61)}")
        page.click("button >> text=Amend")
        page.wait_for_url("**done=amend")
        assert "It is amended" in page.inner_text("main")
        assert "rarely ten percent" in page.inner_text("main")
        page.click("summary >> text=Withdraw")
        page.fill("input[name=reason]", "It was guessed")
        page.click("button >> text=Withdraw")
        page.wait_for_url("**done=retract")
        assert "It was guessed" in page.inner_text("main")


@pytest.mark.parametrize("has_script", [True, False])
def test_a_chat_streams_and_asks(chromium: Browser, library: Library, has_script: bool) -> None:
    call = '{"hypothesis": "Baskets are blue", "confidence": 0.5}'
    with model_server(Say(f"I note it. {evil(62)}", [("ingest_hypothesis", call)]), Say("# Noted")) as model:
        given = {**library.environment, "ATLAS_LANGUAGE_MODEL_MODEL": "openai/stub", "OPENAI_API_KEY": "k"}
        given |= {"ATLAS_LANGUAGE_MODEL_URL": model.openai, "ATLAS_MCP_TOOLSETS": "code,claims"}
        given |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        with (
            explorer(library.root, library.data, env=given) as served,
            entered(chromium, served, java_script_enabled=has_script) as page,
        ):
            page.goto("/chat")
            page.fill("textarea", f"Note it {evil(63)}")
            page.click("button >> text=Ask")
            # by events with a script, by asking again without one
            page.wait_for_selector("button[value=no]", timeout=90_000)
            assert "Baskets are blue" in page.inner_text("form.waiting")
            if has_script:
                check(page, "/chat", 1280)
            page.click("button[value=no]")
            page.wait_for_selector("li.answer h3 >> text=Noted", timeout=90_000)
            page.wait_for_selector("textarea")
            assert "is not called" in page.inner_text("#talk")
