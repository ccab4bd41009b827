"""Code for methods that keep a bank: a collection of sentences with rewards.

The bank follows HypoGeniC (HypoBench, section 3).
"""
