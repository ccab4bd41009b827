"""The methods. Each method has its own file."""
