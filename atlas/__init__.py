"""Code Atlas: a code graph that stays true, answered in few tokens with evidence."""

__version__ = "0.1.0"
