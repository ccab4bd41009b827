"""Rules that colour each cell by its place and its surroundings."""
