"""How a sandbox is built: as processes of this machine, or as containers of a Docker engine."""
