"""Data: generated and audited problems; what this machine has."""
