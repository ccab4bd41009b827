"""Terminal output of the commands: live displays, listings and summaries."""
