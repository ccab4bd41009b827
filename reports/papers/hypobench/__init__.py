"""Tables and figures of the HypoBench paper."""
