"""Programs of one argument: the family, and the tasks list_functions, mini_arc, arc and acre."""
