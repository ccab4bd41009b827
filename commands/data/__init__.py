"""Commands that generate, check and export data, and report what is installed."""
