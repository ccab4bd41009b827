"""The outer side of a sandbox: zygotes, their pool, and checks of what they return."""
