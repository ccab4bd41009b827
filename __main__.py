"""`python -m peirce` is the command line."""

from .cli import main

main()
