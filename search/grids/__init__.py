"""Programs from a grid of colours to another (the tasks `mini_arc` and `arc`)."""
