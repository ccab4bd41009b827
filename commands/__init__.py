"""The functions behind the public API and the command line, grouped by what they do.

`session/` runs sessions, `score/` judges and reports their hypotheses, `train/` builds preference
pairs and trains models on them, and `data/` inspects tasks and generates problems. This folder
itself has the code that several of these packages need. Packages such as training/ or reports/
never import it.
"""

if "." not in __name__:  # imported from the folder of the repository, without its package
    raise ImportError(f"{__name__} is a part of the package peirce: import peirce.{__name__}")
