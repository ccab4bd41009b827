"""Search for hypotheses without a language model.

There is one engine for each kind of input (engines.py). Engines run in worker processes.
"""
