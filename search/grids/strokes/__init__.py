"""Steps that draw on a grid: lines, rays, fillings and borders."""
