"""Task `mini_arc`: an unknown function from a grid to a grid, both 5 by 5 (Kim et al. 2022).

Read are the file that GEAR uses, Qiu's miniarc.jsonl (an object a line: `idx`, `train`, `test`),
and the official release, a JSON file a task in the folder data/MiniARC, where cells stand as its
editor left them: numbers, digits in quotes, and null where nothing was drawn, which is read as 0.
The problem's id is its idx there, the name of its file here.
"""

from .grids import GridTask

TASK = GridTask(
    name="mini_arc",
    about="a function from a 5 by 5 grid of colours to another (MINI-ARC)",
    takes="the published folder of JSON files, or miniarc.jsonl",
    commands=(
        "peirce run mini_arc --problems 12",
        "peirce run mini_arc --data MiniARC --sample 100",
        "peirce tasks show mini_arc --problems 1",
    ),
    files=tuple(name + end for name in ("miniarc.jsonl", "mini_arc.jsonl") for end in ("", ".gz")),
    folders=(("data/MiniARC",), ("MiniARC",)),
    drawn=True,
)
