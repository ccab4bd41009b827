"""The inner side of a sandbox, near untrusted code: zygote, stages and children.

These files use only the standard library and not the package around them, because a backend starts
`harness.py` as a script in a process or a container. The parent reads some of them too: both sides
must agree on frames, canonical forms and limits.
"""
