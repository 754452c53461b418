"""Code Atlas: a code graph that stays current and answers in few tokens, with evidence."""

__version__ = "0.1.0"
