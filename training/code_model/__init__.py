"""The recipe of the model of code: see README.md."""
