"""Questions that ask for several things: `clauses` splits a text, `subject` says what a part is about.

`several` is the entry: it returns the requests of a text, each as a question that can be asked alone.
"""
