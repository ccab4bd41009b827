"""Rules that decide the colour of each cell from its position and the cells around it."""
