"""Generated, audited and exported data, and what this machine has."""
