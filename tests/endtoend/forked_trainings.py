"""Commands of Peirce that train, in processes forked from one that has imported torch and its kin: each
start would take over ten seconds of imports.

    process = start_training(["reproduce", ...], folder, out=folder / "out", errors=folder / "errors")
    ... process.pid, process.join(), process.exitcode

The process from which they are forked (multiprocessing's forkserver) has computed nothing.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

IMPORTED = ("torch", "transformers", "transformers.models.qwen2.modeling_qwen2", "transformers.trainer",
            "peft", "accelerate", "datasets", "trl.trainer.dpo_trainer", "langgraph.graph", "peirce.cli")  # fmt: skip


def start_training(words: Sequence[str], cwd: Path, out: Path, errors: Path) -> Any:
    """Start `peirce WORDS` as the leader of a session of its own; return its multiprocessing.Process.

    Args:
        words: The command line, without `peirce`.
        cwd: The working folder.
        out: The file for stdout.
        errors: The file for stderr.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(IMPORTED))
    inherited = (dict(os.environ), list(words), str(cwd), str(out), str(errors))
    process = context.Process(target=_run, args=inherited)
    process.start()
    return process


def _run(environment: dict[str, str], words: list[str], cwd: str, out: str, errors: str) -> None:
    import sys

    os.setsid()
    os.chdir(cwd)
    for stream, file in ((1, out), (2, errors)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    os.environ.clear()
    for name, value in environment.items():
        if not name.startswith(("OPENAI", "PEIRCE")):
            os.environ[name] = value
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENAI_API_KEY": "none"}
    import torch
    from peirce import cli

    torch.set_num_threads(1)
    sys.argv = ["peirce", *words]
    cli.main(words)
