"""From what the user named to documents: folders, work trees, installed packages, archives, registries and the web.

`collecting.collect` yields the articles in a stable order, `collecting.plan` says what it would read. Archives and
pages are hostile input: nothing in them is executed, leaves its root or passes a limit.
"""
