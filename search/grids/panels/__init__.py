"""Rules about panels and rooms, which are rectangular regions of a grid.

The rules choose one of the regions, combine several of them, or change each of them.
"""
