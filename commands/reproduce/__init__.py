"""The experiment of a paper as one command that continues where it stopped (`peirce reproduce`)."""
