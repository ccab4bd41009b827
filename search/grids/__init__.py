"""Search for programs that turn one grid of colours into another (tasks `mini_arc` and `arc`)."""
