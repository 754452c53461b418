"""Training of the models that ship in the package. Not part of the package."""
