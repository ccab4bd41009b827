"""What the verbs of api.py and cli.py are made of: choosing problems, what a session records,
driving it, judging what a user brings, looking around. `api.py` is the face; nothing below this
room knows of it."""
