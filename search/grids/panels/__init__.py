"""Parts of a grid, panels and rooms: one is chosen, several are combined, or a rule holds in each."""
