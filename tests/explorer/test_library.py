"""The pages of knowledge, packs, papers and chat over HTTP: what they show, what they write, and who may write."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterator

import httpx2
import pytest

from atlas.server.explorer.packs import passages_of
from tests.chat.model_server import Fail, ModelServer, Say, model_server

from .library import Library, evil, make_library
from .served import PageReader, ServedExplorer, explorer

MOST_PAGES = 120
NUMBERS = (21, 22, 23, 24, 25, 26, 31, 32, 34, 36, 38, 41, 42, 43)
"""Of the hostile texts that a page shows; the others are tags of HTML that a build of a pack leaves out."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return make_library(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def served(library: Library) -> Iterator[ServedExplorer]:
    with explorer(library.root, library.data, env=library.environment) as running:
        yield running


@pytest.fixture(scope="module")
def browser(served: ServedExplorer) -> Iterator[httpx2.Client]:
    with served.client() as client:
        served.enter(client)
        yield client


def read(browser: httpx2.Client, path: str, status: int = 200, **query: str) -> str:
    answer = browser.get(path, params=query) if query else browser.get(path)
    assert answer.status_code == status, answer.text
    assert "internal error" not in answer.text
    return html.unescape(answer.text)


def token_of(browser: httpx2.Client, page: str) -> str:
    found = re.search(r'name="token" value="([^"]+)"', browser.get(page).text)
    assert found, "the page has no form"
    return found[1]


def post(browser: httpx2.Client, path: str, fields: dict[str, str], **headers: str) -> httpx2.Response:
    own = {"origin": str(browser.base_url).rstrip("/"), "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate"}
    return browser.post(
        path, data=fields, headers={**own, **{name.replace("_", "-"): value for name, value in headers.items()}}
    )


def test_claims_are_listed_searched_and_related(browser: httpx2.Client, library: Library) -> None:
    page = read(browser, "/knowledge")
    assert "The discount is always ten percent" in page
    assert "per its file:" in page
    assert "Prices are in cents" not in page
    assert "Prices are in cents" in read(browser, "/knowledge?view=decisions")
    assert "A basket weighs" in read(browser, "/knowledge", words="weight of a basket")
    unit = read(browser, "/unit", id=library.claim)
    assert "contradicts ->" in unit
    assert "shop.cart.discount" in unit
    # its neighbours stand in layers, and the picture leads on
    assert unit.count('<rect class="box"') == 2
    assert unit.count('<rect class="subject"') == 1
    assert f"/unit?id={library.suspect}" in unit


def test_contradictions_are_shown_with_and_without_a_question(browser: httpx2.Client, library: Library) -> None:
    page = read(browser, "/knowledge?view=contradictions")
    assert page.index(library.claim) < page.index("contradicts") < page.index(library.other)
    asked = read(browser, "/knowledge", view="contradictions", words=library.claim)
    assert "stated" in asked
    assert "The discount is never ten percent" in asked
    path = read(browser, "/knowledge", view="paths", words=library.suspect, to=library.other)
    assert "supports" in path
    assert "contradicts" in path


def test_entities_have_a_time_line(browser: httpx2.Client, library: Library) -> None:
    assert f"/unit?id={library.entity}" in read(browser, "/knowledge?view=entities")
    page = read(browser, "/unit", id=library.entity)
    assert re.search(r"<time>\d{4}-\d\d-\d\d</time> <span>Releases on Thursdays", page)
    assert "Time line" in page
    assert read(browser, "/unit", 404, id="Nobody")
    assert read(browser, "/unit", 404)


@pytest.mark.parametrize(
    ("headers", "token", "status"),
    [
        ({}, "wrong", 400),
        ({}, "", 400),
        ({"origin": "http://attacker.example"}, "right", 403),
        ({"origin": "null"}, "right", 403),
        ({"origin": "http://127.0.0.1:1"}, "right", 403),
        ({"sec_fetch_site": "cross-site"}, "right", 403),
        ({"sec_fetch_site": "same-site"}, "right", 403),
        ({"content_type": "text/plain"}, "right", 415),
        ({"content_type": "multipart/form-data; boundary=x"}, "right", 415),
        ({"cookie": "atlas-00000000=x"}, "right", 403),
        ({"host": "attacker.example"}, "right", 421),
    ],
)
def test_only_forms_of_ours_write(
    browser: httpx2.Client, library: Library, headers: dict[str, str], token: str, status: int
) -> None:
    right = token_of(browser, f"/unit?id={library.other}")
    given = {"right": right, "wrong": right[::-1], "": ""}[token]
    fields = {"token": given, "id": library.other, "action": "retract", "reason": "attack"}
    with httpx2.Client(base_url=browser.base_url, cookies=browser.cookies, timeout=60) as client:
        if "cookie" in headers:
            client.cookies.clear()
        assert post(client, "/unit/write", fields, **headers).status_code == status
    assert "attack" not in read(browser, "/unit", id=library.other)


def test_a_write_without_an_origin_is_refused(browser: httpx2.Client, library: Library) -> None:
    fields = {"token": token_of(browser, f"/unit?id={library.other}"), "id": library.other, "action": "reaffirm"}
    assert browser.post("/unit/write", data=fields).status_code == 403
    assert browser.get("/unit/write").status_code == 404
    assert post(browser, "/unit/write", {"token": "a" * 500_000}).status_code == 400
    assert post(browser, "/knowledge", fields).status_code == 405


def test_a_suspect_is_reaffirmed_amended_and_withdrawn(browser: httpx2.Client, library: Library) -> None:
    assert "A basket weighs" in read(browser, "/knowledge?view=suspects")
    page = f"/unit?id={library.suspect}"
    assert "suspect: changed" in read(browser, page)
    fields = {"token": token_of(browser, page), "id": library.suspect}
    done = post(browser, "/unit/write", {**fields, "action": "reaffirm"})
    assert (done.status_code, done.headers["location"]) == (303, f"/unit?id={library.suspect}&done=reaffirm")
    shown = read(browser, done.headers["location"])
    assert "It is reaffirmed" in shown
    assert "suspect: changed" not in shown
    assert "A basket weighs" not in read(browser, "/knowledge?view=suspects")
    changed = {"action": "amend", "text": "A basket weighs\ntwo kilograms", "confidence": "0.5", "status": "disputed"}
    assert post(browser, "/unit/write", {**fields, **changed}).status_code == 303
    shown = read(browser, page)
    assert "two kilograms" in shown
    assert "disputed, confidence 0.5" in shown
    for wrong in ({"confidence": "nan"}, {"confidence": "7"}, {"confidence": "x"}, {"status": "retracted"}, {}):
        assert post(browser, "/unit/write", {**fields, "action": "amend", **wrong}).status_code == 400, wrong
    assert post(browser, "/unit/write", {**fields, "action": "delete"}).status_code == 400
    retract = {"action": "retract", "reason": "It was never weighed"}
    assert post(browser, "/unit/write", {**fields, **retract}).status_code == 303
    shown = read(browser, page)
    assert "retracted" in shown
    assert "It was never weighed" in shown
    note = next((library.root / ".knowledge" / "claims").rglob("*basket*"))
    assert "two kilograms" in note.read_text(encoding="utf-8")


def test_nothing_is_written_where_writing_is_forbidden(library: Library) -> None:
    given = {**library.environment, "ATLAS_KNOWLEDGE_ALLOW_WRITE": "false"}
    with explorer(library.root, library.data, env=given) as running, running.client() as client:
        running.enter(client)
        page = client.get("/unit", params={"id": library.claim}).text
        assert "discount" in page
        assert "<textarea" not in page
        token = token_of(client, "/chat") if 'name="token"' in client.get("/chat").text else "x"
        assert (
            post(client, "/unit/write", {"token": token, "id": library.claim, "action": "reaffirm"}).status_code == 400
        )


def test_packs_are_listed_searched_read_and_compared(browser: httpx2.Client) -> None:
    page = read(browser, "/packs")
    assert "widget@1" in page
    assert "widget@2" in page
    found = read(browser, "/packs", words="rate of tax", pack="widget@2")
    assert "nine percent" in found
    assert "/article?pack=widget%402" in found
    answer = read(browser, "/packs", words="What is the total of a cart?", pack="widget@1", mode="answer")
    assert "sum of the prices" in answer
    assert "sources" in answer
    articles = read(browser, "/packs?pack=widget@1")
    link = next(one for one in re.findall(r'href="(/article[^"]*)"', articles) if "cart" in one)
    article = read(browser, link)
    assert "<h3>Totals</h3>" in article
    assert '<pre tabindex="0">total(cart)' in article
    assert "no article" in read(browser, "/packs?pack=widget@1&filter=nothing-like-this")
    compared = read(browser, "/packs?old=widget@1&new=widget@2")
    assert "articles that changed" in compared
    assert "tax.html" in compared
    assert "They are the same" in read(browser, "/packs?old=widget@1&new=widget@1")
    assert read(browser, "/packs?pack=nonesuch", 404)
    assert read(browser, "/packs?pack=../../etc", 404)
    assert read(browser, "/article?pack=widget@1&article=nonesuch", 404)


def test_articles_are_divided_into_headings_code_and_text() -> None:
    parts = ["# One #\ntext", "```py\na = 1\n\n# no heading\n```\nafter", "````\n```\n````", "```\nopen"]
    assert [(one.kind, one.text) for one in passages_of(parts)] == [
        ("heading", "One"), ("text", "text"), ("code", "a = 1\n\n# no heading"), ("text", "after"),
        ("code", "```"), ("code", "open"),
    ]  # fmt: skip


def test_papers_are_listed_by_topic_year_and_citation(browser: httpx2.Client) -> None:
    page = read(browser, "/papers")
    assert "3 of 3" in page
    assert "By year" in page
    # of an imported paper only the year is known
    assert "1 of 1" in read(browser, "/papers?since=2019&until=2019")
    assert "Deeper Attention" in read(browser, "/papers?topic=attention&query=more+layers")
    reading = read(browser, "/papers?view=reading")
    assert reading.index("1706.03762") < reading.index("1901.00001") < reading.index("2001.00001")
    assert "1512.03385" in reading[reading.index("not stored") :]
    cited = read(browser, "/papers?view=citations")
    assert cited.count('<rect class="box"') == 3
    assert cited.count("<path ") == 3
    paper = read(browser, "/paper?id=1706.03762")
    assert "cited by" in paper
    assert "Deeper Attention" in paper
    assert "key points" in paper
    assert read(browser, "/papers?topic=nonesuch", 404)


def test_a_page_asks_no_service_about_papers(browser: httpx2.Client) -> None:
    assert "not stored" in read(browser, "/paper?id=2101.99999", 404)


def test_chat_says_how_a_model_is_configured(browser: httpx2.Client) -> None:
    page = read(browser, "/chat")
    assert "language_model.model" in page
    assert "<textarea" not in page


def test_nothing_of_a_stranger_is_markup(browser: httpx2.Client, library: Library) -> None:
    """Follows the links of the pages of knowledge, packs and papers: each tag and address is one of our templates."""
    waiting = ["/knowledge", f"/unit?id={library.claim}", "/packs", "/packs?old=widget@1&new=widget@2", "/papers",
               "/papers?view=reading", "/papers?view=citations", "/knowledge?view=contradictions", "/chat",
               f"/unit?id={library.entity}", "/packs?words=cart&mode=answer", "/packs?words=tax+rate",
               "/packs?pack=widget@1", "/unit?id=%3Cscript%3Ealert(1)%3C/script%3E", "/paper?id=<img src=x>"]  # fmt: skip
    seen, texts = set(waiting), list[str]()
    ours = ("/unit", "/knowledge", "/packs", "/article", "/paper")
    for _ in range(MOST_PAGES):
        if not waiting:
            break
        path = waiting.pop(0)
        answer = browser.get(path)
        assert answer.status_code in (200, 400, 404), (path, answer.text)
        page = PageReader(answer.text)
        assert page.wrong == [], path
        texts += page.text
        waiting += sorted(one for one in page.links - seen if one.startswith(ours))
        seen |= page.links
    everything = "".join(texts)
    missing = [number for number in NUMBERS if f"alert({number})" not in everything]
    assert missing == [], "the page that shows it was not read"


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


def chatting(library: Library, model: ModelServer) -> dict[str, str]:
    return {
        **library.environment,
        "ATLAS_LANGUAGE_MODEL_MODEL": "openai/stub",
        "ATLAS_MCP_TOOLSETS": "code,claims",
        "ATLAS_LANGUAGE_MODEL_URL": model.openai,
        "OPENAI_API_KEY": "k",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def until(browser: httpx2.Client, *texts: str) -> str:
    """The page of the chat once it has all of some texts."""
    end = time.monotonic() + 90
    while True:
        page = read(browser, "/chat")
        if all(text in page for text in texts):
            return page
        assert time.monotonic() < end, page
        time.sleep(0.1)


def test_a_chat_answers_asks_before_it_writes_and_begins_anew(library: Library, model: ModelServer) -> None:
    claim = '{"hypothesis": "Carts are red <script>alert(51)</script>"}'
    model.steps += [
        Say(f"Let me see. {evil(50)}", [("get_node", '{"name": "shop.cart.total"}')]),
        Say("", [("ingest_hypothesis", claim)]),
        Say("# Done\n\n```\ncode <b>\n```"),
    ]
    with explorer(library.root, library.data, env=chatting(library, model)) as running, running.client() as client:
        running.enter(client)
        token = token_of(client, "/chat")
        assert post(client, "/chat/ask", {"token": "x", "question": "hello"}).status_code == 400
        assert client.post("/chat/ask", data={"token": token, "question": "hello"}).status_code == 403
        assert post(client, "/chat/ask", {"token": token, "question": f"Who? {evil(52)}"}).status_code == 303
        page = until(client, 'name="said" value="yes"')
        assert "Call ingest_hypothesis of" in page
        assert "Carts are red" in page
        assert '<noscript><meta http-equiv="refresh"' not in page  # a person reads
        assert PageReader(client.get("/chat").text).wrong == []
        assert post(client, "/chat/ask", {"token": token, "question": "again"}).status_code == 503
        call = re.findall(r'name="call" value="([^"]+)"', page)[0]
        assert post(client, "/chat/allow", {"token": token, "call": "other", "said": "yes"}).status_code == 400
        assert post(client, "/chat/allow", {"token": token, "call": call, "said": "no"}).status_code == 303
        page = until(client, "is not called", "<h3>Done</h3>")
        assert '<pre tabindex="0">code <b></pre>' in page
        assert "the user does not allow" in model.results()[-1]
        assert not any("carts-are-red" in one.name for one in (library.root / ".knowledge").rglob("*.md"))
        assert PageReader(client.get("/chat").text).wrong == []
        assert post(client, "/chat/allow", {"token": token, "call": call, "said": "yes"}).status_code == 400
        live = client.get("/chat/live")
        assert live.headers["content-type"].startswith("text/event-stream")
        assert '"state": "idle"' in live.text
        model.steps.append(Fail(400, "no such model"))
        post(client, "/chat/ask", {"token": token, "question": "More?"})
        until(client, 'class="problem"')
        model.steps.append(Say("slowly", wait=60))
        post(client, "/chat/ask", {"token": token, "question": "Slow?"})
        until(client, "It is answering", "Slow?")
        assert post(client, "/chat/end", {"token": token}).status_code == 303
        until(client, "stopped; the question is forgotten", "<textarea")
        assert post(client, "/chat/end", {"token": token, "clear": "yes"}).status_code == 303
        assert "Slow?" not in read(client, "/chat")
