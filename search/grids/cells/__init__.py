"""Rules that colour each cell by what stands at its place and around it."""
