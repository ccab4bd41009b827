"""Search for sentences that explain the labels of labelled rows or texts (the task `labels`)."""
