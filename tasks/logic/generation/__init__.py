"""New instances of task `abd` as the paper describes them (ABD, section 5 and appendices D to F).

making.py puts the parts together: recipes.py (sizes and limits), templates.py (the library),
drawing.py (random worlds), filters.py, competitors.py, hardening.py, holdouts.py. published_form.py and set_files.py write it.
"""
