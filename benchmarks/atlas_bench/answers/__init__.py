"""`atlas bench answers`: questions with known answers, put to the search tool, to grep and to other commands.

The right answers ("gold") are written by hand from sources, tests and manifests, never taken from the graph. Nothing
here knows how an answer is made: an answer is judged by the places that it names.
"""
