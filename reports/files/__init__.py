"""Write report files: tables as text, Markdown and CSV, and figures."""
