"""Preference pairs from the sessions of a store: what is pooled, compared, chosen, counted, exported."""
