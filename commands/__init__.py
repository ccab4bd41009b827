"""The functions that the public API offers and the command line calls, by what they do.

`session/` runs sessions, `score/` judges and reports what they found, `train/` makes preference
pairs and models of them, `data/` looks at tasks and makes problems. What several of them need
stands here. No package below knows of this one.
"""
