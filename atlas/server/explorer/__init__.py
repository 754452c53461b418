"""The explorer: the graph as pages for people, which `atlas ui` serves on this machine (ADR 0075).

`app` builds the application and serves it; `access` lets one browser in and sets the security headers of every answer.
Each page asks the tools through the session, so people read what agents read: `overview`, `search`, `symbol`, `files`,
`flow`, `reports` and `pictures`. `source` divides source into tokens with links, `render` holds the templates'
environment and makes the links. Templates escape by default, scripts get values as JSON only, and every page works
without scripts.
"""
