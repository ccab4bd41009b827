"""What watches over a sandbox from outside: zygotes, the pool of them, and bounds on what they use."""
