"""What a question names or describes and no code has: words, names of a kind, proper names, options."""
