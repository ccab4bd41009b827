"""Search for programs over any JSON value: texts, numbers, truth values, null, lists and records."""
