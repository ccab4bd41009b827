"""The code that runs one problem of a session: its working data, shared nodes, runner and
replay.
"""
