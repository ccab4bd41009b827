"""A small proposer from nothing: a decoder of a standard architecture, trained on problems of the
project's own generators with the answers of the embedded search."""
