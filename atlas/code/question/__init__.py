"""What is asked: text -> `Query`, with names, scope, intent, languages, and the phrases of relations and changes."""
