"""Commands that build preference pairs and train models on them, and train classifiers or new
models.
"""
