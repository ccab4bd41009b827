"""Apply what a session found to new inputs of any task (`peirce predict`).

`predictions.py` has the function and chooses the problem. Oracles apply hypotheses in
`hypotheses.py`, to inputs that `inputs.py` reads; rules and models apply sentences in `sentences.py`.
`votes.py` computes how many hypotheses agree, and `files.py` writes the table of `--out`.
"""

from .predictions import is_labelled_text_bank, predict

__all__ = ["is_labelled_text_bank", "predict"]
