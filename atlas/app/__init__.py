"""The composition root: turns settings into adapters, and adapters into the programs of the command line."""
