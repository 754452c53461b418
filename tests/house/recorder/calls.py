"""What is asked: names and questions of each tree, queries, errors, and the sequences for notes, packs and papers."""

NAMES = {
    "gate": ["RateLimiter", "Ledger.refund", "split_by_capacity", "haversine", "UploadQueue.Flush", "zoomToFit", "courier.tours", "base_price"],
    "gin": ["Engine", "Context.JSON", "RouterGroup.Handle", "node.addRoute", "Recovery", "binding.Default"],
    "zod": ["ZodString", "ZodType.parse", "ZodObject.extend", "safeParse", "addIssueToContext"],
    "tokio": ["JoinHandle", "Runtime.block_on", "TcpStream", "mpsc.channel", "Semaphore.acquire"],
    "django": ["QuerySet.filter", "Model.save", "HttpResponse", "URLResolver.resolve", "BaseCommand", "get_object_or_404", "TestCase"],
}
ASKS = {
    "gate": ["where are passwords stored safely", "route for orders", "which tests cover tours", "unused functions", "untested functions",
             "dependencies of this project", "which packages are used", "path from plan to haversine", "Traceback (most recent call last):\n  File \"courier/pricing.py\", line 9, in base_price\nValueError: x",
             "the sandwich recipe of my grandmother", "how is haversine implemented?", "RateLimiter vs Ledger", "¿dónde se guardan las contraseñas?"],
    "gin": ["how are routes stored in a tree", "which routes exist", "panic recovery middleware", "implementations of Binding", "what imports net/http",
            "path from Engine.ServeHTTP to node.getValue", "unused functions", "c.ShouldBindJSON error when the body is empty"],
    "zod": ["how are errors formatted", "subclasses of ZodType", "where is the email regular expression", "parse a date from a string", "what imports ZodError", "untested functions"],
    "tokio": ["how does the scheduler steal work", "implementations of AsyncRead", "timer wheel", "what spawns a blocking thread", "path from spawn to schedule", "docs that mention cancellation"],
    "django": ["where are migrations ordered", "csrf token check", "subclasses of Field", "how does the admin log changes", "tests for QuerySet.bulk_create",
               "what imports django.utils.timezone", "sql injection escape of identifiers", "overrides of get_queryset", "settings for the cache backend"],
}
CYPHER = [
    "MATCH (n) RETURN labels(n)[0] AS label, count(*) AS n ORDER BY n DESC, label",
    "MATCH (f:Function) RETURN f.name, f.path ORDER BY f.path, f.name LIMIT 5",
    "MATCH (a)-[r:CALLS]->(b) RETURN type(r), count(*) AS n",
    "MATCH (a)-[r]->(b) RETURN type(r) AS t, r.strategy AS s, count(*) AS n ORDER BY n DESC, t, s LIMIT 15",
    "MATCH (c:Class)-[:INHERITS*1..3]->(b:Class) RETURN c.name, b.name ORDER BY c.name, b.name LIMIT 10",
    "MATCH p = (a:Function)-[:CALLS*1..2]->(b:Function) RETURN length(p) AS l, count(*) AS n ORDER BY l",
    "MATCH (f:Function) WHERE f.name =~ '^get.*' RETURN f.name ORDER BY f.name LIMIT 5",
    "MATCH (f) WHERE f.docstring CONTAINS 'error' RETURN count(f) AS n",
    "UNWIND [1,2,3] AS x RETURN x * 2 AS y",
    "RETURN 'a' + 1", "MATCH (n RETURN n", "CREATE (n:X) RETURN n", "MATCH (n:Nothing) RETURN n.name", "RETURN 1/0",
    "MATCH (f:File) RETURN f.path AS path ORDER BY path SKIP 2 LIMIT 3",
    "MATCH (f:Function) WITH f.path AS path, collect(f.name) AS names RETURN path, size(names) AS n ORDER BY n DESC, path LIMIT 5",
]
ERRORS = [
    ("get_node", {"name": "does_not_exist_anywhere"}), ("get_node", {}), ("get_node", {"name": 5}), ("get_node", {"name": "x", "wrong": 1}),
    ("get_context", {"name": "", "token_budget": 100}), ("get_context", {"name": "x", "token_budget": 0}), ("get_context", {"name": "README.md:3"}),
    ("get_context", {"name": "nothing.py:3"}), ("hybrid_search", {"query": ""}), ("hybrid_search", {"query": "x", "limit": 0}), ("hybrid_search", {"query": "x", "limit": 51}),
    ("hybrid_search", {"query": "x", "cursor": "wrong"}), ("hybrid_search", {"query": "x", "labels": ["Wrong"]}), ("hybrid_search", {"query": "x", "labels": "Function"}),
    ("hybrid_search", {"query": "x", "languages": ["klingon"]}), ("hybrid_search", {"query": "x", "path": "nowhere/"}), ("hybrid_search", {"query": "x", "project": "other"}),
    ("hybrid_search", {"query": "function", "token_budget": 1}), ("hybrid_search", {"query": "function", "token_budget": 40}), ("text_search", {"query": "function", "token_budget": 90}),
    ("vector_search", {"query": "function", "token_budget": 90}), ("hybrid_search", {"query": "?"}), ("hybrid_search", {"query": "\u0000 \u202e x"}), ("hybrid_search", {"query": "who calls does_not_exist"}),
    ("hybrid_search", {"query": "callers of"}), ("impact", {}), ("impact", {"name": "x", "diff": "HEAD"}), ("impact", {"name": "does_not_exist"}), ("impact", {"name": "x", "format": "png"}),
    ("cypher_query", {"query": "RETURN $x AS x", "parameters": {"x": [1, "a", None]}}), ("cypher_query", {"query": "RETURN $x"}), ("cypher_query", {"query": "MATCH (n) RETURN n", "token_budget": 30}),
    ("cypher_query", {"query": "MATCH (n) RETURN n.name ORDER BY n.uid", "limit": 2}), ("status", {"skipped_filter": "size"}), ("status", {"token_budget": 20}), ("nothing", {}), ("hybrid_serch", {"query": "x"}),
    ("list_packs", {}), ("ask_pack", {"question": "x"}), ("get_unit", {"id": "x"}),
]
CLI = [
    ["--version"], ["nothing"], ["search", "RateLimiter"], ["search", "who calls haversine", "--json"], ["search", "nothing at all qqq"], ["search", "haversine", "--mode", "text", "--limit", "2"],
    ["search", "x", "--label", "Wrong"], ["search", "tour", "--token-budget", "60"], ["search", "stop", "--brief", "--limit", "3"], ["search", "plan tours", "--explain", "--json"],
    ["node", "RateLimiter"], ["node", "nope"], ["node", "Ledger.refund", "--json"], ["context", "haversine"], ["context", "haversine", "--json"], ["context", "haversine", "--token-budget", "20"],
    ["impact", "haversine"], ["impact", "--diff", "HEAD~1"], ["impact"], ["impact", "haversine", "--json"], ["cypher", "MATCH (n:Class) RETURN n.name ORDER BY n.name"],
    ["cypher", "MATCH (n"], ["cypher", "MATCH (n:Class) RETURN n.name ORDER BY n.name", "--json"], ["schema"], ["schema", "--json"], ["status"], ["status", "--json"], ["health"], ["health", "--json"],
    ["export", "--format", "graphml"], ["export"], ["index", "--json"], ["dead-letters"], ["daemon", "status"], ["config", "show", "--json"],
]


def knowledge_calls(client):
    c = client.call
    c("list_propositions"); c("list_entities"); c("refresh")
    made = []

    def note(got):
        structure = (got.get("result") or {}).get("structuredContent") or {}
        import json, re
        found = re.findall(r"\b[a-z]*-?0[0-9][0-9a-zA-Z]{24}\b", json.dumps(structure))
        made.append(found[0] if found else "none")
        return made[-1]

    a = note(c("ingest_hypothesis", hypothesis="The ledger never overwrites a balance", source="courier/ledger.py:18", confidence=0.9, about=["Ledger.refund"], idempotency_key="k1"))
    c("ingest_hypothesis", hypothesis="The ledger never overwrites a balance", source="courier/ledger.py:18", confidence=0.9, about=["Ledger.refund"], idempotency_key="k1")
    b = note(c("ingest_hypothesis", hypothesis="The ledger overwrites a balance when a refund fails", confidence=0.4))
    d = note(c("ingest_hypothesis", hypothesis="We plan tours with the nearest neighbour", kind="decision", about=["courier/tours.py"]))
    c("ingest_hypothesis", hypothesis="We use numpy", about=["package:numpy", "route:/orders"])
    e = note(c("ingest_hypothesis", hypothesis="Tours are shorter after neighbouring stops were exchanged", source="https://doi.org/10.1000/xyz.1"))
    f = note(c("ingest_hypothesis", hypothesis="I prefer tea", personal=True))
    c("ingest_hypothesis", hypothesis=""); c("ingest_hypothesis", hypothesis="x", confidence=2); c("ingest_hypothesis", hypothesis="x", about=["no.such.symbol"])
    c("connect_propositions", **{"from": a, "to": b, "relation": "contradicts", "reasoning": "opposite", "confidence": 0.8})
    c("connect_propositions", **{"from": e, "to": d, "relation": "supports"}); c("connect_propositions", **{"from": a, "to": a, "relation": "supports"})
    c("connect_propositions", **{"from": a, "to": "nothing", "relation": "supports"}); c("connect_propositions", **{"from": a, "to": d, "relation": "likes"})
    for q in ("ledger balance", "why nearest neighbour", "unrelated sandwich", "tours"):
        c("semantic_search", query=q); c("semantic_search", query=q, limit=1, token_budget=120)
    c("semantic_search", query="ledger", min_confidence=0.5, status="proposed"); c("semantic_search", query="ledger", status="wrong")
    c("find_scientific_lineage", start_concept=e, end_concept=d); c("find_scientific_lineage", start_concept="ledger", end_concept="tours"); c("find_scientific_lineage", start_concept="zzz", end_concept="qqq", max_paths=2)
    c("find_contradictions", claim=a); c("find_contradictions", claim="The ledger overwrites every balance"); c("find_contradictions", claim=b, token_budget=80)
    for order in ("newest", "oldest", "confidence"):
        c("list_propositions", order=order, limit=2); c("list_propositions", order=order, limit=2, cursor="$CURSOR")
    c("list_propositions", filter="status:proposed ledger"); c("list_propositions", filter="kind:wrong"); c("list_propositions", cursor="x"); c("list_propositions", token_budget=60)
    for one in (a, b, d, e, f, "nothing"):
        c("get_unit", id=one)
    c("get_unit", id=a, token_budget=60)
    c("update_unit", id=a, text="The ledger never overwrites a stored balance", status="accepted"); c("update_unit", id=a, status="wrong"); c("update_unit", id=b, confidence=0.3, reaffirm=True)
    c("update_unit", id="nothing"); c("update_unit", id=d, about=["courier.tours"], source="adr/0001-nearest-neighbour.md:1")
    c("retract_unit", id=b, reason="measured", superseded_by=a); c("retract_unit", id="nothing", reason="x"); c("get_unit", id=b)
    g = note(c("remember", entity="Ada", observation="likes tea", type="person", aliases=["Countess"], idempotency_key="m1"))
    c("remember", entity="Ada", observation="likes tea", type="person", aliases=["Countess"], idempotency_key="m1")
    c("remember", entity="Ada", observation="wrote the first program", when="1843-09-01"); c("remember", entity="Countess", observation="meets on Mondays"); c("remember", entity="Ada", observation="x", when="wrong")
    c("remember", entity="Dispatch team", observation="owns courier/tours.py", type="team"); c("remember", entity=""); c("remember", entity="Me", observation="secret", personal=True)
    c("relate", **{"from": "Ada", "to": "Dispatch team", "relation": "member of"}); c("relate", **{"source": "Ada", "target": "Dispatch team", "relation": "leads"})
    c("remember_shortterm", content="the demo is at noon"); c("remember_shortterm", text="the demo is at noon"); c("remember_shortterm", observation="the demo is at noon"); c("remember_shortterm")
    for q in ("tea", "who owns tours", "demo", "program", "sandwich"):
        c("recall", query=q, include_shortterm=True); c("recall", query=q, limit=1, token_budget=100)
    c("recall", query="tea", entity="Ada"); c("recall", query="tea", entity="Nobody"); c("recall", query="program", since="1800-01-01"); c("recall", query="x", since="wrong"); c("recall", query="tea", since="7d")
    c("list_entities"); c("list_entities", type="person"); c("list_entities", limit=1); c("list_entities", limit=1, cursor="$CURSOR"); c("list_entities", token_budget=50)
    c("refresh", greeting="Hello, what about the ledger?"); c("refresh", token_budget=80)
    c("get_unit", id=g); c("forget", id="nothing"); c("forget", id=g); c("promote", id="nothing", entity="Ada"); c("promote", id=g)
    for q in ("why does the ledger never overwrite", "notes about Ledger.refund", "which decisions are suspect", "who is Ada", "Ledger.refund"):
        c("hybrid_search", query=q)
    c("get_context", name="Ledger.refund"); c("get_node", name="Ledger.refund"); c("impact", name="Ledger.refund"); c("status")
    client.rec.keep("ids", [client.rec.normal.text(one) for one in made])


def pack_calls(client):
    c = client.call
    c("list_packs"); c("list_packs", token_budget=40)
    asked = ["What does select_related do?", "How do I define a many-to-many field?", "How do I bind a query string?", "What is the default of on_delete?", "How do I bake bread?", "QuerySet.bulk_create",
             "Which exceptions does get() raise?", "How to validate an email?", "What changed in 5.2?", "middleware", "¿Cómo se define un modelo?"]
    for q in asked:
        c("ask_pack", question=q); c("search_pack", query=q, limit=3)
    for p in ("baseline", "balanced", "maximum", "wrong"):
        c("ask_pack", question=asked[0], profile=p, pack="django")
    c("ask_pack", question=asked[2], pack="gin@1.10.1"); c("ask_pack", question=asked[2], pack="gin@9"); c("ask_pack", question=asked[2], pack="nothing"); c("ask_pack", question=asked[0], token_budget=60); c("ask_pack", question="")
    c("ask_pack", question=asked[0], token_budget=3000); c("search_pack", query=asked[1], pack="django", limit=50); c("search_pack", query="x", limit=0)
    c("pack_article", article="ref/models/querysets"); c("pack_article", article="django.db.models.query.QuerySet", pack="django"); c("pack_article", article="QuerySet API reference"); c("pack_article", article="nothing")
    c("pack_article", article="QuerySet API reference", token_budget=200); c("pack_article", article="README.md", pack="gin"); c("pack_article", article="")
    c("hybrid_search", query="django select_related"); c("get_context", name="RateLimiter")


def paper_calls(client):
    c = client.call
    client.request("tools/list"); client.request("resources/list"); client.request("prompts/list")
    c("search_stored"); c("search_papers", topic="attention", max_results=2); c("search_papers", topic="code graphs", max_results=11); c("search_papers", topic="../../x"); c("search_papers")
    c("search_papers", topic="x", since="wrong"); c("search_papers", topic="by ada", author="Ada Lovelace", sort="submitted"); c("search_papers", topic="by ada", author="Ada Lovelace")
    for q in ("transformer", "how do code graphs answer questions", "sandwich"):
        c("search_stored", query=q); c("search_stored", query=q, limit=2)
    c("search_stored", topic="attention"); c("search_stored", topic="nothing"); c("search_stored", since="2023-01-04", until="2023-01-06"); c("search_stored", venue="cs.SE", limit=2)
    for one in ("1706.03762", "1810.04805v2", "2101.00001", "9999.99999", "wrong"):
        c("get_paper", id=one); c("related_papers", id=one, limit=3)
    c("citation_graph"); c("citation_graph", topic="attention"); c("citation_graph", limit=1)
    for f in ("bibtex", "ris", "markdown", "wrong"):
        c("export_papers", format=f, topic="attention"); c("export_papers", format=f, ids=["1706.03762", "nothing"])
    c("check_topics"); c("check_topics", topic="attention"); c("check_topics", topic="nothing")
    client.request("resources/list"); client.request("resources/read", uri="papers://folders"); client.request("resources/read", uri="papers://attention"); client.request("resources/read", uri="papers://nothing")
    client.request("prompts/get", name="generate_search_prompt", arguments={"topic": "attention", "num_papers": "3"}); client.request("prompts/get", name="generate_search_prompt", arguments={})
    client.request("completion/complete", ref={"type": "ref/resource", "uri": "papers://{topic}"}, argument={"name": "topic", "value": "a"})
