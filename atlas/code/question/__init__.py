"""What is asked: text -> `Query`, with names, scope, intent, languages, and the phrases of relations and changes.

`parse_question` is the entry. `grammar` recognises questions about relations by the frames of `phrases.toml`, after
`question_scope` has taken off what surrounds them; `route_forms`, `package_questions`, `change_questions` and
`reach_questions` read the other kinds. `long_text` and `tracebacks` read reports of defects. All of it is pure: nothing
here reads the store.
"""
