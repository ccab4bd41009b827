"""Parts shared by methods that keep a bank of rewarded sentences.

The bank is that of HypoGeniC (HypoBench, section 3).
"""
