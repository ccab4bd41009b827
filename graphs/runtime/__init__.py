"""One problem of one session: its case, the nodes that all methods share, what runs and replays them."""
