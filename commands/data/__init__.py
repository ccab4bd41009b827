"""Commands that generate, audit and export data, and diagnose the installation."""
