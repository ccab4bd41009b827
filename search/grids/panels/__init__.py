"""Rules about panels and rooms: choose one, combine several, or change each of them."""
