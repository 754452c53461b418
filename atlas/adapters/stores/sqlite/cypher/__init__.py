"""Read-only openCypher over the tables of the embedded store.

`run` takes the text of a query and returns rows; anything outside the read subset raises QueryError and names the
construct. The modules in order: lexer, parse*, syntax (text to tree, in `atlas.adapters.stores.cypher`); scope,
expressions,
pattern, match, project, query (tree to functions over rows; joins become SQL); values, functions, operators,
aggregate, expand (the runtime). Without ORDER BY and UNWIND, the returned rows are sorted by their values, so that
equal graphs give equal results.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import apsw

from atlas.adapters.stores.sqlite.rows import value
from atlas.core.errors import QueryError
from atlas.core.model import Table


def run(
    connection: apsw.Connection,
    text: str,
    parameters: Mapping[str, object],
    limit: int,
    timeout: float,
    project: str = "",
) -> Table:
    """Run a query and return at most `limit` rows, after at most `timeout` seconds.

    See `Store.cypher` for `project`.

    Raises QueryError for malformed or unsupported text, for runtime type errors, and if a limit is exceeded.
    """
    # The parser and compiler are imported for the first query, so that a process without queries does not pay for them.
    from atlas.adapters.stores.cypher.parser import parse
    from atlas.adapters.stores.cypher.project_scope import names_project, restricted
    from atlas.adapters.stores.sqlite.cypher.context import QueryContext
    from atlas.adapters.stores.sqlite.cypher.graph import Graph
    from atlas.adapters.stores.sqlite.cypher.guard import guarded
    from atlas.adapters.stores.sqlite.cypher.meter import hold
    from atlas.adapters.stores.sqlite.cypher.query import compile_query, compile_subquery
    from atlas.adapters.stores.sqlite.cypher.results import collect_rows
    from atlas.adapters.stores.sqlite.cypher.scope import NameScope
    from atlas.adapters.stores.sqlite.cypher.values import check_parameter

    try:
        tree = parse(text)
        if project and not names_project(tree) and value(connection, "SELECT count(*) FROM project") > 1:
            tree = restricted(tree, project)
    except RecursionError as error:
        raise QueryError("the query is nested too deeply", "simplify it", 1, 1) from error
    with guarded(connection, timeout) as guard:
        values = {name: hold(check_parameter(given, name), guard) for name, given in parameters.items()}
        graph = Graph(connection)
        context = QueryContext(text, values, graph, guard, lambda subquery, scope: subqueries(subquery, scope))
        subqueries = partial(compile_subquery, context=context)
        compiled = compile_query(tree, NameScope(), context, most=limit + 1)
        rows, truncated = collect_rows(compiled.start(iter(((),))), tree, graph, limit, guard)
        return Table(compiled.columns, rows, truncated or guard.depth_cut)
