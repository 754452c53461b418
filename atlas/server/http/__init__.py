"""The HTTP server: access control, limits, connections and worker processes. Knows nothing of MCP (ADR 0011, 0059).

A connection comes in through `accept`, which keeps it in the table of `connections`; with several processes, `workers`
runs them and `balancer` hands connections out. `protocol` reads requests, `bodies` buffers what they carry, `auth`
checks Host, Origin and token, `admission` decides when a request starts, and `middleware` puts this together in front
of an ASGI application. `server` runs it all on a socket until a signal; `log` bounds what clients can write to the log.
"""
