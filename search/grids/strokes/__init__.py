"""Drawings: lines, rays, fillings and borders laid over a grid."""
