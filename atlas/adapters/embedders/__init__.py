"""Adapters that turn text into vectors. The default is the static model that ships in the package."""
