"""`python -m atlas` is the `atlas` command."""

from atlas.cli.main import main

main()
