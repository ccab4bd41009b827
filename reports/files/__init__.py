"""Files that reports write: tables as text, Markdown and CSV, figures, several files at once."""
