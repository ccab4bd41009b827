"""The exact half of the judge: sentences that are executed, without a model (docs/judge.md)."""
