"""Commands that plan, run, resume, replay and list sessions."""
