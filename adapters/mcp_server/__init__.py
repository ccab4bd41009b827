"""The MCP server `peirce mcp`, which offers the public functions as tools to coding agents.

`settings.py` holds what the person who starts the server decides. `file_access.py`, `run_settings.py`
and `arguments.py` check what a client sends. `server.py` builds the server from the tools in
`session_tools.py`, `control_tools.py` and `hypothesis_tools.py` and the resources in `resources.py`.
`serving.py` serves it over stdio, and over HTTP behind the checks in `http_access.py`.

The SDK (`mcp`, the extra of the same name) is imported by these modules, not here.
"""
