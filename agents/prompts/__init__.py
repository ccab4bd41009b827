"""What models are asked: pure functions from what a model may see to messages."""
