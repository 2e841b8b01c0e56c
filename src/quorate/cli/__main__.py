"""`python -m quorate.cli` is the `quorate` command."""

from quorate.cli.main import main

main()
