"""The code that controls sandboxes from outside: zygotes, their pool, and checks of output."""
