"""Recognition of a file of data: what it holds, and which task reads it."""
