"""Commands that build preference pairs, and train proposers, classifiers or new models."""
