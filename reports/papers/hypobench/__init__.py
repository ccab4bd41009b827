"""Tables and figures of HypoBench."""
