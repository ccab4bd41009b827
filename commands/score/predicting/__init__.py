"""Apply the hypotheses that a session found to new inputs of any task (`peirce predict`).

`predictions.py` has the function and chooses the problem. `inputs.py` reads the new inputs. In
`hypotheses.py` a sandbox or solver applies hypotheses to them, and in `sentences.py` rules and
models apply sentences. `votes.py` computes how many hypotheses agree, and `files.py` writes the
table for `--out`.
"""

from .predictions import is_labelled_text_bank, predict

__all__ = ["is_labelled_text_bank", "predict"]
