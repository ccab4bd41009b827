"""Sandbox backends: processes on this machine, or containers of a Docker engine."""
