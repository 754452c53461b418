"""`atlas chat` in a terminal: the screen, the line editor, commands and forms; and without one, a single question."""
