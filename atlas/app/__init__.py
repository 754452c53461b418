"""The composition root: settings become adapters, and adapters become the programs of the command line."""
