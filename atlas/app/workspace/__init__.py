"""The workspace of a session: the other projects of the user that answer with its own.

`members` opens them, each with a session of its own; `asking` sends a question to one of them or to all; `lines` says
what the others add to an answer about one project. Only members that the user's settings name are ever opened.
"""
