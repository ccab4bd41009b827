"""Drawings: lines, rays, fillings and borders on a grid."""
