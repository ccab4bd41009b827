"""Generate instances of the task `abd` as the paper describes (ABD, section 5, appendices D to F).

`instances.py` combines the other modules: `recipes.py` (sizes and limits), `templates.py` (the
library of rules), `random_worlds.py`, `candidates.py`, `filters.py`, `competitors.py`,
`mutants.py`, `hardening.py` and `holdouts.py`. `published_form.py` and `set_files.py` write the
instances to files.
"""
