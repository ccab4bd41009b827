"""What runs inside a sandbox, beside untrusted code: zygote, stages and children.

Standard library only and without the package around it: a backend starts `harness.py` as a script,
in a process or in a container. The parent reads some of these files too, as both sides must agree on
frames, canonical forms and limits.
"""
