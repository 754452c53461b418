"""The tools of knowledge packs: what is installed, questions, search, articles."""
