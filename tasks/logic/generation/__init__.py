"""Generates instances of task `abd` as the paper describes (ABD, section 5, appendices D to F).

`instances.py` combines the parts: `recipes.py` (sizes and limits), `templates.py` (the library),
`drawing.py` (random worlds), `candidates.py`, `filters.py`, `competitors.py`, `mutants.py`,
`hardening.py` and `holdouts.py`. `published_form.py` and `set_files.py` write the instances.
"""
