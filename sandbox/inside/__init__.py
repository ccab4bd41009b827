"""The code that runs inside a sandbox, in the same processes as untrusted code.

These files use only the standard library and import nothing else from Peirce, because a backend
starts `harness.py` as a script in a separate process or container. The parent process imports some
of these files too, because it must use the same message frames, canonical forms and limits.
"""
