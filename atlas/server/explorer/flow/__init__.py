"""The flow page: the calls from one symbol to another, or what a route, an event or a symbol leads to.

`page` reads the request; `ladder` makes the steps of one chain with the alternatives beside them; `reach` follows calls
to queries, events and requests; `conditions` finds the conditions around a call in the text of the index.
"""
