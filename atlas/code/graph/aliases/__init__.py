"""Type aliases: what their signatures say (`alias_text`), and what is related to them (`type_aliases`)."""
