"""The first page: what a project is, its map, its parts and how they depend on each other, and where to begin.

`counts` reads the project once for each generation of the index, with what `dependencies` joins to packs and `prose`
keeps of the README; `page` makes the page of it for each request, `treemap` draws the map.
"""
