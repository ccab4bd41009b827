"""A classifier of labelled text: the fine-tuned row of HypoBench's tables."""
