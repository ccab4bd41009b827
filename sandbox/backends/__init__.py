"""Backends of the sandbox: processes of this machine, or containers of a Docker engine."""
