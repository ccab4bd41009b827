"""The run of one problem in a session: its case, the shared nodes, the runner and the replay."""
