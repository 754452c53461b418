"""One page with every measurement: each step runs a command of its own, and becomes a section with its table."""
