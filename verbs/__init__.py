"""What the verbs of api.py are made of: choosing problems, what a session records, driving it,
judging what a user brings, looking around. `api.py` is the face and `cli/` its caller; no room below
knows of this one."""
