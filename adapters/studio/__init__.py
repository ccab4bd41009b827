"""Serve every method on LangGraph's platform, for `langgraph dev` and LangGraph Studio.

`langgraph.json` at the top of the repository names one graph for each method (served.py). Such a
graph takes JSON, runs a session with `peirce.arun`, and returns the outcome as JSON. The extra
`studio` installs the server. docs/how-to/use-langgraph-studio.md explains its use.
"""
